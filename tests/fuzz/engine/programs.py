"""Small programs, handwritten and random."""

import numpy as np

from tests.fuzz.engine.drawing import draw_case
from tests.fuzz.engine.pools import PoolColumn, PoolGroup, PoolRow, Program


def cases(seed, count):
    return [draw_case(np.random.default_rng([seed, k])) for k in range(count)]


def two_ways_to_cover():
    """Cover rows 0 and 1 by one column of cost 3, or by two columns of cost 1."""
    columns = (PoolColumn(3, {0: 1, 1: 1}), PoolColumn(1, {0: 1}), PoolColumn(1, {1: 1}))
    rows = (PoolRow(1, None), PoolRow(1, None))
    return Program("cover", False, columns, (), rows, (PoolGroup(),), row_scales=(1.0, 1.0))

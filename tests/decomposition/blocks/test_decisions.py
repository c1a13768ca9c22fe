"""Decisions on points, alone and in batches."""

import numpy as np

from colgen import decompose
from colgen.decomposition.blocks.decisions import ComponentBound
from tests.decomposition import models


def test_a_bound_applies_to_columns_of_its_block_only():
    splitting = decompose(models.assignment(0), "machine").splitting
    one, other = splitting.subproblems[:2]
    points = np.eye(len(one.costs))
    bound = ComponentBound(splitting.convexity_key(one), one.number, 2, 1.0, np.inf)
    position = {key: k for k, key in enumerate(splitting.row_keys)}
    for sub, expected in ((one, points[:, 2] == 1), (other, np.ones(len(points), dtype=bool))):
        batch = splitting.columns(sub, points).over(splitting.row_keys, position)
        assert np.array_equal(bound.allows_each(batch), expected)
        assert [bound.allows(column) for column in batch] == expected.tolist()

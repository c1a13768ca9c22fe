"""The linear master after many steps of growth, compared with another solver."""

import numpy as np
import pytest

from tests.master.programs import as_linprog, random_master
from tests.toys import cutting_column


@pytest.mark.parametrize("seed", range(5))
def test_grown_master_against_scipy(seed):
    master = random_master(np.random.default_rng(seed))
    solved = master.solve()
    assert solved.phase == 2
    assert solved.objective == pytest.approx(as_linprog(master))
    fault = master.rows.violation(master.solution(solved))
    assert fault is None or "fraction" in fault  # rows, bounds and objective hold
    # Basic columns price out at zero, and weak duality is tight.
    for column, value in master.solution(solved).columns:
        if value < column.upper:
            assert master.price([column], solved.duals) == pytest.approx([0.0], abs=1e-7)


def test_column_of_the_textbook():
    assert cutting_column((2, 0, 0, 0)).identity == cutting_column((2, 0, 0, 0)).identity
    assert cutting_column((2, 0, 0, 0)).identity != cutting_column((1, 0, 0, 0)).identity

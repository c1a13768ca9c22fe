"""Set covering with many columns: bounds are compared with scipy's optimum over all columns."""

import numpy as np
import pytest
from scipy import optimize

from benchmarks.engine.covering import Covering, covers
from colgen import ColumnGeneration, Method, NodeLimit, solve
from colgen.bounding.bundle import Bundle
from colgen.bounding.chain import Chain
from colgen.bounding.subgradient import Subgradient
from colgen.bounding.volume import Volume


def optimum(instance):
    """Return the optimum over all columns by scipy."""
    answer = optimize.linprog(
        instance.costs,
        A_ub=-instance.matrix.T,
        b_ub=-np.ones(instance.num_rows),
        bounds=(0, None),
        method="highs",
    )
    return answer.fun


@pytest.mark.parametrize(("bounding", "near"), [(Volume(250), 5e-3), (Bundle(100), 5e-3), (Subgradient(250), 3e-2)])
@pytest.mark.parametrize("seed", range(2))
def test_bounds_approach_the_linear_program_from_below(bounding, near, seed):
    instance = covers(60, 3000, seed)
    best = optimum(instance)
    result = solve(Covering(instance), relaxation=True, method=Method(bounding=bounding))
    assert best * (1.0 - near) <= result.dual_bound <= best * (1.0 + 1e-9)


def test_column_generation_starts_where_the_volume_algorithm_ends():
    instance = covers(60, 3000, 3)
    alone = solve(Covering(instance), relaxation=True)
    after = solve(Covering(instance), relaxation=True, method=Method(bounding=Chain(Volume(200), ColumnGeneration())))
    assert alone.dual_bound == pytest.approx(optimum(instance))
    assert after.dual_bound == pytest.approx(alone.dual_bound)
    by_program = [iteration for iteration in after.iterations if iteration.master_seconds]
    assert len(by_program) < len(alone.iterations)


def test_answers_are_covers():
    instance = covers(20, 300, 4)
    result = solve(Covering(instance), method=Method(bounding=Chain(Volume(60), ColumnGeneration())), stop=NodeLimit(1))
    numbers = [number for number, _ in result.answer]
    assert set(instance.matrix[numbers].indices) == set(range(20))
    assert result.objective == pytest.approx(instance.costs[numbers].sum())
    assert result.dual_bound <= result.objective + 1e-9


def test_columns_cover_a_row_once():
    instance = covers(30, 500, 5)
    for begin, end in zip(instance.starts, instance.starts[1:], strict=False):
        rows = instance.rows[begin:end]
        assert 5 <= len(rows) == len(set(rows.tolist())) <= 15
    with pytest.raises(ValueError, match="row 0 is not covered"):
        Covering(instance).check([])

"""Interrupted runs of decomposed models continue from their checkpoints."""

import numpy as np
import pytest

from benchmarks.decomposition.families import FAMILIES
from colgen import Checkpoint, InputError, Method, NodeLimit, Termination, decompose, solve


def taken_apart(name, size, seed=0):
    family = FAMILIES[name]
    return decompose(family.build(size, seed), family.by)


@pytest.mark.parametrize(("name", "size"), [("assignment", 18), ("packing", 14), ("lots", 3)])
def test_a_run_with_many_interruptions_ends_in_the_same_value(name, size, tmp_path):
    whole, path = solve(taken_apart(name, size), method=Method(heuristics=())), tmp_path / "run.checkpoint"
    for limit in range(1, 200, 5):
        problem = taken_apart(name, size)  # read anew: nothing is left of the run before but the file
        result = solve(
            problem, method=Method(heuristics=()), stop=NodeLimit(limit), checkpoint=Checkpoint(path, every=1e-9)
        )
        if result.termination is not Termination.NODE_LIMIT:
            break
    assert result.is_optimal
    assert result.objective == pytest.approx(whole.objective)
    assert result.dual_bound == pytest.approx(whole.dual_bound)


def test_another_model_or_other_blocks_are_refused(tmp_path):
    path = tmp_path / "run.checkpoint"
    solve(taken_apart("assignment", 9), checkpoint=path)
    with pytest.raises(InputError, match="another instance"):
        solve(taken_apart("assignment", 9, seed=1), checkpoint=path)
    family = FAMILIES["assignment"]
    with pytest.raises(InputError, match="another instance"):
        solve(decompose(family.build(9, 0), "task"), checkpoint=path)


def test_a_structure_is_a_column_if_it_is_a_point_of_its_block():
    problem = taken_apart("assignment", 9)
    codec, found = problem.codec(), solve(problem)
    for column, _ in found.solution.columns:
        again = codec.read(codec.write(column.structure))
        assert (again.cost, again.coefficients) == (column.cost, column.coefficients)
    size = len(problem.splitting.subproblems[0].costs)
    assert codec.read((0, np.ones(size), False)) is None  # more than there is room for
    assert codec.read((0, np.full(size, 0.5), False)) is None
    assert codec.read((0, np.ones(size), True)) is None  # the block has an end
    assert codec.read((0, np.zeros(size + 1), False)) is None
    assert codec.read((99, np.zeros(size), False)) is None

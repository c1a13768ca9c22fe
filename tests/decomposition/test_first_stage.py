"""The first stage of two-stage programs, and branching on it."""

import numpy as np
import pytest

from colgen import Solution, Termination, decompose, solve
from colgen.core.stop import NodeLimit
from colgen.decomposition.blocks.decisions import FirstStageBound, variable_of
from colgen.decomposition.branching import OnBlockVariables
from colgen.decomposition.first_stage import FirstStage, OnFirstStage
from tests.decomposition.two_stages import optimum, two_stage


def problem(seed=16):
    return decompose(two_stage(np.random.default_rng(seed)), aggregate=False, method="dantzig-wolfe")


def test_each_variable_has_a_copy_in_each_block_and_a_row_that_keeps_both_equal():
    splitting = problem().splitting
    stage = FirstStage.of(splitting)
    linking = splitting.compact.rows[splitting.linking, :].toarray()
    for sub in splitting.subproblems:
        for j, variable in enumerate(stage.variables.tolist()):
            row = linking[stage.rows[sub.number, j]]
            copy = sub.columns[0][stage.places[sub.number, j]]
            assert row[variable] == 1.0
            assert row[copy] == -1.0
            assert np.count_nonzero(row) == 2


def test_a_model_with_other_linking_rows_has_no_first_stage():
    compact = two_stage(np.random.default_rng(16))
    of_row = compact.blocks.of_row.copy()
    of_row[-1] = -1
    blocks = type(compact.blocks)(compact.blocks.names, compact.blocks.of_column, of_row)
    changed = type(compact)(compact.formulation, compact.source, blocks=blocks)
    assert FirstStage.of(decompose(changed, aggregate=False, method="dantzig-wolfe").splitting) is None


def test_children_cut_off_fractional_values_and_copies_that_disagree():
    decomposed = problem()
    stage, splitting = decomposed.stage, decomposed.splitting
    rule = OnFirstStage(splitting, stage, OnBlockVariables(splitting))
    integer = splitting.compact.formulation.integer[stage.variables]
    j = int(np.flatnonzero(integer)[0])
    halves = Solution(0.0, (), {stage.keys[j]: 0.5}, frozenset({stage.keys[j]}))
    (down,), (up,) = sorted(rule.branch(halves), key=lambda child: child[0].upper)
    assert (down.upper, up.lower) == (0.0, 1.0)
    columns = []
    for sub in splitting.subproblems[:2]:
        point = np.zeros(len(sub.costs))
        point[stage.places[sub.number, j]] = sub.number
        columns.append((splitting.column(sub, point), 1.0))
    apart = Solution(0.0, tuple(columns), {stage.keys[j]: 0.5})
    for child in rule.branch(apart):
        assert [child[0].allows(column) for column, _ in columns].count(False) == 1


def test_a_run_is_resumed_from_a_checkpoint(tmp_path):
    status, objective = optimum(two_stage(np.random.default_rng(12)))
    stopped = solve(problem(12), stop=NodeLimit(2), checkpoint=tmp_path / "run")
    resumed = solve(problem(12), checkpoint=tmp_path / "run")
    assert (status, resumed.termination) == ("OPTIMAL", Termination.OPTIMAL)
    assert stopped.termination is Termination.NODE_LIMIT
    assert resumed.objective == pytest.approx(objective, rel=2e-6)


def test_a_bound_is_one_variable_of_each_block():
    stage = problem().stage
    bound = FirstStageBound(stage.keys[0], 0.0, 1.0, stage.places[:, 0])
    assert [variable_of(bound, number) for number in range(len(stage.places))] == stage.places[:, 0].tolist()

"""What solve and its stop rules are asked for: each setting out of its domain is one sentence that names it."""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest

from colgen import (
    ColumnGeneration,
    GapLimit,
    InputError,
    IterationLimit,
    MemoryLimit,
    Problem,
    RestrictedMIP,
    StrongBranching,
    TimeLimit,
    WarmStart,
    Wentges,
    solve,
)
from colgen.core.stop import Stalled
from colgen.settings import check_settings
from colgen.tree.queues import BestBound
from tests.assignment import Assignment

WRONG = {
    "time_limit": [-1, math.nan, "60", None, True, [60]],
    "stop": [10, "60", None, TimeLimit, [TimeLimit], [60], iter([]), 3.5],
    "relaxation": [None, "yes", 1],
    "start": [3, "yesterday.npz", [], True],
    "stabilization": [Wentges, 0.5, "smoothing", True],
    "heuristics": [RestrictedMIP, RestrictedMIP(), [RestrictedMIP], "all", [None], 3],
    "queue": ["best", 3, [], True],
    "node_limit": [0, -1, 1.5, math.nan, "10", True, 2**70],
    "depth_limit": [-1, 1.5, math.nan, "10", True],
    "clean_up_after": [0, -1, 1.5, math.nan, "10", True],
    "tolerance": [0, -1e-9, math.nan, math.inf, "1e-6", None, True],
    "keep_duals": [None, "yes", 1],
    "keep_values": [None, "yes", 1],
    "progress": [None, "yes", 1, dict],
    "bounding": [ColumnGeneration, "volume", 3, True],
    "choice": [StrongBranching, "strong", 3, True],
    "pricing_share": [0, -0.5, 1.5, math.nan, "half", None],
    "lp": [3, True, ["highs"]],
    "lp_options": [3, "fast"],
    "on_node": ["print", 3, dict],
    "certificate": [3, "", "/no/such/folder/proof.jsonl", True],
    "workers": [0, -1, 1.5, math.nan, "2", True],
    "node_batch": [0, -1, 1.5, math.nan, "2", None],
    "client": [3, "", True, math.nan, object()],
    "free_running": [1, "yes", None, math.nan],
    "checkpoint": [3, "", "/no/such/folder/run.checkpoint", True],
    "pool": [3, "", [], True],
    "every": [0, -1.0, math.nan, "60", None, True],
}
RIGHT = {
    "stop": [(), [], TimeLimit(1), [TimeLimit(1), GapLimit(0)], (lambda iteration, sense: None,)],
    "relaxation": [True, np.True_],
    "start": [None, WarmStart(), WarmStart(tentative=True)],
    "stabilization": [None, Wentges()],
    "heuristics": [None, [], (RestrictedMIP(),)],
    "queue": [None, BestBound, lambda sense: BestBound(sense)],
    "node_limit": [None, 1, np.int64(3), 5.0],
    "depth_limit": [None, 0],
    "clean_up_after": [None, 1],
    "tolerance": [1e-9, 1],
    "keep_duals": [True],
    "keep_values": [True],
    "progress": [True, print],
    "workers": [None, 1, np.int64(2)],
    "node_batch": [1, np.int64(8)],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_setting_is_named(name, value):
    with pytest.raises(InputError) as caught:
        check_settings(**{name: value})
    assert str(caught.value).startswith(f"{name}: expected ")
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in RIGHT.items() for value in values])
def test_a_right_setting_is_taken(name, value):
    check_settings(**{name: value})


@pytest.mark.parametrize("rule", [TimeLimit, GapLimit, IterationLimit, MemoryLimit, Stalled])
@pytest.mark.parametrize("value", [-1, math.nan, "60", None, 1j, [1]])
def test_limits_out_of_their_domain(rule, value):
    with pytest.raises(InputError, match="expected a"):
        rule(value)


@pytest.mark.parametrize("rule", [IterationLimit, Stalled])
@pytest.mark.parametrize("value", [0, 1.5, math.inf])
def test_rounds_are_counted(rule, value):
    with pytest.raises(InputError, match="expected a whole number of at least 1"):
        rule(value)


def test_limits_that_never_bite():
    assert TimeLimit(math.inf).seconds == math.inf
    assert GapLimit(math.inf).gap == math.inf


@pytest.mark.parametrize("problem", [None, 3, Assignment, "problem"])
def test_what_is_no_problem_is_not_solved(problem):
    with pytest.raises(InputError, match="expected a problem to solve, an object of a subclass of Problem, not"):
        solve(problem)


def test_every_setting_is_tried_with_what_is_wrong():
    assert set(WRONG) == set(inspect.signature(solve).parameters) - {"problem"}


def test_solve_checks_its_settings_before_any_work():
    class Unopened(Assignment):
        def warm_start(self, budget):
            raise AssertionError("work")

    problem = Unopened([[1.0]], [[1.0]], [1.0])
    for name, values in WRONG.items():
        with pytest.raises(InputError, match=f"^{name}: expected"):
            solve(problem, **{name: values[0]})


@pytest.mark.parametrize("name", ["objective_step", "scale"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "1", True, [1.0]])
def test_what_a_problem_states_of_its_objectives_is_a_number_above_zero(name, value):
    def work(self):
        raise AssertionError

    problem = type("Mine", (Problem,), {name: value, "master": work})()
    with pytest.raises(InputError, match=rf"Mine\.{name}.*: expected a .*number"):
        solve(problem)


def toy(kind=Assignment):
    return kind(*map(np.array, ([[1.0]], [[1.0]], [1.0])))


@pytest.mark.parametrize("value", [1, np.int64(1), np.float32(1.0), Fraction(1)])
def test_a_step_may_be_a_number_of_any_type(value):
    problem = toy()
    problem.objective_step = value
    assert solve(problem).objective == 1.0


@pytest.mark.parametrize("value", [-1.0, 0, math.nan, "1"])
def test_what_a_method_of_a_problem_states_is_checked_as_well(value):
    class Late(Assignment):
        def master(self):
            self.objective_step = value
            return super().master()

    with pytest.raises(InputError, match=r"Late\.objective_step.*: expected a .*number"):
        solve(toy(Late))


def test_a_step_too_small_for_any_float_rounds_nothing():
    problem = toy()
    problem.objective_step = 1e-320
    assert solve(problem).objective == 1.0


def test_a_formulation_without_return_is_named():
    problem = toy()
    problem.formulation = lambda: None
    with pytest.raises(InputError, match=r"Assignment\.formulation\(\) returned None: did you forget `return`"):
        solve(problem)

"""The options of solve and stop rules: errors about invalid values name the option (promise 8)."""

import dataclasses
import importlib
import inspect
import math
import re
from fractions import Fraction

import numpy as np
import pytest

import colgen
from colgen import (
    Checkpoint,
    ColumnGeneration,
    DepthLimit,
    GapLimit,
    InputError,
    IterationLimit,
    MemoryLimit,
    Method,
    NodeLimit,
    Parallel,
    Problem,
    Record,
    RestrictedMIP,
    StrongBranching,
    TimeLimit,
    WarmStart,
    Wentges,
    ablation,
    compare,
    solve,
    solve_many,
)
from colgen.core.renamed import GONE, MOVED, RENAMED
from colgen.core.stop import Stalled
from colgen.enumeration import PathEnumeration
from colgen.fixing import ReducedCostFixing
from colgen.options import Options
from colgen.reporting.comparison import compare_all
from colgen.tree.queues import BestBound
from tests.assignment import Assignment


def checkpoint_every(every):
    return Checkpoint("run.checkpoint", every=every)


WRONG = {
    (Options, "time_limit"): [-1, math.nan, "60", None, True, [60]],
    (Options, "stop"): [10, "60", None, TimeLimit, [TimeLimit], [60], iter([]), 3.5],
    (Options, "relaxation"): [None, "yes", 1],
    (Options, "start"): [3, "", [], True],
    (Options, "progress"): [None, "yes", 1, dict],
    (Options, "method"): [None, Method, {"heuristics": ()}],
    (Options, "record"): [None, Record, True],
    (Options, "parallel"): [None, Parallel, 2],
    (Options, "checkpoint"): [3, "", "/no/such/folder/run.checkpoint", True],
    (Method, "stabilization"): [Wentges, 0.5, "smoothing", True],
    (Method, "heuristics"): [RestrictedMIP, RestrictedMIP(), [RestrictedMIP], "all", [None], 3],
    (Method, "queue"): ["best", 3, [], True],
    (Method, "clean_up_after"): [0, -1, 1.5, math.nan, "10", True],
    (Method, "tolerance"): [0, -1e-9, math.nan, math.inf, "1e-6", True],
    (Method, "bounding"): [ColumnGeneration, "volume", 3, True],
    (Method, "choice"): [StrongBranching, "strong", 3, True],
    (Method, "pricing_order"): [3, "first", lambda history: 0],
    (Method, "work_shares"): [3, "half", lambda history: 0.5],
    (Method, "pricing_share"): [0, -0.5, 1.5, math.nan, "half"],
    (Method, "reductions"): [ReducedCostFixing, "all", [None], 3],
    (Method, "enumeration"): [PathEnumeration, "all", [], 3],
    (Method, "rounding"): [1.0, "exact", float],
    (Method, "complete"): [True, "highs", dict],
    (Method, "lp"): [3, True, ["highs"]],
    (Method, "lp_options"): [3, "fast"],
    (Record, "duals"): [None, "yes", 1],
    (Record, "values"): [None, "yes", 1],
    (Record, "on_node"): ["print", 3, dict],
    (Record, "certificate"): [3, "", "/no/such/folder/proof.jsonl", True],
    (Parallel, "workers"): [0, -1, 1.5, math.nan, "2", True],
    (Parallel, "node_batch"): [0, -1, 1.5, math.nan, "2", None],
    (Parallel, "cluster"): [3, "", True, math.nan, object()],
    (Parallel, "free_running"): [1, "yes", None, math.nan],
    (checkpoint_every, "every"): [0, -1.0, math.nan, "60", None, True],
}
RIGHT = {
    (Options, "stop"): [(), [], TimeLimit(1), [TimeLimit(1), GapLimit(0)], (lambda iteration, sense: None,)],
    (Options, "relaxation"): [True, np.True_],
    (Options, "start"): [None, WarmStart(), WarmStart(tentative=True), "yesterday.npz"],
    (Options, "progress"): [True, print],
    (Options, "checkpoint"): [None, "run.checkpoint", Checkpoint("run.checkpoint")],
    (Method, "stabilization"): [None, Wentges()],
    (Method, "heuristics"): [None, [], (RestrictedMIP(),)],
    (Method, "queue"): [None, BestBound, lambda sense: BestBound(sense)],
    (Method, "clean_up_after"): [None, 1],
    (Method, "tolerance"): [None, 1e-9, 1],
    (Method, "pricing_share"): [None, 1],
    (Method, "reductions"): [None, ()],
    (Method, "enumeration"): [None, ()],
    (Record, "duals"): [True],
    (Record, "values"): [True],
    (Parallel, "workers"): [None, 1, np.int64(2)],
    (Parallel, "node_batch"): [1, np.int64(8)],
}


def cases(table):
    return [(owner, name, value) for (owner, name), values in table.items() for value in values]


@pytest.mark.parametrize(("owner", "name", "value"), cases(WRONG))
def test_an_invalid_option_is_named(owner, name, value):
    with pytest.raises(InputError) as caught:
        owner(**{name: value})
    assert str(caught.value).startswith(f"{name}: expected ")
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize(("owner", "name", "value"), cases(RIGHT))
def test_a_valid_option_is_accepted(owner, name, value):
    owner(**{name: value})


@pytest.mark.parametrize(("rule", "value"), [(NodeLimit, 0), (NodeLimit, 1.5), (NodeLimit, True), (DepthLimit, -1)])
def test_limits_of_the_tree_are_integers(rule, value):
    with pytest.raises(InputError, match=r"expected an? "):
        rule(value)


def test_limits_of_the_tree_are_the_least_of_several():
    rule = Options(stop=[NodeLimit(7), NodeLimit(3), DepthLimit(2)]).rule
    assert (rule.nodes, rule.depth) == (3, 2)
    assert (Options().rule.nodes, Options().rule.depth) == (None, None)


@pytest.mark.parametrize(("name", "new"), RENAMED["solve"].items())
def test_an_old_keyword_is_refused_with_its_new_form(name, new):
    with pytest.raises(InputError, match=re.escape(f"write {new}")):
        solve(toy(), **{name: None})


@pytest.mark.parametrize("function", [solve_many, compare, compare_all, ablation])
@pytest.mark.parametrize("name", ["stabilization", "node_limit", "keep_duals"])
def test_an_old_keyword_of_solve_is_refused_elsewhere_too(function, name):
    new = re.escape(RENAMED["solve"][name])
    with pytest.raises(InputError, match=rf"{name}: {function.__name__} has no such keyword any more; write .*{new}"):
        function(
            [toy()],
            **({} if function is solve_many else {"methods" if function is ablation else "ways": {}}),
            **{name: 3},
        )


def test_old_names_of_colgen_are_refused_with_the_new_ones():
    for name, module in MOVED.items():
        assert hasattr(importlib.import_module(module), name)
        with pytest.raises(AttributeError, match=re.escape(f"write from {module} import {name}")):
            getattr(colgen, name)
    for name, new in GONE.items():
        with pytest.raises(AttributeError, match=re.escape(f"write {new}")):
            getattr(colgen, name)


def test_an_unknown_keyword_is_refused():
    with pytest.raises(InputError, match="tme_limit: solve has no such keyword"):
        solve(toy(), tme_limit=3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"record": Record(certificate="proof"), "relaxation": True}, "relaxation=True"),
        ({"record": Record(certificate="proof"), "checkpoint": "run"}, "not available with checkpoint"),
        ({"record": Record(certificate="proof"), "parallel": Parallel(node_batch=2)}, "not available with node_batch"),
    ],
)
def test_options_that_exclude_one_another_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        Options(**options)


@pytest.mark.parametrize("rule", [TimeLimit, GapLimit, IterationLimit, MemoryLimit, Stalled])
@pytest.mark.parametrize("value", [-1, math.nan, "60", None, 1j, [1]])
def test_limits_out_of_their_domain(rule, value):
    with pytest.raises(InputError, match="expected a"):
        rule(value)


@pytest.mark.parametrize("rule", [IterationLimit, Stalled])
@pytest.mark.parametrize("value", [0, 1.5, math.inf])
def test_rounds_are_counted(rule, value):
    with pytest.raises(InputError, match=r"expected an? .*at least 1"):
        rule(value)


def test_limits_that_are_never_reached():
    assert TimeLimit(math.inf).seconds == math.inf
    assert GapLimit(math.inf).gap == math.inf


@pytest.mark.parametrize("problem", [None, 3, Assignment, "problem"])
def test_only_problems_are_solved(problem):
    with pytest.raises(InputError, match="expected an object of a subclass of Problem, not"):
        solve(problem)


def test_every_option_is_tried_with_wrong_values():
    tried = {owner: {name for other, name in WRONG if other is owner} for owner, _ in WRONG}
    assert tried[Options] == set(inspect.signature(solve).parameters) - {"problem", "old"}
    for owner in (Method, Record, Parallel):
        assert tried[owner] == {field.name for field in dataclasses.fields(owner)}


def test_solve_checks_its_options_before_any_work():
    class Unopened(Assignment):
        def warm_start(self, budget):
            raise AssertionError("work")

    problem = Unopened([[1.0]], [[1.0]], [1.0])
    for (owner, name), values in WRONG.items():
        if owner is Options:
            with pytest.raises(InputError, match=f"^{name}: expected"):
                solve(problem, **{name: values[0]})


@pytest.mark.parametrize("name", ["objective_step", "scale"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "1", True, [1.0]])
def test_step_and_scale_of_a_problem_must_be_positive(name, value):
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
def test_results_of_methods_of_a_problem_are_checked(value):
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

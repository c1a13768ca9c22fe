"""Nodes and their decisions."""

from __future__ import annotations

import pytest

from benchmarks.engine.trees import Free
from colgen import Column, Decision, Method, RyanFoster, Sense, Solution, solve
from colgen.bounding.run import Run
from colgen.core import errors
from colgen.core.decision import DecisionPath
from colgen.core.errors import InvalidBoundError, SolverError
from colgen.core.stop import AnyOf
from colgen.tree.node import Node, check_against_incumbent, skip_on_failure
from colgen.tree.queues import DepthFirst
from colgen.tree.search import branch_and_bound
from tests.bounding.test_column_generation import branchy


def test_decisions_are_put_together_only_on_demand(monkeypatch):
    """A copy at each node would be quadratic in the depth."""
    calls = []
    original = DecisionPath.decisions
    monkeypatch.setattr(DecisionPath, "decisions", property(lambda path: calls.append(path) or original.fget(path)))
    run = Run(Sense.MINIMIZE, AnyOf())
    result = branch_and_bound(Free(10**6), run, queue=DepthFirst(Sense.MINIMIZE), node_limit=100)
    assert result.nodes[-1].depth > 90
    assert calls == []
    assert len(result.nodes[-1].decisions) == result.nodes[-1].depth


@pytest.mark.parametrize(
    "error", [SolverError("kSolveError"), MemoryError("too long a list"), ZeroDivisionError("0/0")]
)
def test_a_failing_optional_step_is_skipped_with_a_note(error):
    run = Run(Sense.MINIMIZE, AnyOf())
    with skip_on_failure(run, "RestrictedMIP", Node()):
        raise error
    (note,) = run.notes
    assert note.startswith("RestrictedMIP failed at node 0")


@pytest.mark.parametrize("error", [InvalidBoundError("a bound"), AssertionError("a mistake"), KeyboardInterrupt()])
def test_errors_of_the_problem_are_raised(error):
    run = Run(Sense.MINIMIZE, AnyOf())
    with pytest.raises(type(error)), skip_on_failure(run, "RestrictedMIP", Node()):
        raise error
    assert run.notes == []


class Refuses(Decision):
    def allows(self, column):
        return False


class Reduces(Decision):
    exhaustive = False


@pytest.mark.parametrize("sense", list(Sense))
def test_a_bound_must_not_exclude_an_incumbent_of_the_node(sense):
    run = Run(sense, AnyOf())
    check_against_incumbent(run, (), Node(), sense.sign * 9.0)  # without an incumbent
    run.offer(Solution(sense.sign * 5.0, ((Column(5.0, {}), 1.0),)), None, "a test")
    check_against_incumbent(run, (), Node(), sense.sign * 5.0)
    for outside in (Refuses(), Reduces()):
        check_against_incumbent(run, (), Node(path=DecisionPath([outside])), sense.sign * 9.0)
    # A solution may violate rows by their tolerance, and be better by twice that.
    check_against_incumbent(run, (), Node(), sense.sign * 5.0 * (1.0 + 2e-6))
    with pytest.raises(errors.InvalidBoundError, match=r"node 3 "):
        check_against_incumbent(run, (), Node(3), sense.sign * 9.0)


def test_rule_that_repeats_a_decision():
    class Pointless(Decision):
        def __eq__(self, other):
            return isinstance(other, Pointless)

        def __hash__(self):
            return 1

    class Repeating(RyanFoster):
        def branch(self, solution):
            return [[Pointless()], [Pointless()]]

    with pytest.raises(errors.BranchingError, match=r"Repeating .*node 0"):
        solve(branchy(Repeating("cover")), method=Method(heuristics=()))


def test_rule_without_decisions():
    class Idle(RyanFoster):
        def branch(self, solution):
            return [[]]

    with pytest.raises(errors.BranchingError, match="no decision"):
        solve(branchy(Idle("cover")), method=Method(heuristics=()))

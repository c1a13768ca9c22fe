"""What a tree refuses to believe of its nodes."""

import pytest

from colgen import AnyOf, Column, Decision, RyanFoster, Sense, Solution, solve
from colgen.bounds.run import Run
from colgen.core import errors
from colgen.core.path import DecisionPath
from colgen.tree.node import Node
from colgen.tree.node_checks import check_against_incumbent
from tests.bounds.test_column_generation import branchy


class Refuses(Decision):
    def allows(self, column):
        return False


class Reduces(Decision):
    exhaustive = False


@pytest.mark.parametrize("sense", list(Sense))
def test_a_bound_must_not_exclude_an_answer_that_lies_in_the_node(sense):
    run = Run(sense, AnyOf())
    check_against_incumbent(run, (), Node(), sense.sign * 9.0)  # there is none
    run.offer(Solution(sense.sign * 5.0, ((Column(5.0, {}), 1.0),)), None, "somebody")
    check_against_incumbent(run, (), Node(), sense.sign * 5.0)
    for outside in (Refuses(), Reduces()):
        check_against_incumbent(run, (), Node(path=DecisionPath([outside])), sense.sign * 9.0)
    # An answer misses its rows by no more than their tolerance, and is better by twice that: no mistake of anybody.
    check_against_incumbent(run, (), Node(), sense.sign * 5.0 * (1.0 + 2e-6))
    with pytest.raises(errors.InvalidBoundError, match=r"node 3 .* lies in it"):
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

    with pytest.raises(errors.BranchingError, match="Repeating returned a child of node 0 that does not cut off"):
        solve(branchy(Repeating("cover")), heuristics=())


def test_rule_without_decisions():
    class Idle(RyanFoster):
        def branch(self, solution):
            return [[]]

    with pytest.raises(errors.BranchingError, match="no decision at all"):
        solve(branchy(Idle("cover")), heuristics=())

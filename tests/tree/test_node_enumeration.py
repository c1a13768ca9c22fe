"""A node closed by a program over all relevant columns; this needs an incumbent."""

import dataclasses
import itertools

import pytest

from colgen import Method, MostFractional, NodeLimit, WarmStart, Wentges, solve
from colgen.enumeration import Enumerated, Enumeration
from tests.zoo import Partitioning


class Failing(Enumeration):
    def enumerate(self, context):
        raise MemoryError("too long a list")


class Nothing(Enumeration):
    """States that no column of the node can be part of a better solution."""

    def enumerate(self, context):
        return Enumerated([])


def listed(how, seed=4):
    class Listed(Partitioning):
        def method(self):
            return dataclasses.replace(super().method(), enumeration=how)

    return Listed(size=9, seed=seed, cuts=False)


def test_after_a_failed_enumeration_the_node_is_branched_on():
    plain, result = solve(Partitioning(size=9, seed=4, cuts=False)), solve(listed(Failing()))
    assert result.is_optimal
    assert result.objective == plain.objective
    assert any(note.startswith("Failing failed at node") for note in result.notes)


def test_without_an_incumbent_nothing_is_enumerated():
    result = solve(listed(Failing()), method=Method(heuristics=()), stop=NodeLimit(1))
    assert result.solution is not None or not any("Failing" in note for note in result.notes)


def test_an_empty_list_closes_the_node():
    result = solve(listed(Nothing()), method=Method(stabilization=Wentges()))
    assert len(result.nodes) == 1


class TimeLimited(Enumeration):
    """All columns at every node, and no time for the program."""

    seconds = 0.0

    def __init__(self):
        self.columns, self.gaps = [], []

    def enumerate(self, context):
        self.gaps.append(context.target - context.bound)
        return Enumerated(self.columns)


@pytest.mark.parametrize("seed", range(6))
def test_after_a_time_limit_enumeration_waits_for_half_the_gap(seed):
    plain = solve(Partitioning(size=9, seed=seed, cuts=False))
    enumeration = TimeLimited()
    enumeration.columns = [column for column, _ in plain.solution.columns]
    result = solve(listed(enumeration, seed), method=Method(choice=MostFractional()))
    assert result.is_optimal
    assert result.objective == plain.objective
    assert len(result.nodes) > 10
    assert 0 < len(enumeration.gaps) < 0.5 * len(result.nodes)
    # The root is tried twice: shortly before its dive, and fully after it.
    assert all(after <= 0.5 * before for before, after in itertools.pairwise(enumeration.gaps[1:]))


class Excluding(Failing):
    """Proves before the first linear program that no objective is better than ``least``."""

    def __init__(self, least):
        self.least = least

    def excludes(self, target):
        return target <= self.least


def test_a_proof_before_the_first_round_closes_the_root():
    best = solve(listed(())).objective
    problem = listed(Excluding(best))
    result = solve(problem, start=WarmStart(answers=(solve(listed(())).solution,)))
    assert result.is_optimal
    assert (result.objective, result.dual_bound, len(result.nodes)) == (best, best, 1)
    relaxed = solve(problem, relaxation=True)
    assert relaxed.objective == pytest.approx(solve(listed(()), relaxation=True).objective)


def test_what_is_not_excluded_is_solved():
    best = solve(listed(())).objective
    problem = listed(Excluding(-1.0))
    assert solve(problem).objective == best

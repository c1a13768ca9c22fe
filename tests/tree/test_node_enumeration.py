"""A node closed by a program over all columns that matter: only where there is one, and an answer to beat."""

import dataclasses
import itertools

import pytest

from colgen import Method, MostFractional, NodeLimit, Wentges, solve
from colgen.enumeration import Enumerated, Enumeration
from tests.zoo import Partitioning


class Failing(Enumeration):
    def enumerate(self, context):
        raise MemoryError("too long a list")


class Nothing(Enumeration):
    """Says that no column of the node can be part of a better answer."""

    def enumerate(self, context):
        return Enumerated([])


def listed(how, seed=4):
    class Listed(Partitioning):
        def method(self):
            return dataclasses.replace(super().method(), enumeration=how)

    return Listed(size=9, seed=seed, cuts=False)


def test_a_list_that_fails_leaves_the_node_to_branching():
    plain, result = solve(Partitioning(size=9, seed=4, cuts=False)), solve(listed(Failing()))
    assert result.is_optimal
    assert result.objective == plain.objective
    assert any(note.startswith("Failing failed at node") for note in result.notes)


def test_without_an_answer_to_beat_nothing_is_listed():
    result = solve(listed(Failing()), method=Method(heuristics=()), stop=NodeLimit(1))
    assert result.solution is not None or not any("Failing" in note for note in result.notes)


def test_an_empty_list_says_that_nothing_better_is_there():
    result = solve(listed(Nothing()), method=Method(stabilization=Wentges()))
    assert len(result.nodes) == 1


class Unending(Enumeration):
    """All columns at every node, and no time for the program over them."""

    seconds = 0.0

    def __init__(self):
        self.columns, self.gaps = [], []

    def enumerate(self, context):
        self.gaps.append(context.target - context.bound)
        return Enumerated(self.columns)


@pytest.mark.parametrize("seed", range(6))
def test_after_a_program_without_end_a_list_is_made_at_half_the_gap(seed):
    plain = solve(Partitioning(size=9, seed=seed, cuts=False))
    unending = Unending()
    unending.columns = [column for column, _ in plain.solution.columns]
    result = solve(listed(unending, seed), method=Method(choice=MostFractional()))
    assert result.is_optimal
    assert result.objective == plain.objective
    assert len(result.nodes) > 10
    assert 0 < len(unending.gaps) < 0.5 * len(result.nodes)
    # The root is tried twice: shortly before its dive, and whole after it.
    assert all(after <= 0.5 * before for before, after in itertools.pairwise(unending.gaps[1:]))

"""A node closed by a program over all columns that matter: only where there is one, and an answer to beat."""

from colgen import Enumerated, Enumeration, Wentges, solve
from tests.zoo import Partitioning


class Failing(Enumeration):
    def enumerate(self, context):
        raise MemoryError("too long a list")


class Nothing(Enumeration):
    """Says that no column of the node can be part of a better answer."""

    def enumerate(self, context):
        return Enumerated([])


def listed(how):
    return type("Listed", (Partitioning,), {"enumeration": lambda self: how})(size=9, seed=4, cuts=False)


def test_a_list_that_fails_leaves_the_node_to_branching():
    plain, result = solve(Partitioning(size=9, seed=4, cuts=False)), solve(listed(Failing()))
    assert result.is_optimal
    assert result.objective == plain.objective
    assert any(note.startswith("Failing failed at node") for note in result.notes)


def test_without_an_answer_to_beat_nothing_is_listed():
    result = solve(listed(Failing()), heuristics=(), node_limit=1)
    assert result.solution is not None or not any("Failing" in note for note in result.notes)


def test_an_empty_list_says_that_nothing_better_is_there():
    result = solve(listed(Nothing()), stabilization=Wentges())
    assert len(result.nodes) == 1

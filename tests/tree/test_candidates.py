"""Candidates of the rules: the first is what the rule branches on by itself, and each says how far it moves."""

import pytest

from colgen import Candidate, Column, OnOriginalVariable, OnTemplateVariable, RyanFoster, Solution
from colgen.core.decision import admits
from colgen.tree.candidates import DOWN, UP


def column(*members):
    return Column(1.0, {("cover", i): 1.0 for i in members}, members)


FRACTIONAL = Solution(
    1.0,
    ((column(0, 1), 0.5), (column(1, 2), 0.25), (column(0), 0.5), (column(2), 0.75)),
    {("y", 0): 0.3, ("y", 1): 1.5, ("y", 2): 2.0},
    frozenset({("y", 0), ("y", 1), ("y", 2)}),
)
RULES = [
    RyanFoster("cover"),
    OnOriginalVariable(lambda c: dict.fromkeys(c.structure, 1.0)),
    OnOriginalVariable(lambda c: {c.structure: 1.0}),
    OnTemplateVariable(),
]


@pytest.mark.parametrize("rule", RULES)
def test_the_first_candidate_is_what_the_rule_branches_on(rule):
    found = rule.candidates(FRACTIONAL)
    assert found
    assert list(map(list, found[0].children)) == list(map(list, rule.branch(FRACTIONAL)))
    assert len({candidate.quantity for candidate in found}) == len(found)
    scores = [candidate.score for candidate in found]
    assert scores == sorted(scores, reverse=True)
    for candidate in found:
        assert not any(admits(child, FRACTIONAL) for child in candidate.children)
        assert sorted(direction for direction, _ in candidate.moves) == [DOWN, UP]
        assert sum(distance for _, distance in candidate.moves) == pytest.approx(1.0)
        assert candidate.moves[0][1] <= 0.5  # the nearer number first


def test_a_whole_solution_has_no_candidates():
    whole = Solution(1.0, ((column(0, 1), 1.0), (column(2), 1.0)))
    assert [list(rule.candidates(whole)) for rule in RULES] == [[], [], [], []]


def test_a_rule_that_states_branch_alone_has_the_one_candidate():
    class Mine(OnOriginalVariable):
        def branch(self, solution):
            return super().branch(solution)[:1]

    (found,) = Mine(lambda c: {c.structure: 1.0}).candidates(FRACTIONAL)
    assert isinstance(found, Candidate)
    assert len(found.children) == 1
    assert found.moves == ()

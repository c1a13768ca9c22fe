"""Candidates of the rules: the first is the one that the rule branches on, and each has its moves."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Column,
    Decision,
    InputError,
    LinearMaster,
    OnOriginalVariable,
    OnTemplateVariable,
    Pricing,
    Row,
    RyanFoster,
    Solution,
    artificial,
    solve,
)
from colgen.branching import rules
from colgen.branching.rules import DOWN, UP, Bound, Candidate, OnSumOfVariables, SumBound, TemplateBound
from colgen.core.activity import activity
from colgen.core.decision import Apart, Together, admits
from colgen.core.hooks import check_hooks
from colgen.core.tolerances import fractionality
from colgen.model.rows import compile_model
from tests.toys import Partition, SetPartitioning


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
def test_the_first_candidate_is_the_branching_of_the_rule(rule):
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
        assert candidate.moves[0][1] <= 0.5  # the nearer integer first


def test_an_integer_solution_has_no_candidates():
    whole = Solution(1.0, ((column(0, 1), 1.0), (column(2), 1.0)))
    assert [list(rule.candidates(whole)) for rule in RULES] == [[], [], [], []]


def test_a_rule_with_only_branch_has_one_candidate():
    class Mine(OnOriginalVariable):
        def branch(self, solution):
            return super().branch(solution)[:1]

    (found,) = Mine(lambda c: {c.structure: 1.0}).candidates(FRACTIONAL)
    assert isinstance(found, Candidate)
    assert len(found.children) == 1
    assert found.moves == ()


def test_a_mixin_may_define_branch():
    class First:
        def branch(self, solution):
            return super().branch(solution)[:1]

    class Mine(First, OnOriginalVariable):
        pass

    (found,) = Mine(lambda c: {c.structure: 1.0}).candidates(FRACTIONAL)
    assert len(found.children) == 1


def test_a_misspelt_hook_beside_branch_is_reported():
    class Mine(OnOriginalVariable):
        def branch(self, solution):
            return ()

        def candidate(self, solution):
            return []

    with pytest.raises(InputError, match=r"did you mean candidates"):
        check_hooks(Mine(lambda c: {c.structure: 1.0}))


def subset(*members, **more):
    return Column(1.0, {**{("cover", i): 1.0 for i in members}, ("other", 0): 1.0}, members, **more)


A, B, C = ("cover", 0), ("cover", 1), ("cover", 2)


def test_fractionality():
    assert fractionality(0.5) == 0.5
    assert fractionality(1.25) == 0.25
    assert fractionality(-0.25) == 0.25
    assert fractionality(2.9999999) == 0.0
    assert fractionality(3.0) == 0.0


def test_together_and_apart_are_opposites():
    for members in [(), (0,), (1,), (0, 1), (0, 1, 2), (2,)]:
        column = subset(*members)
        both, none = {0, 1} <= set(members), not {0, 1} & set(members)
        assert Together(A, B).allows(column) == (both or none)
        assert Apart(A, B).allows(column) == (not both)


def test_ryan_foster_takes_the_most_fractional_pair():
    solution = Solution(1.5, ((subset(0, 1), 0.5), (subset(1, 2), 0.25), (subset(0), 0.5), (subset(2), 0.75)))
    children = RyanFoster("cover").branch(solution)
    # 0 and 1 are together with value 1/2, 1 and 2 with 1/4; 1/2 is rounded up.
    assert children == [(Together(A, B),), (Apart(A, B),)]
    for (decision,) in children:
        assert not all(decision.allows(column) for column, _ in solution.columns)


def test_ryan_foster_explores_the_nearer_side_first():
    solution = Solution(1.0, ((subset(0, 1), 0.25), (subset(0), 0.75), (subset(1), 0.75)))
    assert RyanFoster("cover").branch(solution)[0] == (Apart(A, B),)


def test_ryan_foster_has_no_candidates_for_an_integer_solution():
    assert not RyanFoster("cover").branch(Solution(2.0, ((subset(0, 1), 1.0), (subset(2), 1.0))))
    # Two columns with the same rows: every pair has the value 1.
    assert not RyanFoster("cover").branch(Solution(1.0, ((subset(0, 1), 0.5), (subset(0, 1, key=("x", 1)), 0.5))))


@pytest.mark.parametrize("seed", range(5))
def test_ryan_foster_counts_all_pairs_for_any_size_of_its_cache(seed, monkeypatch):
    """The value of a pair is the sum over the columns that cover both, for any size of the cache."""
    random = np.random.default_rng(seed)
    members = [random.choice(8, size=random.integers(0, 6), replace=False).tolist() for _ in range(12)]
    used = [(subset(*chosen), value) for chosen, value in zip(members, random.random(12).tolist(), strict=True)]
    together = {
        pair: sum(value for column, value in used if set(pair) <= set(column.structure))
        for pair in itertools.combinations(range(8), 2)
    }
    wanted = sorted(d for d in map(fractionality, together.values()) if d)
    for held in (1 << 22, 5):
        monkeypatch.setattr(rules, "_PAIRS", held)
        rule, solution = RyanFoster("cover"), Solution(0.0, tuple(used))
        for _ in range(2):
            found = rule.candidates(solution)
            assert sorted(candidate.score for candidate in found) == pytest.approx(wanted)
            for candidate in found:
                first, second = sorted(key[1] for key in candidate.quantity)
                assert candidate.score == pytest.approx(fractionality(together[first, second]))
            assert rule.branch(solution) == found[0].children
    assert RyanFoster("cover").branch(Solution(0.0, tuple((column, 1.0) for column, _ in used))) == ()


def test_a_coefficient_of_zero_covers_nothing():
    column = Column(1.0, {A: 1.0, B: 0.0})
    assert Apart(A, B).allows(column)
    assert not Together(A, B).allows(column)
    assert not RyanFoster("cover").branch(Solution(1.0, ((column, 0.5),)))


def partition(low, high):
    m = pyo.ConcreteModel()
    m.alone = artificial(range(3))
    m.cover = pyo.Constraint(range(3), rule=lambda m, i: (low, m.alone[i], high))
    m.cost = pyo.Objective(expr=0)
    return LinearMaster(compile_model(m))


@pytest.mark.parametrize("sides", [(1, 1), (None, 1), (0, 1), (4, 4)])
def test_ryan_foster_accepts_rows_that_are_covered_once(sides):
    RyanFoster("cover").suit(partition(*sides))


@pytest.mark.parametrize("sides", [(1, None), (1, 2), (None, 3), (None, -1), (0, 0)])
def test_ryan_foster_refuses_rows_in_which_it_loses_answers(sides):
    with pytest.raises(InputError, match=r"RyanFoster\('cover'\).* row 0 "):
        RyanFoster("cover").suit(partition(*sides))


def test_ryan_foster_refuses_a_name_that_no_row_has():
    with pytest.raises(InputError, match=r"RyanFoster\('cower'\) needs rows"):
        RyanFoster("cower").suit(partition(1, 1))


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (
            Column(1.0, {A: 1.0, B: 2.0}, "s"),
            "row 1: the column of 's' has 2",
        ),
        (Column(1.0, {A: 1.0, B: -1.0}, "s"), "has -1"),
        (Column(1.0, {A: 1.0, B: 1.0}, "s", integer=False), "needs integer columns: the column of 's'"),
    ],
)
def test_ryan_foster_refuses_columns_whose_pairs_may_be_fractional(column, expected):
    rule = RyanFoster("cover")
    rule.suit(partition(1, 1))
    with pytest.raises(InputError, match=re.escape(expected)):
        rule.branch(Solution(1.0, ((column, 0.5),)))


def test_ryan_foster_accepts_rows_in_other_units():
    rule = RyanFoster("cover")
    rule.suit(partition(4, 4))
    columns = [Column(1.0, dict.fromkeys(rows, 4.0)) for rows in ((A, B), (B, C), (A, C))]
    assert rule.branch(Solution(1.5, tuple((column, 0.5) for column in columns)))


def test_covering_rows_are_refused_before_any_work():
    class Covering(SetPartitioning):
        def master(self):
            m = super().master()
            m.del_component("cover")
            m.cover = pyo.Constraint(m.element, rule=lambda m, i: m.alone[i] >= 1)
            return m

        def pricing(self):
            return Never()

        def branching(self):
            return super().branching()

    class Never(Pricing):
        def price(self, duals, context):
            raise AssertionError("no oracle is asked")

    # Half of each pair covers three elements; a solution with {0, 1} and {1, 2} lies in neither child of any pair.
    with pytest.raises(InputError, match="RyanFoster"):
        solve(Covering(Partition(3, tuple((1.0, frozenset(s)) for s in ({0, 1}, {1, 2}, {0, 2})))))


def flow(column):
    return dict.fromkeys(column.structure, 1.0)


def test_original_variable():
    rule = OnOriginalVariable(flow, block="arc")
    solution = Solution(3.0, ((subset(0, 1), 1.5), (subset(1, 2), 0.75), (subset(0), 1.5)))
    assert rule.values(solution) == {0: 3.0, 1: 2.25, 2: 0.75}
    (up,), (down,) = rule.branch(solution)
    # 1 and 2 are equally fractional; the later name decides, so that runs are reproducible.
    assert up.key == down.key == ("arc", 2)
    assert (up.lower, up.upper) == (1, math.inf)
    assert (down.lower, down.upper) == (-math.inf, 0)
    assert up.row().coefficient(subset(1, 2)) == 1.0
    assert up.row().coefficient(subset(0, 1)) == 0.0


def test_upper_bound_of_zero_forbids_columns():
    never = Bound(("arc", 2), -math.inf, 0.0, lambda c: float(2 in c.structure))
    assert never.row() is None
    assert not never.allows(subset(1, 2))
    assert never.allows(subset(0, 1))
    some = Bound(("arc", 2), -math.inf, 1.0, never.value)
    assert some.row() is not None
    assert some.allows(subset(1, 2))


def test_integer_original_variables_have_no_candidates():
    solution = Solution(1.0, ((subset(0, 1), 0.5), (subset(0), 0.5), (subset(1), 0.5)))
    whole = Solution(1.0, ((subset(0), 0.5), (subset(0, key=("x", 0)), 0.5)))
    assert OnOriginalVariable(flow).branch(whole) == ()
    assert OnOriginalVariable(flow).recover(whole) is None
    assert OnOriginalVariable(flow, recover=lambda s: solution).recover(whole) is solution


def test_template_variable():
    variables = {("y", 1): 0.5, ("y", 2): 2.75, ("z", 1): 0.5, ("y", 3): 4.0}
    solution = Solution(1.0, (), variables, frozenset({("y", 1), ("y", 2), ("y", 3)}))
    (up,), (down,) = OnTemplateVariable().branch(solution)
    assert up == TemplateBound(("y", 1), 1, math.inf)
    assert down == TemplateBound(("y", 1), -math.inf, 0)
    # A continuous variable may have any value.
    assert OnTemplateVariable().branch(Solution(1.0, (), {("z", 1): 0.5})) == ()


def test_the_sum_of_variables_is_rounded():
    keys = (("y", 1), ("y", 2), ("y", 3))
    rule = OnSumOfVariables({("sum of y", 1.0): keys, ("sum of z", 1.0): (("z", 1), ("z", 2))})
    solution = Solution(1.0, (), {("y", 1): 0.5, ("y", 2): 1.25, ("z", 1): 0.5, ("z", 2): 0.5})
    (up,), (down,) = rule.branch(solution)
    assert up == SumBound(("sum of y", 1.0), keys, 2, math.inf)
    assert down == SumBound(("sum of y", 1.0), keys, -math.inf, 1)
    assert not admits([up], solution)
    assert not admits([down], solution)
    assert rule.branch(Solution(1.0, (), {("y", 1): 1.5, ("y", 2): 0.5})) == ()


@pytest.mark.parametrize(
    ("decision", "admitted"),
    [
        (Together(A, B), False),
        (Apart(A, B), True),
        (Apart(B, C), False),
        (Bound(("arc", 1), 2.0, 2.0, lambda c: float(1 in c.structure)), True),
        (Bound(("arc", 1), 3.0, math.inf, lambda c: float(1 in c.structure)), False),
        (Bound(("arc", 1), -math.inf, 0.0, lambda c: float(1 in c.structure)), False),
        (TemplateBound(("y", 1), 1.0, 3.0), True),
        (TemplateBound(("y", 1), 3.0, 3.0), False),
        (TemplateBound(("y", 9), 1.0, 3.0), False),  # a variable without a value is zero
    ],
)
def test_admits(decision, admitted):
    solution = Solution(3.0, ((subset(1, 2), 2.0), (subset(0), 1.0)), {("y", 1): 2.0})
    assert admits([decision], solution) is admitted
    assert admits([Apart(A, B), decision], solution) is admitted
    assert admits([], solution)


def test_decisions_with_equal_bounds_are_equal():
    # Each node makes a new function, which does not count in comparisons.
    first, second = (Bound(("arc", 1), 1.0, 2.0, lambda c: 1.0) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != Bound(("arc", 1), 1.0, 3.0, first.value)


@dataclass(frozen=True)
class Limited(Decision):
    """A bound on a row that is given completely."""

    limited: Row

    def row(self):
        return self.limited


def test_a_decision_counts_the_template_variables_and_keys_of_its_row():
    y, x = ("y", 3), ("x", "first")
    row = Row(("share", None), upper=2.0, coefficients={y: 1.0, x: 4.0}, coefficient=lambda column: 1.0)
    named = subset(0, key=x)
    assert admits([Limited(row)], Solution(0.0, ((subset(1), 1.0),), {y: 1.0}))
    assert not admits([Limited(row)], Solution(0.0, ((subset(1), 1.0),), {y: 1.5}))
    assert not admits([Limited(row)], Solution(0.0, ((named, 1.0),), {}))
    stated = Column(1.0, {("share", None): 0.5}, key=x)
    assert admits([Limited(row)], Solution(0.0, ((stated, 1.0),), {y: 1.5}))


@pytest.mark.parametrize("factor", [1e-12, 1.0, 1e12])
def test_the_activity_of_a_row_is_measured_by_its_own_size(factor):
    row = Row(("share", None), upper=2.0 * factor, coefficient=lambda column: factor)
    over = activity(row, Solution(0.0, ((subset(0), 2.5),)))
    assert over.violation == pytest.approx(0.2)
    assert over.value == pytest.approx(2.5 * factor)
    under = activity(row, Solution(0.0, ((subset(0), 1.5),)))
    assert under.violation == pytest.approx(-0.25)


def test_half_a_unit_of_a_million_is_cut_off():
    row = Row(("many", None), upper=1e6, coefficient=lambda column: 1.0)
    assert not admits([Limited(row)], Solution(0.0, ((subset(0), 1e6 + 0.5),)))

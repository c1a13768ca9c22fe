"""The separator of rank-1 cuts on a problem whose columns can all be written down."""

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Best,
    Column,
    InputError,
    Method,
    NodeLimit,
    PricingResult,
    RankOne,
    Sense,
    SeparationContext,
    Solution,
    artificial,
    solve,
)
from colgen.core.terms import Count
from tests.cuts.test_cut import ROWS, SETS, TRIPLES, WORTH, Packing, Sets, complete, naive


class Separated(Packing):
    """Set packing under rank-1 cuts, the columns' rows being visited in their order or from the last to the first."""

    def __init__(self, order=None, oracle=Sets):
        super().__init__(TRIPLES, oracle)
        self.order = order

    def separation(self):
        return [RankOne("row", order=self.order, least=1e-4, limit=5, progress=0.0)]


class InOrder(Sets):
    """Prices the limited memory of cuts by walking along each set."""

    def best(self, duals, context):
        counted = duals.terms(Count)
        found = None
        for chosen in SETS:
            column = self.encode(chosen)
            if context.allows(column):
                reduced = context.cost_weight * WORTH[chosen] - sum(duals["row", i] for i in chosen)
                route, amounts = chosen[::-1], dict.fromkeys(chosen, 1)
                for term, value in zip(counted.terms, counted.values, strict=True):
                    reduced -= value * naive(term, amounts, route)
                if found is None or reduced > found.reduced_cost:
                    found = Best(chosen, reduced)
        return found


def test_the_relaxation_is_no_weaker_than_with_all_triples_and_the_optimum_stays():
    whole = complete((), whole=True)
    relaxed = solve(Separated(), relaxation=True)
    assert whole - 1e-6 <= relaxed.objective <= complete(TRIPLES) + 1e-3
    assert relaxed.dual_bound == pytest.approx(relaxed.objective)
    assert relaxed.rows_generated
    assert solve(Separated()).objective == pytest.approx(whole)


def test_cuts_with_minimal_memory_give_the_same_bound():
    problem = Separated(order=lambda column: column.structure[::-1], oracle=InOrder)
    relaxed = solve(problem, relaxation=True)
    assert relaxed.rows_generated
    assert complete((), whole=True) - 1e-6 <= relaxed.objective <= complete(TRIPLES) + 1e-3


class GivesUp(Sets):
    """Prices no more than ``few`` cuts with dual values."""

    few = 0

    def price(self, duals, context):
        if len(duals.terms(Count).terms) > self.few:
            return PricingResult(cut_off=True, costly=True)
        return super().price(duals, context)


@pytest.mark.parametrize("few", [0, 2])
def test_cuts_that_pricing_cannot_afford_are_dropped(few):
    oracle = type("GivesUp", (GivesUp,), {"few": few})
    without = solve(type("Plain", (Separated,), {"separation": lambda problem: []})(), relaxation=True)
    found = solve(Separated(oracle=oracle), relaxation=True)
    assert found.is_optimal
    assert complete((), whole=True) - 1e-6 <= found.objective <= without.objective + 1e-6
    # Fewer cuts are added, after three failures none; those that pricing can afford improve the bound.
    assert sum("dropped: pricing with them took too long" in note for note in found.notes) == (1 if few else 3)
    assert (found.objective < without.objective - 0.1) is bool(few)
    assert found.rows_generated <= 5
    tree = solve(Separated(oracle=oracle))
    assert tree.is_optimal
    assert tree.objective == pytest.approx(complete((), whole=True))


class GivesUpBelow(GivesUp):
    """Prices all cuts at the root, and ``few`` below it."""

    multiplicity = 7.0

    def price(self, duals, context):
        return super().price(duals, context) if context.decisions else Sets.price(self, duals, context)


@pytest.mark.parametrize("few", [0, 1])
@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_cuts_that_are_dropped_below_the_root_leave_its_bound(few, seed, monkeypatch):
    class FewCuts(Separated):
        def separation(self):
            return [RankOne("row", least=1e-4, limit=2, progress=0.0, every=0)]

    worths = np.random.default_rng(seed).integers(5, 30, len(SETS)).tolist()
    for chosen, worth in zip(SETS, worths, strict=True):
        monkeypatch.setitem(WORTH, chosen, worth)
    oracle = type("GivesUpBelow", (GivesUpBelow,), {"few": few})
    found = solve(FewCuts(oracle=oracle), method=Method(heuristics=()))
    assert found.is_optimal
    assert found.objective == pytest.approx(complete((), whole=True))
    dropped = [int(note.split()[0]) for note in found.notes if "dropped: pricing with them took too long" in note]
    assert dropped
    assert not few or sum(dropped) < found.rows_generated  # the older cuts stay


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda m, i: m.idle[i] >= 1, "no upper side"),
        (lambda m, i: m.idle[i] - m.more[i] == 1, "negative terms"),
        (lambda m, i: m.idle[i] == 1.5, "upper side 1.5"),
        (lambda m, i: m.idle[i] - m.missing[i] == 1, None),
    ],
)
def test_rows_that_do_not_pack_raise_errors(rule, message):
    class Other(Separated):
        def master(self):
            m = pyo.ConcreteModel()
            m.idle, m.more = pyo.Var(ROWS, domain=pyo.NonNegativeReals), pyo.Var(ROWS, domain=pyo.NonNegativeReals)
            m.missing = artificial(ROWS)
            m.row = pyo.Constraint(ROWS, rule=rule)
            m.worth = pyo.Objective(expr=0, sense=pyo.maximize)
            return m

    if message is None:
        solve(Other(), stop=NodeLimit(1))  # artificial variables are zero in every answer
        return
    with pytest.raises(InputError, match=message):
        solve(Other())


def test_missing_rows_raise_an_error():
    class Elsewhere(Packing):
        def separation(self):
            return [RankOne("visit")]

    with pytest.raises(InputError, match=r"RankOne.* the master has no rows"):
        solve(Elsewhere())


class Sides:
    """As much of a master as its packing rows."""

    def __init__(self, *sides):
        self.sides, self.rows = sides, self

    def packing_sides(self, block):
        return {(block, k): side for k, side in enumerate(self.sides)}


def test_a_cut_of_another_run_has_the_side_of_this_instance():
    separator = RankOne("row")
    separator.suit(Sides(1, 1, 3, 2))
    term = Count("row", (0, 1, 2), (1, 1, 1), 2)
    row = separator.restated(("rank_one", term))
    assert (row.key, row.upper) == (("rank_one", term), 2.0)  # (1 + 1 + 3) / 2, rounded down
    separator.suit(Sides(1, 1, 1, 2))
    assert separator.restated(("rank_one", term)).upper == 1.0
    separator.suit(Sides(1, 1))
    for key in (("rank_one", term), ("others", term), ("rank_one", 3)):
        assert separator.restated(key) is None


def test_given_sides_override_those_of_rows():
    separator = RankOne("row", sizes=(3,), sides={0: 1, 1: 1, 2: 1})
    separator.suit(Sides(None, 2, 1.5, None))
    term = Count("row", (0, 1, 2), (1, 1, 1), 2)
    assert separator.restated(("rank_one", term)).upper == 1.0
    columns = [
        Column(1.0, {("row", i): 1.0 for i in pair} | {("row", 3): 2.0}, pair) for pair in ((0, 1), (1, 2), (0, 2))
    ]
    solution = Solution(1.5, tuple((column, 0.5) for column in columns))
    (row,) = separator.separate(solution, SeparationContext(Sense.MINIMIZE))
    assert (row.key[1], row.upper) == (term, 1.0)  # no row without a side is in a cut
    with pytest.raises(InputError, match="the master has no rows"):
        separator.suit(Sides())


@pytest.mark.parametrize("incumbent", [float("inf"), 1500.0])
def test_cuts_need_not_close_a_share_of_the_whole_objective_if_no_answer_is_near(incumbent):
    cuts = RankOne("row")
    context = SeparationContext(Sense.MINIMIZE, incumbent=incumbent)
    rising = [cuts._continues(Solution(1000.0 + step, ()), context) for step in range(12)]
    flat = [cuts._continues(Solution(1011.0, ()), context) for _ in range(5)]
    assert all(rising)
    assert not flat[-1]

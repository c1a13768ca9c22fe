"""Plans without waste: full rolls, cuts and proofs, compared with enumeration."""

import dataclasses
import itertools
import os
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import optimize

from colgen import Duals, PricingContext, RankOne, Record, Sense, SeparationContext, Solution, solve
from colgen.certificate.checker import check
from colgen.certificate.checker_bounds import bound_of
from colgen.certificate.checker_pricing import CheckerState, KnapsackPricing, WrongError
from colgen.certificate.checker_program import Claims, Program
from colgen.certificate.witness import WitnessPoint
from colgen.core.terms import Count, PricedTerms
from colgen.fixing import ReductionContext
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, PatternOracle, read
from colgen.problems.cutting_stock.bound import round_exactly, verify
from colgen.problems.cutting_stock.layout import Full, PatternLayout
from colgen.problems.cutting_stock.waste import DivingFirst, FullRollCuts, FullRolls
from tests.sweeps import seeds
from tests.twins.cutting_stock import optimum as fewest_rolls

PACKING = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data")) / "packing"


def full_rolls(seed, rolls=3, roll=30):
    """Pieces that fill the given number of rolls, perhaps after moving width between pieces."""
    rng = np.random.default_rng(seed)
    pieces = []
    for _ in range(rolls):
        cuts = np.sort(rng.choice(np.arange(2, roll - 1), rng.integers(1, 3), replace=False))
        pieces += np.diff([0, *cuts, roll]).tolist()
    for _ in range(int(rng.integers(0, 3))):
        a, b = rng.choice(len(pieces), 2, replace=False)
        if pieces[a] > 2 and pieces[b] < roll - 2:
            pieces[a], pieces[b] = pieces[a] - 1, pieces[b] + 1
    widths, demands = np.unique(pieces, return_counts=True)
    return CuttingStockInstance(roll, tuple(widths.tolist()), tuple(demands.tolist()))


@pytest.mark.parametrize("seed", seeds(120))
def test_full_rolls_are_proved_as_by_enumeration(seed):
    instance = full_rolls(seed)
    result = solve(CuttingStock(instance))
    assert result.is_optimal
    assert result.objective == instance.check(result.answer) == fewest_rolls(instance)
    assert verify(instance, result.certificate) <= result.objective


def test_dives_come_first_if_a_better_plan_has_no_waste():
    exact = CuttingStock(CuttingStockInstance(10, (6, 4), (2, 2)))
    first = next(heuristic for heuristic in exact.method().heuristics if isinstance(heuristic, DivingFirst))
    assert first.quick
    assert first.search(SimpleNamespace(run=SimpleNamespace(target=3.0))) is None
    assert solve(exact).objective == 2


def context(problem, target):
    return ReductionContext(Sense.MINIMIZE, None, 0.0, float(target), ())


def test_only_full_rolls_are_allowed_if_a_better_plan_has_no_waste():
    problem = CuttingStock(CuttingStockInstance(10, (6, 4, 3), (2, 2, 0 + 1)))
    reduction = FullRolls(problem.model.layout)
    assert reduction.reduce(context(problem, 2)) == ()  # 23 of 20
    exact = CuttingStock(CuttingStockInstance(10, (6, 4), (2, 2)))
    reduction = FullRolls(exact.model.layout)
    (decision,) = reduction.reduce(context(exact, 2))
    assert isinstance(decision, Full)
    assert not decision.exhaustive
    assert reduction.reduce(context(exact, 3)) == ()
    again = ReductionContext(Sense.MINIMIZE, None, 0.0, 2.0, (decision,))
    assert reduction.reduce(again) == ()


def test_a_pattern_that_does_not_fill_its_roll_is_not_allowed():
    layout = PatternLayout(CuttingStockInstance(10, (6, 4, 2), (2, 2, 1)))
    oracle, decision = PatternOracle(layout), Full(layout)
    patterns = [((0, 1), (1, 1)), ((0, 1), (2, 1)), ((1, 2), (2, 1)), ((1, 1),)]
    assert [decision.allows(oracle.encode(pattern)) for pattern in patterns] == [True, False, True, False]
    packings = np.array([[1, 1, 0], [1, 0, 1], [0, 2, 1], [0, 1, 0]])
    batch = oracle.batch(packings, Rows(3))
    assert decision.allows_each(batch).tolist() == [True, False, True, False]


def plans(instance):
    """All ways to cut each item exactly as often as demanded from full rolls, as lists of counts."""
    widths, demands = np.array(instance.widths), np.array(instance.demands)
    every = [
        np.array(p)
        for p in itertools.product(*(range(d + 1) for d in instance.demands))
        if np.dot(p, widths) == instance.roll
    ]

    def go_on(left, first):
        if not left.any():
            yield []
            return
        for k in range(first, len(every)):
            if (every[k] <= left).all():
                for rest in go_on(left - every[k], k):
                    yield [every[k], *rest]

    return go_on(demands, 0)


CUT = [
    CuttingStockInstance(30, (3, 4, 5, 6, 7, 8, 9, 13, 16, 18, 20, 26), (1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1)),
    CuttingStockInstance(36, (2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 18, 20, 29), (1, 1, 1, 1, 1, 1, 2) + (1,) * 8),
]
"""Instances that need cuts."""

KNOWN = [list(itertools.islice(plans(instance), 50)) for instance in CUT]


def vertex(instance, rng):
    """A vertex of the relaxation over full rolls, as a solution."""
    oracle = PatternOracle(PatternLayout(instance))
    widths = np.array(instance.widths)
    every = np.array(list(itertools.product(*(range(d + 1) for d in instance.demands))))
    every = every[every @ widths == instance.roll]
    found = optimize.linprog(rng.random(len(every)), A_eq=every.T, b_eq=instance.demands, method="highs-ds")
    used = [
        (oracle.encode(tuple((i, int(n)) for i, n in enumerate(packing) if n)), float(value))
        for packing, value in zip(every, found.x, strict=True)
        if value > 1e-9
    ]
    return oracle, Solution(float(found.x.sum()), tuple(used))


def test_cuts_are_violated_and_cut_off_no_plan_that_wastes_nothing():
    violated = 0
    for seed in range(16):
        instance = CUT[seed % 2]
        oracle, solution = vertex(instance, np.random.default_rng(seed))
        separation = FullRollCuts(oracle)
        separation.suit(SimpleNamespace(rows=Rows(len(instance.widths))))
        about = SeparationContext(Sense.MINIMIZE)
        assert separation.separate(solution, about) == ()  # where other rolls are left, the rows are no equations
        oracle.fills = True
        rows = separation.separate(solution, about)
        violated += len(rows)
        assert separation.separate(solution, dataclasses.replace(about, whole=True)) == ()
        for row in rows:
            used = {tuple(column.structure[1]): value for column, value in solution.columns}
            assert sum(value * counted(row, dict(pattern)) for pattern, value in used.items()) > row.upper + 0.005
            for plan in KNOWN[seed % 2]:
                assert sum(counted(row, dict(enumerate(packing.tolist()))) for packing in plan) <= row.upper
    assert violated > 20


class Rows:
    """A minimal stand-in for a master: its rows, and their positions in the dual values."""

    def __init__(self, items):
        self.items = items

    def packing_sides(self, block):
        return {(block, item): None for item in range(self.items)}

    def rows(self, block):
        return np.arange(self.items)


def counted(row, pattern):
    """The coefficient of a pattern in a cut."""
    term = row.key[1]
    return sum(w * pattern.get(i, 0) for i, w in zip(term.members, term.weights, strict=True)) // term.divisor


@pytest.mark.parametrize("instance", CUT)
def test_cuts_over_full_rolls_keep_the_optimum(instance, monkeypatch):
    monkeypatch.setattr(DivingFirst, "search", lambda self, context: None)  # which finds the plan before any cut
    with_cuts = solve(CuttingStock(instance))
    assert with_cuts.rows_generated
    monkeypatch.setattr(CuttingStock, "separation", lambda self: ())
    without = solve(CuttingStock(instance))
    assert with_cuts.is_optimal
    assert without.is_optimal
    assert with_cuts.objective == without.objective == fewest_rolls(instance)


class Paid(Duals):
    """Dual values of the demands and of one cut."""

    def __init__(self, demand, term, value):
        self._demand, self._term, self._value = demand, term, value

    def __getitem__(self, name):
        return self._demand

    def items(self, block):
        return []

    def rows(self, block):
        return np.arange(len(self._demand))

    def terms(self, kind):
        return PricedTerms((self._term,), np.array([self._value]))


@pytest.mark.parametrize("seed", seeds(60))
@pytest.mark.parametrize("full", [False, True])
def test_patterns_that_pay_for_cuts_are_priced_as_by_enumeration(seed, full):
    rng = np.random.default_rng(seed)
    instance = full_rolls(seed, rolls=3, roll=18)
    layout = PatternLayout(instance)
    oracle = PatternOracle(layout)
    n = instance.num_items
    members = tuple(rng.choice(n, min(n, 3), replace=False).tolist())
    term, charge = Count("demand", members, (1,) * len(members), 2), float(rng.integers(0, 4)) / 4
    demand = np.array(instance.widths) / 18 * rng.choice([1.0, 1.3, 0.9], n)
    decisions = (Full(layout),) if full else ()
    result = oracle.price(Paid(demand, term, -charge), PricingContext(Sense.MINIMIZE, decisions=decisions))
    row = RankOne("demand").family.cut(term)
    every = [
        p
        for p in itertools.product(*(range(d + 1) for d in instance.demands))
        if 0 < np.dot(p, instance.widths) <= 18 and not (full and np.dot(p, instance.widths) < 18)
    ]
    reduced = [1.0 - np.dot(p, demand) + charge * counted(row, dict(enumerate(p))) for p in every]
    least = min(reduced, default=1.0)
    assert result.bound <= least + 1e-9
    if least < -1e-6:
        assert result.bound == pytest.approx(least)
        assert min(result.reduced_costs) == pytest.approx(least)
        for (_, pattern), stated in zip(result.columns.structures, result.reduced_costs, strict=True):
            p = dict(pattern)
            paid = charge * counted(row, p)
            assert stated == pytest.approx(1.0 - sum(demand[i] * k for i, k in p.items()) + paid)
            assert all(decision.allows(oracle.encode(pattern)) for decision in decisions)
    # The bound of the dual values and the cut, in integers.
    sharp = round_exactly(oracle, 0.0, Paid(demand, term, -charge), PricingContext(Sense.MINIMIZE, decisions=decisions))
    earned = max((1.0 - each for each in reduced), default=0.0)
    side = sum(instance.demands[i] for i in members) // 2
    worth = float(np.dot(demand, instance.demands)) - charge * side
    if earned > 0.0:
        assert sharp <= np.ceil(worth / earned + 1e-9)


@pytest.mark.parametrize("seed", seeds(60))
def test_all_patterns_within_the_gap_are_listed_also_where_they_pay_for_cuts(seed):
    rng = np.random.default_rng(seed)
    instance = full_rolls(seed, rolls=3, roll=18)
    n = instance.num_items
    members = tuple(rng.choice(n, min(n, 3), replace=False).tolist())
    term = Count("demand", members, (1,) * len(members), 2)
    row = RankOne("demand").family.cut(term)
    every = [
        p
        for p in itertools.product(*(range(d + 1) for d in instance.demands))
        if any(p) and np.dot(p, instance.widths) <= instance.roll
    ]
    # Members earn more, and pay for it in pairs, so much that hardly a pattern is worth more than a roll.
    demand = np.array(instance.widths) / instance.roll
    demand[list(members)] += 0.2
    charge = max([(np.dot(p, demand) - 1.0) / k for p in every if (k := counted(row, dict(enumerate(p))))] + [0.0])
    scale = max(1.0, max(np.dot(p, demand) - charge * counted(row, dict(enumerate(p))) for p in every))
    worth = float(np.dot(demand, instance.demands)) - charge * (sum(instance.demands[i] for i in members) // 2)
    bound = worth / scale
    target = bound + 0.3
    problem = CuttingStock(instance)
    duals = Paid(demand, term, -charge)
    listed = problem.method().enumeration.enumerate(ReductionContext(Sense.MINIMIZE, duals, bound, target, ()))
    there = {tuple(sorted(column.structure[1])) for column in listed.columns}
    for p in every:
        reduced = scale - np.dot(p, demand) + charge * counted(row, dict(enumerate(p)))
        if reduced <= scale * (target - bound) - 1e-9:
            assert tuple((i, k) for i, k in enumerate(p) if k) in there


# --- certificates ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(60))
def test_claims_with_cuts_agree_with_the_checker_and_enumeration(seed):
    rng = np.random.default_rng(seed)
    instance = full_rolls(seed, rolls=3, roll=18)
    problem, n = CuttingStock(instance), instance.num_items
    members = tuple(rng.choice(n, min(n, 3), replace=False).tolist())
    term = Count("demand", members, tuple(int(rng.integers(1, 3)) for _ in members), 3)
    demand = np.array(instance.widths) / 18 * rng.choice([1.0, 1.2], n)
    duals = Paid(demand, term, -float(rng.integers(1, 4)) / 4)
    certifier = problem.certifier()
    claim = certifier.claim(certifier.start(), WitnessPoint(duals, 0.0), Fraction(1))
    if claim is None:
        return
    assert claim["cuts"]
    program = Program(certifier.formulation())
    bound = bound_of(program, CheckerState(), claim, Claims())
    assert bound <= fewest_rolls(instance)
    # At the scaled dual values no pattern earns more than a roll.
    (cut_claim,) = claim["cuts"]
    divisor, rows = cut_claim["cut"]
    for p in itertools.product(*(range(d + 1) for d in instance.demands)):
        if np.dot(p, instance.widths) <= instance.roll:
            earned = sum(d * k for d, k in zip(claim["duals"], p, strict=True))
            earned += cut_claim["dual"] * (sum(p[row] for row in rows) // divisor)
            assert earned <= claim["unit"]
    for lie in (
        claim | {"unit": claim["unit"] - 1},
        claim | {"cuts": [{"cut": [divisor, rows], "dual": cut_claim["dual"] + 1}]},
        claim | {"cuts": [{"cut": [divisor, rows], "dual": 1}]},
        claim | {"cuts": [{"cut": [1, rows], "dual": cut_claim["dual"]}]},
        claim | {"cuts": [{"cut": [divisor, [n]], "dual": cut_claim["dual"]}]},
        claim | {"cuts": []},
    ):
        assert told(program, lie) in (None, bound)  # where it is the same bound it is as true, of other numbers


def told(program, claim):
    """The bound that the checker derives from a claim; None if the claim is false."""
    try:
        return bound_of(program, CheckerState(), claim, Claims())
    except WrongError:
        return None


@pytest.mark.parametrize("seed", seeds(80))
def test_the_checker_finds_the_best_packing_under_cuts(seed):
    rng = np.random.default_rng(seed)
    items, capacity = int(rng.integers(1, 6)), int(rng.integers(4, 16))
    sizes, copies = rng.integers(1, 7, items).tolist(), rng.integers(1, 4, items).tolist()
    data = {"capacity": capacity, "sizes": sizes, "copies": copies, "rows": list(range(items)), "cost": 1, "costs": []}
    problem = KnapsackPricing(0, data, items)
    duals = rng.integers(-2, 9, items).tolist()
    cuts = [
        (
            int(rng.integers(2, 5)),
            {int(i): int(rng.integers(1, 3)) for i in rng.choice(items, 1 + k % items, replace=False)},
            -k,
        )
        for k in range(1, 1 + int(rng.integers(1, 4)))
    ]
    state = CheckerState()
    if seed % 2:
        problem.close(state, 0, {0, 3})
    earned = []
    for p in itertools.product(*(range(c + 1) for c in copies)):
        ends = np.cumsum(np.repeat(sizes, p))
        open_ = not (seed % 2) or not any(k * sizes[0] in (0, 3) for k in range(p[0]))
        if np.dot(p, sizes) <= capacity and (not len(ends) or ends[-1] <= capacity) and open_:
            paid = sum(dual * (sum(w * p[i] for i, w in weights.items()) // q) for q, weights, dual in cuts)
            earned.append(sum(d * k for d, k in zip(duals, p, strict=True)) + paid)
    least = Fraction(7 - max(earned))
    for stated in (least - 3, least, least + 1, least + 4):
        found = problem.at_least(duals, Fraction(7), {}, state, cuts, Fraction(stated))
        if stated <= least:
            assert found == stated
        else:
            assert least <= found < stated


@pytest.mark.skipif(not PACKING.is_dir(), reason="packing instances are not there (COLGEN_DATA names their folder)")
@pytest.mark.parametrize("name", ["201_2500_NR_0", "201_2500_NR_7"])
def test_a_published_instance_that_needs_a_roll_more_is_proved_by_cuts_and_checked(name, tmp_path):
    instance = read(PACKING / f"{name}.txt")
    result = solve(CuttingStock(instance), record=Record(certificate=tmp_path / "proof"))
    assert result.is_optimal
    assert result.objective == 66
    assert result.rows_generated
    assert ", 0 trusted" in str(check((tmp_path / "proof").read_text().splitlines()))

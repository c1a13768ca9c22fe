"""Primal heuristics: their results are feasible, and they restore the master."""

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Column,
    Diving,
    Heuristic,
    IterationLimit,
    Method,
    NodeLimit,
    OraclePricing,
    Problem,
    RestrictedMIP,
    Sense,
    Solution,
    Termination,
    TimeLimit,
    artificial,
    solve,
)
from colgen.bounding.protocol import Outcome
from colgen.core.budget import Budget
from colgen.heuristics import Exchanging, fair
from colgen.solvers.packing.knapsack import bounded_knapsack
from tests.toys import CuttingStock, Enumerated, Partition, Program, SetPartitioning, cutting_column
from tests.zoo import Partitioning, Triples


def spy_on(heuristic, before, after):
    """Wrap a heuristic to record the master's objective before and after, and the results."""

    class Spy(Heuristic):
        found = None

        def applies(self, depth):
            return heuristic.applies(depth)

        def search(self, context):
            before.append((context.master.solve().objective, context.master.table.lower_now.sum()))
            Spy.found = heuristic.search(context)
            after.append((context.master.solve().objective, context.master.table.lower_now.sum()))
            return Spy.found

    return Spy()


class Unrounded(CuttingStock):
    objective_step = None  # else the root ends by rounding before the relaxation is solved


# The program over the columns at hand contains the optimum; a dive may end one roll above, it depends on the vertex
# that it starts from.
@pytest.mark.parametrize(("heuristic", "worst"), [(RestrictedMIP(), 453), (Diving(), 454)])
def test_the_textbook_instance_gets_a_good_answer(heuristic, worst):
    before, after = [], []
    spy = spy_on(heuristic, before, after)
    result = solve(Unrounded(), method=Method(heuristics=(spy,)))
    assert 453 - 1e-9 <= result.objective <= worst + 1e-9
    assert spy.found is not None
    assert all(value == round(value) for _, value in result.solution.columns)
    assert before[0][0] == pytest.approx(452.25)
    for (was, fixed), (now, still_fixed) in zip(before, after, strict=True):
        assert fixed == still_fixed == 0.0
        assert now <= was + 1e-9  # new columns can only help: nothing stays fixed


def test_dive_generates_columns():
    class Few(CuttingStock):
        """The relaxation needs four patterns; a dive needs others, which only pricing under its fixings finds."""

    result = solve(Few(demands=(3, 5, 7, 2)), method=Method(heuristics=(Diving(tries=1),)))
    assert result.objective >= result.dual_bound
    assert any(i.depth == 1 and i.node == 0 for i in result.iterations) or result.is_optimal


def test_every():
    assert [d for d in range(5) if Diving().applies(d)] == [0]
    assert [d for d in range(5) if Diving(every=2).applies(d)] == [0, 2, 4]
    assert [d for d in range(5) if RestrictedMIP(every=1).applies(d)] == [0, 1, 2, 3, 4]


def test_a_dive_rounds_up_the_column_nearest_to_its_next_integer():
    a, b, c = cutting_column((2, 0, 0, 0)), cutting_column((0, 2, 0, 2)), cutting_column((0, 0, 3, 0))
    tried = []

    def regenerate(fixed, proper=None, rounds=None):
        tried.append(dict(fixed))
        raise KeyboardInterrupt

    context = SimpleNamespace(
        relaxation=Solution(9.0, ((a, 3.4), (b, 0.9), (c, 0.7))),
        master=SimpleNamespace(node=SimpleNamespace(fix=tried.append), num_rows=4, rows=None),
        run=SimpleNamespace(expired=False, reason=None, incumbent=None, budget=Budget()),
        regenerate=regenerate,
        attempt=0,
        work=math.inf,
    )
    with pytest.raises(KeyboardInterrupt):
        Diving().search(context)
    # Fixing integer parts costs nothing; the master is released in any case.
    assert tried == [{a.identity: 3.0, b.identity: 1.0}, {}]


def test_dive_that_fails_releases_what_it_fixed():
    # Elements 0..2 in pairs only: no answer at all, each dive ends in an infeasible master.
    pairs = tuple((1.0, frozenset(p)) for p in ((0, 1), (1, 2), (0, 2)))
    before, after = [], []
    spy = spy_on(Diving(), before, after)
    result = solve(SetPartitioning(Partition(3, pairs)), method=Method(heuristics=(spy,)))
    assert result.termination is Termination.INFEASIBLE
    assert spy.found is None
    assert before == pytest.approx(np.array(after))


def test_dive_respects_integer_template_variables():
    # x is integer at once, y = 1/2 is not: the solution is infeasible, though all columns are integer.
    program = Program(
        maximize=False,
        row_lower=(2.0, 1.0),
        row_upper=(float("inf"), float("inf")),
        groups=(((1.0, (1.0, 0.0)),),),
        limits=(float("inf"),),
        variables=((3.0, (0.0, 2.0), 0.0, 5.0, True),),
    )
    result = solve(Enumerated(program), method=Method(heuristics=(Diving(),)))
    assert result.is_optimal
    assert result.objective == pytest.approx(5)


def test_a_dive_without_progress_ends():
    # 2x - 2y = 1: each rounding of x makes y fractional above, and the reverse.
    program = Program(
        maximize=False,
        row_lower=(1.0,),
        row_upper=(1.0,),
        groups=(((1.0, (2.0,)), (1.0, (-2.0,))),),
        limits=(float("inf"),),
    )
    result = solve(
        Enumerated(program), method=Method(heuristics=(Diving(tries=1),)), stop=[IterationLimit(1000), NodeLimit(1)]
    )
    assert result.termination is Termination.NODE_LIMIT
    # A limit also ends a dive.
    result = solve(Enumerated(program), method=Method(heuristics=(Diving(tries=1),)), stop=IterationLimit(10))
    assert result.termination is Termination.ITERATION_LIMIT
    assert len(result.iterations) == 10


def scripted(relaxations, columns, rows=None, work=math.inf, **arguments):
    """A dive with given relaxations; records what it fixes and finds."""
    fixed = []

    def regenerate(now, proper=None, rounds=None):
        fixed.append((dict(now), rounds))
        objective, pairs = relaxations[frozenset(now)]
        solved = SimpleNamespace(objective=objective, phase=2, pairs=pairs)
        outcome = Outcome.STOPPED if rounds else Outcome.SOLVED
        return SimpleNamespace(outcome=outcome, solved=solved, termination=None)

    context = SimpleNamespace(
        relaxation=Solution(9.0, columns),
        master=SimpleNamespace(
            node=SimpleNamespace(fix=lambda now: None),
            num_rows=4,
            rows=rows,
            solution=lambda s: Solution(s.objective, s.pairs),
        ),
        run=SimpleNamespace(
            expired=False,
            reason=None,
            incumbent=None,
            budget=Budget(),
            sense=Sense.MINIMIZE,
            prunes=lambda objective: False,
            round_bound=lambda bound: bound,
            meets=lambda bound, objective: bound >= objective,
        ),
        regenerate=regenerate,
        attempt=0,
        work=work,
    )
    return Diving(1, **arguments).search(context), fixed


A, B = cutting_column((2, 0, 0, 0)), cutting_column((0, 2, 0, 2))
WAYS = {frozenset({A.identity}): (12.0, ((A, 1.0),)), frozenset({B.identity}): (10.0, ((B, 1.0),))}


def test_a_discrepancy_rounds_up_another_column_and_the_best_answer_is_kept():
    columns = ((A, 0.9), (B, 0.7))
    found, fixed = scripted(WAYS, columns)
    assert found.objective == 12.0
    assert fixed == [({A.identity: 1.0}, None)]
    found, fixed = scripted(WAYS, columns, discrepancies=1)
    assert found.objective == 10.0
    assert fixed == [({A.identity: 1.0}, None), ({B.identity: 1.0}, None)]
    assert scripted(WAYS, columns, discrepancies=1, levels=0)[0].objective == 12.0


def test_no_dive_follows_one_that_meets_the_relaxation():
    ways = {**WAYS, frozenset({A.identity}): (9.0, ((A, 1.0),))}
    assert len(scripted(ways, ((A, 0.9), (B, 0.7)), discrepancies=1)[1]) == 1


def test_strong_diving_rounds_up_the_column_that_worsens_the_linear_program_least():
    found, fixed = scripted(WAYS, ((A, 0.9), (B, 0.7)), strong=2)
    assert found.objective == 10.0
    assert fixed == [({A.identity: 1.0}, 0), ({B.identity: 1.0}, 0), ({B.identity: 1.0}, None)]


def test_a_column_that_exceeds_a_packing_row_is_rounded_up_only_if_all_do():
    once = SimpleNamespace(packing_sides=lambda block: {(block, 0): 1.0, (block, 1): None})
    found, fixed = scripted(WAYS, ((A, 0.9), (B, 0.7)), rows=once)  # A covers the first row twice
    assert found.objective == 10.0
    assert fixed == [({B.identity: 1.0}, None)]
    assert scripted(WAYS, ((A, 0.9),), rows=once)[0].objective == 12.0


def test_a_large_dive_rounds_up_compatible_columns_at_once_and_ends_the_step_early(monkeypatch):
    c, d, e = (cutting_column(tuple(int(k == i) for i in range(4))) for k in range(3))
    once = SimpleNamespace(packing_sides=lambda block: {(block, k): 1.0 for k in range(4)})
    ways = {
        frozenset({c.identity}): (9.5, ((c, 1.0), (d, 0.8), (e, 0.4))),
        frozenset({c.identity, d.identity}): (10.0, ((c, 1.0), (d, 1.0), (e, 1.0))),
    }
    columns = ((c, 0.9), (d, 0.8), (e, 0.4))
    both, alone = {c.identity: 1.0, d.identity: 1.0}, {c.identity: 1.0}
    assert scripted(ways, columns, rows=once)[1] == [(alone, None), (both, None)]
    monkeypatch.setattr("colgen.heuristics._LARGE", 3)
    monkeypatch.setattr("colgen.heuristics._ONE_OF", 1)
    found, fixed = scripted(ways, columns, rows=once)
    assert found.objective == 10.0
    assert fixed == [(both, 25)]
    # Without packing rows two columns above one half may cover the same demand.
    assert scripted(ways, columns)[1] == [(alone, None), (both, None)]


def test_a_dive_ends_at_its_limit_of_work():
    assert scripted(WAYS, ((A, 0.9), (B, 0.7)), work=0.0) == (None, [])


class Dive(Diving):
    """A dive that records whether it runs."""

    runs = False

    def search(self, context):
        self.runs = True
        try:
            return super().search(context)
        finally:
            self.runs = False


def test_a_dive_separates_integer_solutions_only():
    dive, inside, outside = Dive(1), [], []

    class Watched(Triples):
        def separate(self, solution):
            (inside if dive.runs else outside).append(solution.is_integral)
            return super().separate(solution)

    class Cut(Partitioning):
        def separation(self):
            return [Watched(self)]

    assert solve(Cut(size=9, seed=4), method=Method(heuristics=(dive,))).is_optimal
    assert inside
    assert all(inside)
    assert not all(outside)


def test_strong_dives_with_discrepancies_end_where_plain_ones_do():
    result = solve(CuttingStock(), method=Method(heuristics=(Diving(discrepancies=2, strong=3),)))
    assert result.is_optimal
    assert result.objective == pytest.approx(453)


def test_a_dive_leaves_small_masters_to_the_program():
    few = SimpleNamespace(master=SimpleNamespace(node=object(), integer=object(), num_columns=9), attempt=0)
    assert Diving(least=10).search(few) is None


@pytest.mark.parametrize("name", ["discrepancies", "levels", "strong"])
def test_parameters_of_a_dive_are_checked(name):
    with pytest.raises(ValueError, match=name):
        Diving(**{name: -1})


def test_heuristics_leave_most_of_the_time_for_the_proof():
    assert fair(10.0, SimpleNamespace(seconds_left=8.0)) == 2.0
    assert fair(10.0, SimpleNamespace(seconds_left=float("inf"))) == 10.0


# --- small programs of a user ----------------------------------------------------------------------------------------


class Rolls(Problem):
    """Cutting stock as users write it: the oracle ignores branching and columns fixed by a dive."""

    objective_step = 1

    def __init__(self, roll, widths, demands, *, exactly=False):
        self.roll, self.widths, self.demands, self.exactly = roll, widths, demands, exactly

    def master(self):
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, len(self.widths) - 1)
        m.unmet = artificial(m.item)

        def demand(m, i):
            return m.unmet[i] == self.demands[i] if self.exactly else m.unmet[i] >= self.demands[i]

        m.demand = pyo.Constraint(m.item, rule=demand)
        m.rolls = pyo.Objective(expr=0)
        return m

    def pricing(self):
        return Knapsack(self)


class Knapsack(OraclePricing):
    cost_bound = 1.0

    def best(self, duals, context):
        p = self.problem
        return bounded_knapsack(np.maximum(duals["demand"], 0.0), p.widths, p.demands, p.roll)[1]

    def encode(self, pattern):
        return Column(1.0, {("demand", i): n for i, n in enumerate(pattern.tolist()) if n}, pattern)


def random_rolls(count, most, seed):
    rng = np.random.default_rng(seed)
    widths = rng.choice(np.arange(60, 400), count, replace=False).tolist()
    return Rolls(1000, widths, rng.integers(1, most + 1, count).tolist())


class Seen(Heuristic):
    """Records the relaxation that it gets."""

    def __init__(self, quick=False):
        self.quick, self.objectives = quick, []

    def search(self, context):
        self.objectives.append(context.relaxation.objective)


def test_columns_are_generated_to_the_end_before_heuristics_though_the_rounded_bound_is_decided():
    problem = random_rolls(20, 10, 0)
    relaxation = solve(problem, relaxation=True).objective
    seen = Seen()
    result = solve(problem, method=Method(heuristics=(seen,)))
    assert result.dual_bound == math.ceil(relaxation - 1e-6)
    assert seen.objectives[0] == pytest.approx(relaxation)


@pytest.mark.parametrize(("count", "most", "seed", "rolls"), [(20, 10, 0, 26), (40, 10, 1, 57), (60, 3, 3, 28)])
def test_random_rolls_are_proved_optimal_without_a_branching_rule(count, most, seed, rolls):
    result = solve(random_rolls(count, most, seed), stop=TimeLimit(60))
    assert result.is_optimal
    assert result.objective == rolls


@pytest.mark.parametrize("seed", range(3))
def test_bins_are_packed_exactly_without_a_branching_rule(seed):
    items = np.random.default_rng(seed).integers(20, 60, 30).tolist()
    result = solve(Rolls(100, items, [1] * len(items), exactly=True), stop=TimeLimit(60))
    assert result.is_optimal


def test_exchanges_find_answers_at_perturbed_dual_values():
    problem = random_rolls(20, 10, 0)
    alone = solve(problem, method=Method(heuristics=(Exchanging(1, steps=20_000),)))
    assert alone.objective <= 27
    assert solve(problem, method=Method(heuristics=(Exchanging(6),))).objective == 26


def test_exchanges_need_integer_columns():
    class Continuous(Knapsack):
        def encode(self, pattern):
            return dataclasses.replace(super().encode(pattern), integer=False)

    class Half(Rolls):
        objective_step = None

        def pricing(self):
            return Continuous(self)

    result = solve(Half(10, [4, 3], [3, 5]), method=Method(heuristics=(Exchanging(2),)))
    assert result.is_optimal
    assert result.objective == solve(Half(10, [4, 3], [3, 5]), relaxation=True).objective


def test_slack_of_the_template_gives_exchanges_room():
    class Loose(Rolls):
        def master(self):
            m = pyo.ConcreteModel()
            m.item = pyo.RangeSet(0, len(self.widths) - 1)
            m.unmet = artificial(m.item)
            m.over = pyo.Var(m.item, bounds=(0, 50))
            m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] - m.over[i] == self.demands[i])
            m.rolls = pyo.Objective(expr=0)
            return m

    rolls = random_rolls(20, 10, 0)
    loose = solve(Loose(rolls.roll, rolls.widths, rolls.demands), method=Method(heuristics=(Exchanging(6),)))
    assert loose.objective == 26


def test_columns_are_generated_to_the_end_before_a_node_is_given_up():
    problem = random_rolls(20, 10, 0)
    relaxation = solve(problem, relaxation=True).objective
    result = solve(problem, method=Method(heuristics=()))
    assert result.termination is Termination.NO_BRANCHING
    assert result.iterations[-1].objective == pytest.approx(relaxation)

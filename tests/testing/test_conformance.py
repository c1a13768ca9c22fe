"""The conformance kit finds nothing in a good problem, and names the cause in problems broken on purpose."""

import dataclasses
import itertools
import re
import zlib
from collections.abc import Sequence

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import (
    Best,
    Bounded,
    Bounding,
    BranchingRule,
    Column,
    Decision,
    LagrangianMaster,
    OnOriginalVariable,
    OraclePricing,
    Pricing,
    PricingResult,
    Problem,
    Row,
    Sense,
    Separation,
    Solution,
    WarmStart,
    artificial,
    solve,
)
from colgen.bounds.bounding import Outcome
from colgen.testing.conformance import ConformanceError, Report, check_problem
from tests import toys
from tests.assignment import Assignment, Knapsack, assignment

GENEROUS = 60.0
"""Seconds: the checks end by themselves long before, and find the same on a busy machine."""


def check(oracle: type[Knapsack] = Knapsack, kind: type[Assignment] = Assignment, seed: int = 1) -> Report:
    """Check an instance whose oracles are of this class."""

    class Checked(kind):
        def pricing(self):
            return [oracle(self, machine) for machine in range(len(self.costs))]

    return check_problem(assignment(2, 4, seed, Checked), seconds=GENEROUS)


def findings(report: Report, kind: str) -> list[str]:
    return [str(finding) for finding in report.findings if finding.kind == kind]


def assert_found(report: Report, kind: str, pattern: str) -> None:
    found = findings(report, kind)
    assert found, report
    assert any(re.search(pattern, message) for message in found), report


class Silent(Knapsack):
    """States no reduced cost of its own, so that nothing but other columns can contradict it."""

    def best(self, duals, context):
        found = super().best(duals, context)
        return None if found is None else found.structure


# --- good problems ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", [Knapsack, Silent])
@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_found_in_a_good_problem(oracle, seed):
    report = check(oracle, seed=seed)
    assert report.ok, report
    assert not report.notes
    assert report.points > 100
    report.raise_if_any()
    assert "nothing found" in str(report)


class CuttingStock(Problem):
    """As the design's first example: maximising the value of patterns would be another problem; here rolls count."""

    objective_step = 1.0

    def __init__(self, roll: int, widths: list[int], demands: list[int]) -> None:
        self.roll, self.widths, self.demands = roll, widths, demands

    def master(self):
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, len(self.widths) - 1)
        m.unmet = artificial(m.item)
        m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= self.demands[i])
        m.rolls = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    def pricing(self):
        return Patterns(self)


class Patterns(OraclePricing):
    cost_bound = 1.0

    def best(self, duals, context):
        problem = self.problem
        ranges = [range(problem.roll // width + 1) for width in problem.widths]
        fitting = [p for p in itertools.product(*ranges) if np.dot(p, problem.widths) <= problem.roll]
        return max(fitting, key=lambda p: self.value(p, duals))

    def value(self, pattern, duals):
        return float(np.dot(pattern, duals["demand"]))

    def encode(self, pattern):
        return Column(1.0, {("demand", i): float(n) for i, n in enumerate(pattern) if n}, pattern)


def test_nothing_is_found_in_cutting_stock():
    report = check_problem(CuttingStock(50, [23, 17, 11], [9, 12, 7]), seconds=GENEROUS)
    assert report.ok, report


@dataclasses.dataclass
class Packing(Problem):
    """max Σ value(s) x_s  subject to  Σ_s [i in s] x_s ≤ 1 [π_i]: sets of at most two of n items, one oracle."""

    values: dict[tuple[int, ...], float]
    items: int

    def master(self):
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, self.items - 1)
        m.unused = pyo.Var(m.item, domain=pyo.NonNegativeReals)
        m.once = pyo.Constraint(m.item, rule=lambda m, i: m.unused[i] == 1)
        m.value = pyo.Objective(expr=0, sense=pyo.maximize)
        return m

    def pricing(self):
        return Sets(self)


class Sets(OraclePricing):
    sign = -1.0

    def best(self, duals, context):
        return max(self.problem.values, key=lambda s: self.value(s, duals, context))

    def value(self, items, duals, context):
        return context.cost_weight * self.problem.values[items] + self.sign * duals["once"][list(items)].sum()

    def encode(self, items):
        return Column(self.problem.values[items], {("once", i): 1.0 for i in items}, items)


def packing(oracle: type[Sets] = Sets) -> Packing:
    rng = np.random.default_rng(5)
    sets = [s for k in (1, 2) for s in itertools.combinations(range(5), k)]

    class Checked(Packing):
        def pricing(self):
            return oracle(self)

    return Checked({s: float(rng.integers(1, 20)) for s in sets}, 5)


def test_nothing_is_found_where_the_objective_is_maximised():
    report = check_problem(packing(), seconds=GENEROUS)
    assert report.ok, report


# --- reduced costs ---------------------------------------------------------------------------------------------------


def test_wrong_sign_of_all_duals():
    class Wrong(Silent):
        def value(self, tasks, duals, context):
            return super().value(tasks, duals.replace(-duals.values), context)

    assert_found(check(Wrong), "sign", "duals of the opposite sign")


def test_wrong_sign_of_all_duals_where_they_must_be_nonnegative():
    class Wrong(Patterns):
        def value(self, pattern, duals):
            return -super().value(pattern, duals)

    class Broken(CuttingStock):
        def pricing(self):
            return Wrong(self)

    report = check_problem(Broken(50, [23, 17, 11], [9, 12, 7]), seconds=GENEROUS)
    assert_found(report, "sign", "duals of the opposite sign")


def test_wrong_sign_where_the_objective_is_maximised():
    class Wrong(Sets):
        sign = 1.0

    assert_found(
        check_problem(packing(Wrong), seconds=GENEROUS), "sign", "c_j - πᵀa_j when minimising and when maximising"
    )


def test_wrong_sign_of_one_block_of_duals_in_a_stated_reduced_cost():
    class Wrong(Knapsack):
        def value(self, tasks, duals, context):
            return super().value(tasks, duals, context) + 2 * duals["use", self.machine]

    assert_found(check(Wrong), "reduced cost", "the dual values of block 'use' had the opposite sign")


def test_a_block_of_duals_left_out():
    class Wrong(Knapsack):
        def value(self, tasks, duals, context):
            return super().value(tasks, duals, context) + duals["use", self.machine]

    assert_found(check(Wrong), "reduced cost", "the dual values of block 'use' were zero")


@pytest.mark.parametrize("base", [Knapsack, Silent])
def test_wrong_cost_of_a_column(base):
    class Wrong(base):
        def encode(self, structure):
            column = super().encode(structure)
            return dataclasses.replace(column, cost=column.cost + 7.0 * (len(structure[1]) > 1))

    if base is Knapsack:
        assert_found(
            check(Wrong),
            "reduced cost",
            r"the cost alone accounts for it: the column of .* says \S+, the oracle counts",
        )
    else:
        assert_found(check(Wrong), "not exact", r"encode\(\) does not write down what best\(\) optimises")


@pytest.mark.parametrize("base", [Knapsack, Silent])
def test_wrong_coefficients_of_a_column(base):
    class Wrong(base):
        def encode(self, structure):
            column = super().encode(structure)
            rows = {key: 2.0 if key == ("assign", 1) else value for key, value in column.coefficients.items()}
            return dataclasses.replace(column, coefficients=rows)

    if base is Knapsack:
        assert_found(
            check(Wrong), "reduced cost", r"in row \('assign', 1\) the column of .* says 2, the oracle counts 1"
        )
    else:
        assert_found(check(Wrong), "not exact", "where only dual values of 'assign' are not zero")


@pytest.mark.parametrize("base", [Knapsack, Silent])
def test_cost_weight_ignored(base):
    class Wrong(base):
        def value(self, tasks, duals, context):
            return super().value(tasks, duals, dataclasses.replace(context, cost_weight=1.0))

    kind = "reduced cost" if base is Knapsack else "cost weight"
    assert_found(check(Wrong), kind, "multiply costs by context.cost_weight")


# --- claims ----------------------------------------------------------------------------------------------------------


def test_claim_of_exactness_that_is_not_true():
    class Greedy(Knapsack):
        def best(self, duals, context):
            rng = np.random.default_rng(zlib.crc32(duals.values.tobytes()))  # not hash(), which differs from run to run
            some = [s for s in self.sets() if rng.random() < 0.5 and self.allowed(s, context)] or [()]
            best = min(some, key=lambda s: self.value(s, duals, context))
            return (self.machine, best)

    # The engine's own check of exactness comes first: the kit reports what it says.
    assert_found(check(Greedy), "diagnostic", r"OracleBeatenError: .* it is not exact")


def test_a_formula_by_which_all_columns_are_alike_explains_nothing():
    # The engine stops in phase 1: without the duals of 'assign' every column would cost the same there.
    class Greedy(Knapsack):
        def best(self, duals, context):
            own = self.problem
            gains = duals["assign"] - context.cost_weight * own.costs[self.machine]
            tasks, room = [], own.capacities[self.machine]
            for task in np.argsort(-gains / own.sizes[self.machine]).tolist():
                if gains[task] > 0 and own.sizes[self.machine][task] <= room:
                    tasks.append(task)
                    room -= own.sizes[self.machine][task]
            return Best((self.machine, tuple(tasks)), -gains[tasks].sum() - duals["use", self.machine])

    report = check(Greedy)
    assert not findings(report, "row left out"), report
    assert_found(report, "not exact", "either best.. is not exact")


def test_a_heuristic_that_claims_nothing_is_no_mistake():
    class Heuristic(Knapsack):
        exact = False

    report = check(Heuristic)
    assert report.ok, report
    assert any("no oracle stated a bound" in note for note in report.notes)


def test_cost_bound_that_does_not_hold():
    class Wrong(Knapsack):
        cost_bound = 30.0

    assert_found(check(Wrong), "cost bound", "Farley's bound would be wrong")


def test_oracle_that_is_not_deterministic():
    class Wrong(Knapsack):
        calls = 0

        def best(self, duals, context):
            type(self).calls += 1
            found = super().best(duals, context)
            return (self.machine, ()) if self.calls % 3 == 0 and found is not None else found

    assert_found(check(Wrong), "not deterministic", "random numbers, the order of a set")


# --- columns ---------------------------------------------------------------------------------------------------------


def test_coefficient_in_an_unknown_row():
    class Wrong(Knapsack):
        def encode(self, structure):
            column = super().encode(structure)
            return dataclasses.replace(column, coefficients={**column.coefficients, ("asign", 0): 1.0})

    assert_found(check(Wrong), "unknown row", r"\('asign', 0\).*its blocks are: assign, use")


def test_column_that_is_not_finite():
    class Wrong(Knapsack):
        def encode(self, structure):
            return dataclasses.replace(super().encode(structure), cost=float("nan"))

    assert_found(check(Wrong), "diagnostic", "costs nan, expected a finite number")


def test_coefficient_that_is_not_finite():
    class Wrong(Knapsack):
        def encode(self, structure):
            column = super().encode(structure)
            return dataclasses.replace(column, coefficients=dict.fromkeys(column.coefficients, float("inf")))

    assert_found(check(Wrong), "not finite", r"has inf in row \('assign', ")


def test_two_columns_of_one_key():
    class Wrong(Knapsack):
        def encode(self, structure):
            return dataclasses.replace(super().encode(structure), key=("column", (self.machine, len(structure[1]))))

    assert_found(check(Wrong), "key", "two different columns share the key")


def test_columns_that_share_a_dictionary():
    class Wrong(Silent):
        def __init__(self, problem, machine):
            super().__init__(problem, machine)
            self.rows = {}

        def best(self, duals, context):
            self.problem_sets = [s for s in self.sets() if Knapsack.allowed(Fresh(self), s, context)]
            best = min(self.problem_sets, key=lambda s: self.value(s, duals, context), default=None)
            return None if best is None else (self.machine, best)

        def encode(self, structure):
            column = super().encode(structure)
            self.rows.clear()
            self.rows.update(column.coefficients)
            return dataclasses.replace(column, coefficients=self.rows)

    class Fresh(Knapsack):
        def __init__(self, other):
            super().__init__(other.problem, other.machine)

    assert_found(check(Wrong), "mutation", "a dictionary of coefficients of its own")


def test_oracle_that_writes_into_the_problem():
    class Wrong(Knapsack):
        def best(self, duals, context):
            self.problem.sizes[self.machine].sort()
            return super().best(duals, context)

    assert_found(check(Wrong, seed=3), "mutation", "the attribute 'sizes' of the problem changed")


# --- branching -------------------------------------------------------------------------------------------------------


def test_decisions_ignored():
    class Wrong(Knapsack):
        def allowed(self, tasks, context):
            return True

    assert_found(check(Wrong), "decisions", r"which the branching decision .* forbids")


def test_duals_of_branching_rows_ignored():
    class Wrong(Silent):
        def value(self, tasks, duals, context):
            paid = sum(duals.get(("branch", (self.machine, task))) for task in tasks)
            return super().value(tasks, duals, context) + paid

    assert_found(check(Wrong), "decisions", r"dual values of its rows \(\('branch'")


def test_children_that_lose_answers():
    class Wrong(OnOriginalVariable):
        def branch(self, solution):
            return super().branch(solution)[:1]

    class Broken(Assignment):
        def branching(self):
            return [Wrong(lambda column: {(column.structure[0], t): 1.0 for t in column.structure[1]})]

    assert_found(check(kind=Broken), "branching", "together they must keep every answer")


# --- the problem's other methods -------------------------------------------------------------------------------------


def test_answer_that_fails():
    class Broken(Assignment):
        def answer(self, solution):
            return {"first": solution.columns[99]}

    assert_found(check(kind=Broken), "answer", r"answer\(\): raised IndexError")


def test_objective_step_that_contradicts_the_costs():
    problem = assignment(2, 5, 1)
    problem.costs += 0.3
    assert_found(check_problem(problem, seconds=GENEROUS), "objective step", "is not a multiple of it")


def test_separated_row_that_cuts_off_an_answer():
    class Wrong(Separation):
        def separate(self, solution):
            if all(abs(value - round(value)) < 1e-6 for _, value in solution.columns):
                return []
            used = sum(value for column, value in solution.columns if column.cost)
            return [Row(("few", None), upper=used - 1.0, coefficient=lambda column: float(column.cost > 0))]

    class Broken(Assignment):
        def separation(self):
            return [Wrong()]

        def warm_start(self, budget):
            return WarmStart(answers=tuple(self.known()))

        def known(self):
            oracles = self.pricing()
            for tasks in itertools.product(range(len(oracles)), repeat=self.costs.shape[1]):
                mine = [tuple(t for t, j in enumerate(tasks) if j == machine) for machine in range(len(oracles))]
                if all(s in oracle.sets() for s, oracle in zip(mine, oracles, strict=True)):
                    columns = [oracle.encode((k, s)) for k, (s, oracle) in enumerate(zip(mine, oracles, strict=True))]
                    yield Solution(sum(c.cost for c in columns), tuple((c, 1.0) for c in columns))
                    return

    report = check_problem(assignment(3, 6, 52, Broken), seconds=GENEROUS)
    assert_found(report, "separation", r"the row \('few', None\) cuts off an answer")


def test_parts_that_fail():
    class Broken(Assignment):
        def branching(self):
            raise TypeError("no rule")

    report = check_problem(assignment(2, 4, 0, Broken), seconds=GENEROUS)
    assert_found(report, "parts", r"Broken\.branching\(\): raised TypeError: no rule")


# --- whole runs ------------------------------------------------------------------------------------------------------


class Filled(Pricing):
    """Chooses a subset of numbers of largest total at most a limit; the bound fills what is left in fractions."""

    def __init__(self, problem):
        self.problem = problem

    multiplicity = 1.0

    def price(self, duals, context):
        numbers, chosen = self.problem.numbers, [decision.taken for decision in context.decisions]
        room = self.problem.limit - sum(n for n, taken in zip(numbers, chosen, strict=False) if taken)
        if room < 0:
            return PricingResult(bound=context.sense.hopeless)
        worth = self.problem.limit - room
        bound = worth + min(room, sum(numbers[len(chosen) :])) * self.problem.optimism
        whole = [Solution(worth, ((Column(worth, {}, structure=tuple(chosen)), 1.0),))]
        return PricingResult(bound=bound, answers=whole if len(chosen) == len(numbers) else [])


class Decided(Bounding):
    """Branches on the next number: the oracle's bound is all that is known."""

    def bound(self, node, parts):
        chosen = tuple(decision.taken for decision in node.decisions)
        solution = Solution(0.0, ((Column(0.0, {}, structure=chosen), 0.5),))
        return Bounded(Outcome.SOLVED, 0.0, solution=solution)


class Next(BranchingRule):
    def branch(self, solution):
        place = len(solution.columns[0][0].structure)
        return [[Taken(place, True)], [Taken(place, False)]]


class Taken(Decision):
    def __init__(self, place, taken):
        self.place, self.taken = place, taken

    def allows(self, column):
        return len(column.structure) > self.place and column.structure[self.place] == self.taken


class Subset(Problem):
    def __init__(self, optimism=1.0):
        self.numbers, self.limit, self.optimism = (7.0, 5.0, 4.0, 3.0), 12.5, optimism

    def restricted_master(self):
        return LagrangianMaster(Sense.MAXIMIZE)

    def pricing(self):
        return Filled(self)

    def bounding(self):
        return Decided()

    def branching(self):
        return [Next()]

    def check(self, answer):
        return answer[0][0] and float(sum(n for n, taken in zip(self.numbers, answer[0][0], strict=True) if taken))


def test_a_bounding_of_ones_own_is_checked_by_whole_runs():
    report = check_problem(Subset(), seconds=GENEROUS)
    assert report.ok, report
    assert report.notes == ("the problem bounds its nodes itself: only whole runs were checked",)


def test_an_oracle_whose_bound_is_too_low_is_found():
    report = check_problem(Subset(optimism=0.2), seconds=GENEROUS)
    assert not report.ok


def test_a_bounding_that_fails_is_told():
    class Failing(Subset):
        def bounding(self):
            raise ZeroDivisionError("no bound")

    assert_found(check_problem(Failing(), seconds=GENEROUS), "exception", r"Failing, solve\(queue=.*no bound")


def guessing(factor: float, objective: float) -> type[Assignment]:
    """Assignments from the dual values of 2 x 4 tasks, seed 1, times a factor, and an answer so much worse."""

    class Guessing(Assignment):
        def warm_start(self, budget):
            best, relaxed = solve(assignment(2, 4, 1)), solve(assignment(2, 4, 1), relaxation=True)
            duals = {}
            for (block, _), value in relaxed.certificate.duals.items():
                duals.setdefault(block, []).append(factor * value)
            return WarmStart(duals, [dataclasses.replace(best.solution, objective=best.objective + objective)])

    return Guessing


@pytest.mark.parametrize(
    ("factor", "objective", "expected"),
    [(1.0, 0.0, None), (-3.0, 0.0, None), (1.0, -5.0, r"InfeasibleAnswerError: .*warm_start")],
)
def test_guesses_are_checked(factor, objective, expected):
    report = check(kind=guessing(factor, objective))
    if expected is None:
        assert report.ok, report
        assert report.points > 0  # the engine was run, though the guess is the optimum
    else:
        assert_found(report, "diagnostic", expected)


def test_a_bound_that_is_wrong_at_the_guessed_dual_values_is_found():
    class Hasty(toys.CuttingStock):
        def warm_start(self, budget):
            return WarmStart({"demand": [0.6] * 4})

        def pricing(self):
            oracle = super().pricing()
            price = oracle.price

            def hasty(duals, context):
                found = price(duals, context)
                return found if list(duals["demand"]) != [0.6] * 4 else PricingResult(bound=0.0)

            oracle.price = hasty
            return oracle

    assert not check_problem(Hasty(), seconds=GENEROUS).ok


def test_raise_if_any_raises_the_report():
    class Broken(Assignment):
        def answer(self, solution: object) -> Sequence[object]:
            raise ValueError("no words for it")

    report = check(kind=Broken)
    with pytest.raises(ConformanceError, match="no words for it"):
        report.raise_if_any()

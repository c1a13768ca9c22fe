"""Small problems of many kinds: correct ones, and one for each common mistake.

Every correct problem lists its columns, and its oracle is exact by enumeration.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass

import numpy as np
import pyomo.environ as pyo

from colgen import (
    NO_STRUCTURE,
    Best,
    Column,
    Method,
    OnOriginalVariable,
    OnTemplateVariable,
    OraclePricing,
    Pricing,
    PricingResult,
    Problem,
    RestrictedMIP,
    Row,
    RyanFoster,
    Separation,
    Solution,
    Stages,
    WarmStart,
    artificial,
)

TRIPLE = "triple"


# --- set partitioning with cuts --------------------------------------------------------------------------------------


@dataclass
class Partitioning(Problem):
    """Partition ``range(size)`` into sets of at most three at minimum cost or maximum worth, with triple cuts.

    Cuts are rows ``Σ_s ⌊|s ∩ t| / 2⌋ x_s ≤ 1`` for three items t, given as functions of the column.  Branching is by
    Ryan and Foster's rule.
    """

    size: int = 5
    seed: int = 0
    maximize: bool = False
    scale: float = 1.0
    cuts: bool = True
    cover: bool = False
    """Rows ``≥ 1`` instead of ``= 1`` when minimising, ``≤ 1`` when maximising."""
    oracle: type[Listed] | None = None

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        members = [s for k in (1, 2, 3) for s in itertools.combinations(range(self.size), k)]
        # Pairs are cheap for their size, so the relaxation covers three items by half of each of their pairs.
        each = {1: 10.0, 2: 11.0, 3: 19.0}
        sign = -1.0 if self.maximize else 1.0
        worth = 25.0 if self.maximize else 0.0
        self.costs = {
            s: self.scale * (worth * len(s) + sign * (each[len(s)] + float(rng.integers(0, 3)))) for s in members
        }

    def master(self):
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, self.size - 1)
        m.alone = artificial(m.item)
        low, high = 1, 1
        if self.cover:
            low, high = (None, 1) if self.maximize else (1, None)
        m.cover = pyo.Constraint(m.item, rule=lambda m, i: (low, m.alone[i], high))
        m.cost = pyo.Objective(expr=0, sense=pyo.maximize if self.maximize else pyo.minimize)
        return m

    def pricing(self):
        return [(self.oracle or Listed)(self)]

    def separation(self):
        return [Triples(self)] if self.cuts else []

    def branching(self):
        # Ryan and Foster's rule needs rows that are covered exactly once.
        return [OnOriginalVariable(lambda column: {column.structure: 1.0})] if self.cover else [RyanFoster("cover")]

    def method(self):
        return Method(heuristics=(RestrictedMIP(seconds=1.0),))


class Triples(Separation):
    def __init__(self, problem):
        triples = [frozenset(t) for t in itertools.combinations(range(problem.size), 3)]
        self.rows = [Row((TRIPLE, t), upper=1.0, coefficient=Halved(t)) for t in triples] if self.valid(problem) else []

    @staticmethod
    def valid(problem):
        return not problem.cover or problem.maximize

    def separate(self, solution):
        def excess(row):
            return sum(row.coefficient(column) * value for column, value in solution.columns) - row.upper

        return [row for row in self.rows if excess(row) > 1e-6][:3]


@dataclass(frozen=True)
class Halved:
    """Return ``⌊|s ∩ t| / 2⌋`` of a column with the set s."""

    triple: frozenset

    def __call__(self, column):
        return float(len(self.triple.intersection(column.structure)) // 2)


class Listed(OraclePricing):
    """Finds the best set by enumeration, with reduced costs that include cuts and branching rows."""

    @property
    def multiplicity(self):
        return float(self.problem.size)

    def sets(self):
        return self.problem.costs

    def cost(self, items):
        return self.problem.costs[items]

    def value(self, items, duals, context):
        paid = sum(duals["cover", i] for i in items) + self.cuts(items, duals) + self.branches(items, duals)
        return context.cost_weight * self.cost(items) - paid

    def cuts(self, items, duals):
        # A dual value of a row ≤ can only worsen a column; values of the other sign are ignored.
        signs = -1.0 if not self.problem.maximize else 1.0
        return sum(
            dual * (len(triple.intersection(items)) // 2) for triple, dual in duals.items(TRIPLE) if signs * dual > 0.0
        )

    def branches(self, items, duals):
        return duals.get(("branch", items))

    def allowed(self, context):
        return [s for s in self.sets() if context.allows(self.encode(s))]

    def best(self, duals, context):
        found = self.allowed(context)
        if not found:
            return NO_STRUCTURE
        best = min(found, key=lambda s: context.sense.sign * self.value(s, duals, context))
        return Best(best, self.value(best, duals, context))

    def encode(self, items):
        return Column(self.problem.costs[items], {("cover", i): 1.0 for i in items}, items)


class Silent(Listed):
    """Returns a structure without its reduced cost."""

    def best(self, duals, context):
        found = super().best(duals, context)
        return found if found is NO_STRUCTURE else found.structure


class Bounding(Listed):
    """Returns several columns and a bound without reduced costs."""

    def price(self, duals, context):
        order = sorted(self.allowed(context), key=lambda s: context.sense.sign * self.value(s, duals, context))
        if not order:
            return PricingResult(bound=context.sense.hopeless)
        return PricingResult([self.encode(s) for s in order[:2]], self.value(order[0], duals, context))

    def best(self, duals, context):
        raise NotImplementedError


class Arrays(Listed):
    """Returns the reduced costs of all its columns as an array."""

    def price(self, duals, context):
        order = sorted(self.allowed(context), key=lambda s: context.sense.sign * self.value(s, duals, context))[:3]
        values = np.array([self.value(s, duals, context) for s in order])
        bound = values[0] if len(values) else context.sense.hopeless
        return PricingResult([self.encode(s) for s in order], bound, values)


class Relaxing(Listed):
    """Returns the bound of a relaxation, which is valid but too weak for a proof."""

    def price(self, duals, context):
        found = super().price(duals, context)
        spread = 0.1 * sum(abs(duals["cover", i]) for i in range(self.problem.size)) + 0.01 * self.problem.scale
        return PricingResult(found.columns, found.bound - context.sense.sign * spread)


class Guess(Listed):
    """Heuristic without bound: the best of half of the sets."""

    exact = False

    def sets(self):
        return list(self.problem.costs)[::2]


class Staged(Listed):
    """The heuristic first, then the exact oracle."""

    def __new__(cls, problem):
        return Stages(Guess(problem), Listed(problem))


class Improving(Listed):
    """Returns a column only if it improves."""

    def price(self, duals, context):
        found = super().price(duals, context)
        if found.columns and not context.improves(found.reduced_costs[0]):
            return PricingResult(bound=found.bound)
        return found


class Totals(Listed):
    """Returns the total over its columns in a solution instead of a multiplicity."""

    multiplicity = math.inf

    def price(self, duals, context):
        found = super().price(duals, context)
        best = found.bound if found.columns else context.sense.hopeless
        sign = context.sense.sign
        return dataclasses.replace(found, total=sign * min(0.0, sign * best) * self.problem.size)


class Remembering(Partitioning):
    """Caches columns and counts calls in public attributes."""

    def __post_init__(self):
        super().__post_init__()
        self.known = {}
        self.calls = 0
        self.oracle = Memo


class Memo(Listed):
    def encode(self, items):
        self.problem.calls += 1
        return self.problem.known.setdefault(items, super().encode(items))


# --- facilities: template variables, columns that add rows -----------------------------------------------------------


@dataclass
class Facilities(Problem):
    """Facility location: the column of customer i and facility j adds the row ``x_ij ≤ y_j``.

    ``y_j`` is a template variable.  A cut over template variables requires two open facilities.
    """

    customers: int = 4
    places: int = 3
    seed: int = 0
    scale: float = 1.0
    oracle: type | None = None

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        self.opening = self.scale * rng.integers(5, 9, self.places).astype(float)
        self.distances = self.scale * rng.integers(1, 9, (self.customers, self.places)).astype(float)

    def master(self):
        m = pyo.ConcreteModel()
        m.open = pyo.Var(range(self.places), domain=pyo.Binary)
        m.unserved = artificial(range(self.customers))
        m.serve = pyo.Constraint(range(self.customers), rule=lambda m, i: m.unserved[i] == 1)
        m.some = pyo.Constraint(expr=sum(m.open[j] for j in range(self.places)) <= self.places - 1)
        m.cost = pyo.Objective(expr=sum(self.opening[j] * m.open[j] for j in range(self.places)))
        return m

    def pricing(self):
        return [(self.oracle or Serving)(self, j) for j in range(self.places)]

    def separation(self):
        return [TwoOpen(self)]

    def branching(self):
        return [OnTemplateVariable()]


class TwoOpen(Separation):
    """Separates a row over template variables that requires two open facilities."""

    def __init__(self, problem):
        share = {("open", j): 1.0 for j in range(problem.places)}
        self.row = Row(("two", None), lower=1.0, coefficients=share)

    def separate(self, solution):
        opened = sum(value for key, value in solution.variables.items() if key[0] == "open")
        return [self.row] if opened < 1.0 - 1e-6 else []


class Serving(Pricing):
    """Finds the best customer for one facility."""

    def __init__(self, problem, place):
        self.problem, self.place = problem, place
        self.multiplicity = float(problem.customers)

    def price(self, duals, context):
        j = self.place
        values = {
            i: context.cost_weight * self.problem.distances[i, j] - duals["serve", i] - duals.get(("link", (i, j)))
            for i in range(self.problem.customers)
        }
        best = min(values, key=values.get)
        return PricingResult([self.column(best)], values[best], [values[best]])

    def column(self, i):
        j = self.place
        link = Row(("link", (i, j)), upper=0.0, coefficients={("open", j): -1.0})
        return Column(
            float(self.problem.distances[i, j]),
            {("serve", i): 1.0, link.key: 1.0},
            (i, j),
            ("x", (i, j)),
            rows=(link,),
        )


# --- ranges ----------------------------------------------------------------------------------------------------------


@dataclass
class Ranges(Problem):
    """Blending: each of three substances within a range, from blends of two suppliers with limits."""

    maximize: bool = False
    scale: float = 1.0
    unit: float = 1.0
    """Unit of the rows."""
    seed: int = 0
    oracle: type | None = None

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        self.blends = [list(itertools.product(range(3), repeat=3))[1:] for _ in range(2)]
        self.prices = [{b: self.scale * (2.0 + sum(b) + float(rng.random())) for b in blends} for blends in self.blends]

    def master(self):
        m = pyo.ConcreteModel()
        rows = range(3)
        m.missing = artificial(rows)
        m.store = pyo.Var(rows, bounds=(0, 1))  # bought elsewhere
        m.amount = pyo.Constraint(
            rows, rule=lambda m, i: (4 * self.unit, m.missing[i] + self.unit * m.store[i], 7.5 * self.unit)
        )
        m.idle = pyo.Var(range(2), domain=pyo.NonNegativeReals)
        m.limit = pyo.Constraint(range(2), rule=lambda m, k: m.idle[k] == 4)
        sign = -1.0 if self.maximize else 1.0
        price = sum(9.0 * self.scale * sign * m.store[i] for i in rows)
        m.cost = pyo.Objective(expr=price, sense=pyo.maximize if self.maximize else pyo.minimize)
        return m

    def pricing(self):
        return [(self.oracle or Blends)(self, k) for k in range(2)]

    def branching(self):
        return [OnOriginalVariable(lambda column: {column.structure: 1.0})]


class Blends(OraclePricing):
    multiplicity = 4.0

    def __init__(self, problem, number):
        super().__init__(problem)
        self.number = number

    @property
    def cost_bound(self):
        prices = self.problem.prices[self.number].values()
        return max(prices) if self.problem.maximize else min(prices)

    def value(self, blend, duals, context):
        own = context.cost_weight * self.problem.prices[self.number][blend]
        # The slack of the limit costs nothing, so its dual value has a fixed sign.
        use = duals["limit", self.number]
        use = max(use, 0.0) if self.problem.maximize else min(use, 0.0)
        branch = duals.get(("branch", (self.number, blend)))
        return own - self.problem.unit * float(np.dot(blend, duals["amount"])) - use - branch

    def best(self, duals, context):
        found = [b for b in self.problem.blends[self.number] if context.allows(self.encode((self.number, b)))]
        if not found:
            return NO_STRUCTURE
        best = min(found, key=lambda b: context.sense.sign * self.value(b, duals, context))
        return Best((self.number, best), self.value(best, duals, context))

    def encode(self, structure):
        number, blend = structure
        rows = {("amount", i): self.problem.unit * float(n) for i, n in enumerate(blend) if n}
        return Column(self.problem.prices[number][blend], {**rows, ("limit", number): 1.0}, structure)


# --- mistakes --------------------------------------------------------------------------------------------------------

MISTAKES = []


def wrong_oracle(kind, pattern, base=Partitioning, **settings):
    """Register a wrong oracle in an otherwise correct problem, with the expected finding."""

    def register(oracle):
        def make():
            return base(oracle=oracle, **settings)

        make.__name__ = oracle.__name__
        make.expected = (kind, pattern)
        MISTAKES.append(make)
        return oracle

    return register


def wrong_problem(kind, pattern):
    """Register a wrong problem with the expected finding."""

    def register(problem):
        def make():
            return problem()

        make.__name__ = problem.__name__
        make.expected = (kind, pattern)
        MISTAKES.append(make)
        return problem

    return register


@wrong_oracle("reduced cost", r"duals of the opposite sign.*as if block 'cover' were counted with the opposite sign")
class SignStated(Listed):
    def value(self, items, duals, context):
        return super().value(items, duals, context) + 2 * sum(duals["cover", i] for i in items)


@wrong_oracle("sign", "duals of the opposite sign", cuts=False)
class SignSilent(Silent):
    def value(self, items, duals, context):
        return super().value(items, duals, context) + 2 * sum(duals["cover", i] for i in items)


@wrong_oracle("sign", "had the opposite sign|duals of the opposite sign", cover=True)
class SignWhereOneIsImpossible(Silent):
    def value(self, items, duals, context):
        return super().value(items, duals, context) + 2 * sum(duals["cover", i] for i in items)


@wrong_oracle("reduced cost", "as if the cost were left out", maximize=True)
class CostForgotten(Listed):
    def cost(self, items):
        return 0.0


@wrong_oracle("cost", "columns cost nothing", scale=1e-9)
class CostForgottenSilentlyAtASmallScale(Silent):
    def cost(self, items):
        return 0.0


@wrong_oracle("cost", "columns cost nothing", scale=1e9)
class CostForgottenSilentlyAtALargeScale(Silent):
    def cost(self, items):
        return 0.0


@wrong_oracle("reduced cost", "the cost alone explains it")
class CostWrongInTheColumn(Listed):
    def encode(self, items):
        column = super().encode(items)
        return dataclasses.replace(column, cost=column.cost + 2.0 * (len(items) == 2))


@wrong_oracle("reduced cost", "the cost alone explains it", scale=1e-9)
class CostWrongInTheColumnAtASmallScale(Listed):
    def encode(self, items):
        column = super().encode(items)
        return dataclasses.replace(column, cost=column.cost * (1.2 if len(items) == 2 else 1.0))


@wrong_oracle("reduced cost", r"one coefficient explains it: in row \('cover', 1\)")
class CoefficientWrong(Listed):
    def encode(self, items):
        column = super().encode(items)
        rows = {key: 2.0 if key == ("cover", 1) else a for key, a in column.coefficients.items()}
        return dataclasses.replace(column, coefficients=rows)


@wrong_oracle("reduced cost", r"one coefficient explains it: in row \('cover', 2\)")
class CoefficientWrongInAnArray(Arrays):
    def encode(self, items):
        column = super().encode(items)
        rows = {key: 3.0 if key == ("cover", 2) else a for key, a in column.coefficients.items()}
        return dataclasses.replace(column, coefficients=rows)


@wrong_oracle("reduced cost", r"states 4 reduced costs for 3 columns")
class MoreReducedCostsThanColumns(Arrays):
    def price(self, duals, context):
        found = super().price(duals, context)
        return dataclasses.replace(found, reduced_costs=[*found.reduced_costs, 0.0])


@wrong_oracle("reduced cost", r"multiply costs by context\.cost_weight")
class WeightIgnored(Listed):
    def value(self, items, duals, context):
        return super().value(items, duals, dataclasses.replace(context, cost_weight=1.0))


@wrong_oracle("cost weight", r"multiply costs by context\.cost_weight", scale=100.0)
class WeightIgnoredSilently(Silent):
    def value(self, items, duals, context):
        return super().value(items, duals, dataclasses.replace(context, cost_weight=1.0))


@wrong_oracle("row left out", r"dual values of block 'triple' were zero.*never equals the master's objective")
class CutsForgottenInABound(Bounding):
    def cuts(self, items, duals):
        return 0.0


@wrong_oracle("row left out", r"dual values of block 'triple' were zero", maximize=True, seed=1)
class CutsForgottenInABoundMaximised(Bounding):
    def cuts(self, items, duals):
        return 0.0


@wrong_oracle("reduced cost", r"dual values of block 'triple' were zero.*as if block 'triple' were left out")
class CutsForgottenInAStatedReducedCost(Listed):
    def cuts(self, items, duals):
        return 0.0


@wrong_oracle("row left out", r"dual values of block 'triple' were zero")
class CutsForgottenInTheChoice(Silent):
    def cuts(self, items, duals):
        return 0.0


@wrong_oracle("decisions", r"dual values of its rows \(\('branch'", cover=True, maximize=True, seed=2, cuts=False)
class BranchingRowsForgotten(Silent):
    def branches(self, items, duals):
        return 0.0


@wrong_oracle("decisions", r"which the branching decision .* forbids")
class DecisionsIgnored(Listed):
    def allowed(self, context):
        return list(self.sets())


@wrong_oracle("not exact", r"either best\(\) is not exact|encode\(\) does not match")
class NotExact(Listed):
    """Returns the first pair if one item has a much larger dual value than another."""

    def best(self, duals, context):
        found = super().best(duals, context)
        if found is not None and duals["cover", 0] > duals["cover", 2] + 3.0 and context.allows(self.encode((0, 1))):
            return Best((0, 1), self.value((0, 1), duals, context))
        return found


@wrong_oracle("cost bound", "Farley's bound would be wrong")
class CostBoundTooTight(Listed):
    cost_bound = 11.5


@wrong_oracle("multiplicity", "uses at most 1 of its columns, but the answer")
class MultiplicityTooSmall(Guess):
    multiplicity = 1.0


@wrong_oracle("multiplicity", "states that an answer uses at most 1")
class MultiplicityTooSmallForTheRelaxation(Listed):
    multiplicity = 1.0


@wrong_oracle("diagnostic", "InvalidBoundError")
class BoundNotANumber(Listed):
    def price(self, duals, context):
        return dataclasses.replace(super().price(duals, context), bound=math.nan)


@wrong_oracle("total", "sum to at best")
class TotalTooGood(Guess):
    multiplicity = math.inf

    def price(self, duals, context):
        return dataclasses.replace(super().price(duals, context), total=context.sense.sign * -1e-3)


@wrong_oracle("not deterministic", "check for random numbers")
class Undecided(Silent):
    calls = 0

    def best(self, duals, context):
        type(self).calls += 1
        found = super().best(duals, context)
        return (0,) if self.calls % 3 == 0 and context.allows(self.encode((0,))) else found


@wrong_oracle("unknown row", r"\('covr', 0\).*its blocks are: cover")
class RowUnknown(Listed):
    def encode(self, items):
        column = super().encode(items)
        return dataclasses.replace(column, coefficients={**column.coefficients, ("covr", 0): 1.0})


@wrong_oracle("diagnostic", "costs inf, expected a finite number")
class CostNotFinite(Listed):
    def encode(self, items):
        return dataclasses.replace(super().encode(items), cost=math.inf)


@wrong_oracle("diagnostic", "has the bounds 2 and 1, expected lower ≤ upper")
class BoundsOfNothing(Listed):
    def encode(self, items):
        return dataclasses.replace(super().encode(items), lower=2, upper=1)


@wrong_oracle("not finite", r"has nan in row \('cover'")
class CoefficientNotFinite(Listed):
    def encode(self, items):
        column = super().encode(items)
        return dataclasses.replace(column, coefficients=dict.fromkeys(column.coefficients, math.nan))


@wrong_oracle("key", "two different columns share the key")
class KeysShared(Listed):
    def encode(self, items):
        return dataclasses.replace(super().encode(items), key=("set", len(items)))


@wrong_oracle("key", r"the key \('open', 0\) of a variable of the template", Facilities)
class KeyOfATemplateVariable(Serving):
    def column(self, i):
        return dataclasses.replace(super().column(i), key=("open", self.place))


@wrong_oracle("mutation", "its own dictionary of coefficients")
class DictionaryShared(Silent):
    def __init__(self, problem):
        super().__init__(problem)
        self.rows = {}

    def allowed(self, context):
        return [s for s in self.sets() if context.allows(Listed(self.problem).encode(s))]

    def encode(self, items):
        self.rows.clear()
        self.rows.update(super().encode(items).coefficients)
        return dataclasses.replace(super().encode(items), coefficients=self.rows)


@wrong_oracle("mutation", "the attribute 'costs' of the problem changed")
class WritesIntoTheProblem(Listed):
    def best(self, duals, context):
        self.problem.costs[0, 1] = 7.0
        return super().best(duals, context)


@wrong_oracle("exception", "raised ZeroDivisionError")
class Raises(Listed):
    def best(self, duals, context):
        return 1 / 0


@wrong_problem("branching", "together they must keep every answer")
class ChildrenThatLoseAnswers(Partitioning):
    def branching(self):
        class Half(RyanFoster):
            def branch(self, solution):
                return [child for child in super().branch(solution) if "Apart" in str(child)]

        return [Half("cover")]

    def separation(self):
        return []

    def warm_start(self, budget):
        return WarmStart(answers=tuple(self.given()))

    def given(self):
        return [self.answer_of((0, 1), (2, 3, 4)), self.answer_of((0, 1, 2), (3, 4))]

    def answer_of(self, *sets):
        columns = [Listed(self).encode(s) for s in sets]
        return Solution(sum(c.cost for c in columns), tuple((c, 1.0) for c in columns))


@wrong_problem("branching", "keeps the fractional solution that it should cut off")
class ChildThatCutsNothingOff(Partitioning):
    cuts = False

    def __init__(self):
        super().__init__(cuts=False)

    def branching(self):
        class Idle(RyanFoster):
            def branch(self, solution):
                return [[]] if super().branch(solution) else []

        return [Idle("cover")]


@wrong_problem("separation", r"the row \('few', None\) cuts off an answer")
class CutThatIsNotValid(Partitioning):
    def separation(self):
        class Few(Separation):
            def separate(self, solution):
                used = sum(value for _, value in solution.columns)
                integer = all(abs(value - round(value)) < 1e-6 for _, value in solution.columns)
                return [] if integer else [Row(("few", None), upper=used - 0.9, coefficient=lambda column: 1.0)]

        return [Few()]

    def pricing(self):
        class Paying(Listed):
            def cuts(self, items, duals):
                return duals.get(("few", None))

        return [Paying(self)]

    def warm_start(self, budget):
        return WarmStart(answers=tuple(self.given()))

    def given(self):
        columns = [Listed(self).encode((i,)) for i in range(self.size)]
        return [Solution(sum(c.cost for c in columns), tuple((c, 1.0) for c in columns))]


@wrong_problem("diagnostic", "SeparationError: .* which the solution satisfies")
class CutThatIsSatisfied(Partitioning):
    def separation(self):
        class Idle(Separation):
            def separate(self, solution):
                return [Row(("idle", None), upper=100.0, coefficient=lambda column: 1.0)]

        return [Idle()]


@wrong_problem("objective step", "is not a multiple of it")
class StepTooLarge(Partitioning):
    objective_step = 4.0


@wrong_problem("answer", r"answer\(\): raised KeyError")
class AnswerFails(Partitioning):
    def answer(self, solution):
        return {}["tree"]


@wrong_problem("parts", r"method\(\): raised AttributeError")
class PartFails(Partitioning):
    def method(self):
        return Method(heuristics=self.rounding)


@wrong_problem("mutation", "changed the dual values that it was passed|read-only")
class WritesIntoTheDuals(Partitioning):
    def pricing(self):
        class Writing(Listed):
            def best(self, duals, context):
                duals.values.setflags(write=True)
                duals.values[0] += 1.0
                return super().best(duals, context)

        return [Writing(self)]

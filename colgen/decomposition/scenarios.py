"""Bound the nodes of a two-stage program by its scenario dual.

Each scenario has prices of its copies of the first stage, which sum to the first stage's costs.  Priced alone, the
scenarios bound all solutions.  Prices start at the dual values of the extensive form's linear relaxation, whose bound
they attain or exceed (Carøe and Schultz).  If the first stage is integer, nodes are branched on until the relaxation's
first stage is integer: relaxations of a fixed first stage are tight where others are weak.  Otherwise a proximal bundle
method improves the prices, with a model of its own for each scenario.  Second stages of few points are no part of this:
a tree of its own (:mod:`colgen.decomposition.tenders`) solves the program at the root.

Source: C. C. Carøe, R. Schultz, *Dual decomposition in stochastic integer programming*, Operations Research Letters 24
(1999); K. Kim, V. M. Zavala, *Algorithmic innovations and software for the dual decomposition method applied to
stochastic mixed-integer programs*, Mathematical Programming Computation 10 (2018).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from colgen.bounding.checks import check_results
from colgen.bounding.column_generation import column_generation
from colgen.bounding.guesses import Proved, guess_context, record
from colgen.bounding.pricing_round import computed_bound
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.core.column_batch import Mask
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.result import Termination
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.blocks.decisions import ComponentBound, FirstStageBound
from colgen.decomposition.blocks.mixed_integer import MixedIntegerPricing
from colgen.decomposition.first_stage import FirstStage
from colgen.decomposition.reading.compact_model import MASTER, Floats, Ints
from colgen.decomposition.splitting import Splitting
from colgen.decomposition.tenders import Tenders
from colgen.master.dual_bound import stated_bound
from colgen.master.protocol import real_costs
from colgen.pricing.calls import call_oracles, gather
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.solvers.compiling import working_clock
from colgen.solvers.linear.lp import LinearProgram, LPStatus
from colgen.solvers.linear.program import Program
from colgen.solvers.quadratic.proximal import proximal_point

_MOST_POINTS = 120
"""Maximum number of points of a scenario in the model."""

_FIRST = 0.1
"""Length of the first step, relative to the value over the square of the distances of first stages."""

_PATIENCE, _HURRY, _LITTLE, _GAP = 8, 2, 0.03, 0.001
"""The bundle method ends once so many rounds, at the root and below, gained less than a share of the gap; without an
incumbent the gap is taken as a share of the value."""

_RAISES = 2
"""Calls of an oracle whose block has rays, until the dual value of the block is high enough."""

_QUANTILES = (0.5, 0.8, 0.95, 1.0)
"""First stages that are evaluated are these quantiles of the scenarios' points."""


class ExtensiveRelaxation:
    """The linear relaxation of the extensive form, with copies of the first stage, at the bounds of a node."""

    def __init__(self, splitting: Splitting, stage: FirstStage) -> None:
        f, partition = splitting.compact.formulation, splitting.partition
        self._stage, self._subs = stage, splitting.subproblems
        linking = splitting.linking
        kept = np.concatenate([np.flatnonzero(partition.of_row != MASTER), linking[np.sort(stage.rows.ravel())]])
        self._duals_at = np.searchsorted(np.sort(stage.rows.ravel()), stage.rows) + len(kept) - stage.rows.size
        matrix = sparse.csc_array(splitting.compact.rows[kept, :])
        self.lower, self.upper = f.lower.copy(), f.upper.copy()
        for sub in self._subs:
            self.lower[sub.columns[0]], self.upper[sub.columns[0]] = sub.lower, sub.upper
        # Copies have the bounds and rows of the first stage.
        self.lower[stage.variables], self.upper[stage.variables] = -math.inf, math.inf
        sides = f.row_lower[kept], f.row_upper[kept]
        costs = f.sense.sign * f.costs
        self._program = LinearProgram(Program(False, matrix, costs, self.lower, self.upper, *sides), dual_first=True)
        self._every = np.arange(len(costs))

    def bounds(self, decisions: tuple[Decision, ...]) -> tuple[Floats, Floats]:
        """Return the bounds of all variables at a node."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for decision in decisions:
            if isinstance(decision, FirstStageBound):
                members = [sub.columns[0][decision.variable_of(sub.number)] for sub in self._subs]
            elif isinstance(decision, ComponentBound):
                members = [self._subs[decision.number].columns[0][decision.variable]]
            else:
                continue
            lower[members] = np.maximum(lower[members], decision.lower)
            upper[members] = np.minimum(upper[members], decision.upper)
        return lower, upper

    def solve(self, lower: Floats, upper: Floats, parts: Parts) -> tuple[LPStatus, float, Floats, Floats]:
        """Return status and objective, without the offset and as if minimising; first stage and prices."""
        if (lower > upper).any():
            return LPStatus.INFEASIBLE, math.inf, np.empty(0), np.empty(0)
        self._program.change_bounds(self._every, lower, upper)
        budget = parts.run.budget
        found = self._program.solve(budget.seconds_left, lambda: budget.expired)
        if found.status is not LPStatus.OPTIMAL:
            return found.status, -math.inf, np.empty(0), np.empty(0)
        return found.status, found.objective, found.values[self._stage.variables], found.duals[self._duals_at]


class ScenarioBounding(Bounding):
    """Bound a node by prices of the scenarios' copies of the first stage.

    Parameters
    ----------
    splitting, stage
        The model with copies, and its first stage.
    rounds
        Maximum number of rounds of pricing at the root.
    below
        The same at other nodes.
    """

    def __init__(self, splitting: Splitting, stage: FirstStage, *, rounds: int = 80, below: int = 10) -> None:
        self.splitting, self.stage = splitting, stage
        self.rounds, self.below = rounds, below
        f = splitting.compact.formulation
        self.sign = float(f.sense.sign)
        self.costs = self.sign * f.costs[stage.variables]
        self.integer = f.integer[stage.variables]
        rows = splitting.compact.rows[splitting.linking, :]
        own = splitting.linking[np.setdiff1d(np.arange(rows.shape[0]), stage.rows)]
        self._rows = sparse.csr_array(splitting.compact.rows[own, :][:, stage.variables])
        self._sides = f.row_lower[own], f.row_upper[own]
        self._relaxation: ExtensiveRelaxation | None = None
        self.model = ScenarioModel(splitting, stage)
        self.evaluated: dict[bytes, float] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Copies are for other runs, so they have no solver and no points."""
        fresh: dict[str, Any] = {
            "_relaxation": None,
            "model": ScenarioModel(self.splitting, self.stage),
            "evaluated": {},
        }
        return self.__dict__ | fresh

    def holds(self, first: Floats) -> bool:
        """Return whether the rows of the first stage hold."""
        moved, room = self._rows @ first, TOLERANCES.feasibility * (1.0 + abs(self._rows) @ np.abs(first))
        return bool((moved >= self._sides[0] - room).all() and (moved <= self._sides[1] + room).all())

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        if not parts.settings.stop_early:  # only the relaxation is wanted, exactly
            return column_generation(node, parts)
        with real_costs(parts.master):
            return _Node(self, node, parts).bound()

    @property
    def relaxation(self) -> ExtensiveRelaxation:
        """The relaxation of the extensive form, built on first use."""
        if self._relaxation is None:
            self._relaxation = ExtensiveRelaxation(self.splitting, self.stage)
        return self._relaxation


@dataclasses.dataclass(frozen=True, slots=True)
class _Point:
    """A point of a scenario: its first stage, its cost without that of the first stage, and all its values."""

    first: Floats
    cost: float
    values: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Optimum:
    """The value of a scenario at given prices, and a point that attains it."""

    value: float
    point: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Start:
    """The best prices of a node and the scenarios' optima there, for its children."""

    prices: Floats
    optima: Mapping[int, Optimum]

    def within(self, splitting: Splitting, lower: Floats, upper: Floats) -> dict[int, Optimum]:
        """Return the optima that remain optimal: their points are within the bounds of a child."""
        kept = {}
        for number, optimum in self.optima.items():
            members = splitting.subproblems[number].columns[0]
            if (optimum.point >= lower[members]).all() and (optimum.point <= upper[members]).all():
                kept[number] = optimum
        return kept


_NONE: Mapping[int, Optimum] = {}


class _Node:
    """The bounding of one node."""

    def __init__(self, owner: ScenarioBounding, node: NodeState, parts: Parts) -> None:
        self.owner, self.node, self.parts = owner, node, parts
        self.stage, self.splitting = owner.stage, owner.splitting
        self.sign, self.offset = owner.sign, owner.splitting.compact.formulation.offset
        self.context = guess_context(parts.master, parts.context(node), parts.settings)
        rows = parts.master.rows
        assert rows is not None
        self.rows = rows
        self.none: Duals = rows.guess({})
        self.value, self.duals, self.prices = -math.inf, self.none, np.empty(0)
        self.optima: dict[int, Optimum] = {}
        self.offered = False
        self.reason: Termination | None = None

    # --- one round ---------------------------------------------------------------------------------------------------

    def duals_of(self, prices: Floats, values_of: Floats | None = None) -> Duals:
        """Return the master's dual values for prices of copies, and values of the scenarios."""
        values = self.none.values.copy()
        if values_of is not None:
            values[len(self.splitting.linking) :] = self.sign * values_of
        values[self.stage.rows] = self.sign * prices
        duals: Duals = self.rows.guess(self.none.replace(values))
        return duals

    def record(self, clock: float) -> None:
        found = Proved(self.external(self.value), self.duals)
        reason = record(
            self.parts.run, self.parts.master, found, (self.node.number, self.node.depth), clock, self.parts.settings
        )
        self.reason = reason or self.reason

    def external(self, value: float) -> float:
        """Return a value as an objective of the user's problem."""
        return self.sign * value + self.offset if math.isfinite(value) else self.sign * value

    def call(
        self, prices: Floats, most: Floats, context: PricingContext, known: Collection[int] = ()
    ) -> dict[int, PricingResult]:
        """Call oracles at prices and checked values ``most`` of the scenarios, which are raised where too low.

        Scenarios of ``known`` value are left out.  Blocks with rays bound only negative reduced costs.
        """
        parts, held = self.parts, context is self.context and not self.offered
        results: dict[int, PricingResult] = {}
        places = [k for k, oracle in enumerate(parts.oracles) if number_of(oracle) not in known]
        for _ in range(_RAISES):
            called = [parts.oracles[place] for place in places]
            duals = self.duals_of(prices, most)
            found = gather(call_oracles(called, duals, context), duals)
            reduced = found.split(parts.master.price(found.columns, duals))
            if held:  # otherwise the master may have columns that the context forbids
                every = [(PricingResult(), np.empty(0))] * len(parts.oracles)
                for place, result, costs in zip(places, found.results, reduced, strict=True):
                    every[place] = result, costs
                stated, paid = zip(*every, strict=True)
                check_results(parts.master, parts.oracles, stated, paid, duals, context)
            again = []
            for place, oracle, result, costs in zip(places, called, found.results, reduced, strict=True):
                results[number_of(oracle)] = self._as_empty(result)
                if result.total is not None and len(costs) and self.sign * float(costs[0]) > 0.0:
                    most[number_of(oracle)] += self.sign * float(costs[0])
                    again.append(place)
            places = again
            if not places:
                break
        return results

    def _as_empty(self, result: PricingResult) -> PricingResult:
        """Return the result of a block without points, for which blocks with rays state other bounds."""
        if len(result.columns) or result.cut_off or result.bound is None:
            return result
        return dataclasses.replace(result, bound=self.context.sense.hopeless, total=None)

    def price(self, prices: Floats, optima: Mapping[int, Optimum] = _NONE) -> float:
        """Price all scenarios; store their points, and the prices if their value is the best; return the value.

        Scenarios with an optimum at these prices, of ``optima``, are not solved again.
        """
        clock = working_clock()
        parts, most = self.parts, self.owner.model.highest(prices)  # so high that all points found are returned
        results = self.call(prices, most, self.context, optima)
        # A scenario has exactly one point, so its dual value is its optimum, at which the reduced cost is zero.
        exact, reached = [], dict(optima)
        for oracle in parts.oracles:
            number, result = number_of(oracle), PricingResult(bound=0.0)
            if number in optima:
                most[number] = optima[number].value
            else:
                result = results[number]
                least = self.sign * stated_bound(result)
                if least == math.inf:
                    self.value = math.inf
                    return math.inf
                if math.isfinite(least):
                    most[number] += least
                    best = result.columns.meanings.of(0)  # type: ignore[attr-defined]
                    reached[number] = Optimum(float(most[number]), best.values)
                    result = dataclasses.replace(result, bound=0.0, total=None)
            exact.append(result)
        duals = self.duals_of(prices, most)
        bound = computed_bound(parts.master, parts.oracles, exact, duals)
        value = self.sign * (bound - self.offset)
        if any(result.cut_off for result in exact):
            self.reason = parts.run.budget.reason or self.reason
        self.owner.model.add(list(results.values()))
        if value > self.value or not len(self.prices):
            self.value, self.duals, self.prices, self.optima = max(value, self.value), duals, prices, reached
        self.record(clock)
        return value

    def evaluate(self, first: Floats) -> float:
        """Return the value of a first stage: the scenarios are solved with it fixed, and the solution is offered."""
        key = first.tobytes()
        known = self.owner.evaluated.get(key)
        if known is not None:
            return known
        if not self.owner.holds(first):
            return math.inf
        fixed = tuple(self.stage.within(first, first, np.arange(len(first))))
        context = dataclasses.replace(self.context, decisions=fixed)
        most = np.zeros(len(self.splitting.subproblems))
        results = self.call(np.zeros(self.stage.places.shape), most, context)
        total, x = float(self.owner.costs @ first), np.zeros(len(self.splitting.compact.formulation.costs))
        x[self.stage.variables] = first
        total += float(most.sum())
        for result in results.values():
            least = stated_bound(result)
            if result.cut_off or math.isnan(least) or least == self.context.sense.ideal:
                return -math.inf
            total += self.sign * least
            if not math.isfinite(total):
                break
            best = result.columns.meanings.of(0)  # type: ignore[attr-defined]
            x[self.splitting.subproblems[best.number].columns[0]] = best.values
        if math.isfinite(total):
            self.owner.model.add(list(results.values()))
            objective = float(self.splitting.compact.formulation.costs @ x) + self.offset
            solution = self.splitting.solution(x, objective)
            self.offered = True
            if self.rows.violation(solution) is None:
                self.parts.take(solution, "a first stage that the scenarios were solved for")
        self.owner.evaluated[key] = total
        return total

    # --- the node ----------------------------------------------------------------------------------------------------

    def bound(self) -> Bounded:
        parts, run = self.parts, self.parts.run
        reason = run.budget.reason
        if reason is not None:
            return Bounded(Outcome.STOPPED, parts.master.sense.ideal, termination=reason, proved=True)
        clock = working_clock()
        if not self.node.decisions and self.solve_by_tenders():
            return self.result(self.solution_of(np.zeros(len(self.stage.keys))))
        lower, upper = self.owner.relaxation.bounds(self.node.decisions)
        status, value, first, prices = self.owner.relaxation.solve(lower, upper, parts)
        if status is LPStatus.INFEASIBLE:
            return Bounded(Outcome.INFEASIBLE, parts.master.sense.hopeless, proved=True)
        if status is LPStatus.UNBOUNDED:
            return column_generation(self.node, parts)
        if status is not LPStatus.OPTIMAL:
            return Bounded(
                Outcome.STOPPED, parts.master.sense.ideal, termination=run.budget.reason, duals=self.none, proved=True
            )
        self.value, self.duals, self.prices = value, self.duals_of(prices), prices
        self.record(clock)
        solution = self.solution_of(first)
        if self.decided():
            return self.result(solution)
        integer = self.owner.integer
        near = np.where(integer, np.rint(first), first)
        whole = bool((np.abs(first - near)[integer] <= 1e-6).all())
        copies = self.stage.places[0]
        members = self.splitting.subproblems[0].columns[0][copies]
        near = np.clip(near, lower[members], upper[members]) + 0.0
        if integer.all():
            if not whole:
                if self.node.number & (self.node.number - 1) == 0:  # at the root, and ever more seldom
                    for rounded in (np.ceil(first - 1e-6), np.rint(first), np.floor(first + 1e-6)):
                        self.evaluate(np.clip(rounded, lower[members], upper[members]) + 0.0)
                return self.result(solution)
            total = self.evaluate(near)
            if self.decided():
                return self.result(solution)
            if (lower[members] == upper[members]).all():  # the value of the only first stage
                self.value = max(self.value, total)
                return self.result(solution)
        return self.ascend(lower, upper, solution)

    def solve_by_tenders(self) -> bool:
        """Solve the program by a tree over tenders if its second stages have few points; return whether this ended."""
        tenders = Tenders.of(self.splitting, self.stage)
        if tenders is None:
            return False
        run, clock = self.parts.run, working_clock()
        cutoff = self.sign * (run.objective - self.offset)
        for found in tenders.search(cutoff, lambda: run.budget.seconds_left):
            risen = found.bound > self.value
            self.value = max(self.value, found.bound)
            if found.values is not None:
                x = found.values
                for sub, places in zip(self.splitting.subproblems, self.stage.places, strict=True):
                    x[sub.columns[0][places]] = x[self.stage.variables]
                objective = float(self.splitting.compact.formulation.costs @ x) + self.offset
                solution = self.splitting.solution(x, objective)
                if self.rows.violation(solution) is None:
                    self.parts.take(solution, "the tree over tenders")
            if risen or found.values is not None:
                self.record(clock)
                clock = working_clock()
            if self.decided():
                break
        self.reason = self.reason or run.budget.reason
        return self.decided()

    def decided(self) -> bool:
        """Return whether the run must stop, or the bound proves the incumbent optimal at this node."""
        return self.reason is not None or self.meets()

    def meets(self) -> bool:
        run, bound = self.parts.run, self.external(self.value)
        return run.prunes(bound) or run.meets(bound, run.objective)

    def result(self, solution: Solution) -> Bounded:
        run, bound = self.parts.run, self.external(self.value)
        if self.value == math.inf:
            return Bounded(Outcome.INFEASIBLE, run.sense.hopeless, proved=True)
        outcome, reason = Outcome.SOLVED, self.reason or run.budget.reason
        if self.meets():
            outcome, reason = Outcome.PRUNED, None
        elif reason is not None:
            outcome = Outcome.STOPPED
        start = Start(self.prices, self.optima)
        return Bounded(
            outcome, bound, termination=reason, duals=self.duals, solution=solution, start=start, proved=True
        )

    def solution_of(self, first: Floats, columns: tuple[tuple[Column, float], ...] = ()) -> Solution:
        variables = {key: value for key, value in zip(self.stage.keys, first.tolist(), strict=True) if value}
        integer = frozenset(key for key, flag in zip(self.stage.keys, self.owner.integer, strict=True) if flag)
        return Solution(self.external(self.value), columns, variables, integer & variables.keys())

    def ascend(self, lower: Floats, upper: Floats, solution: Solution) -> Bounded:
        """Improve the prices by a bundle method and return the bound with the averaged solution."""
        owner, model = self.owner, self.owner.model
        root = self.node.depth == 0
        own, relaxed, duals = self.prices, self.value, self.duals
        self.value, self.prices = -math.inf, np.empty(0)
        start = self.node.start
        if isinstance(start, Start) and start.prices.shape == own.shape:
            self.price(start.prices, start.within(self.splitting, lower, upper))
        if not len(self.prices) or root:
            self.price(own)
        if not math.isinf(self.value):
            model.begin(lower, upper, self.prices, self.value)
            gains = list[float]()
            for _ in range(owner.rounds if root else owner.below):
                if self.decided() or not model.ready or self.stalls(gains, _PATIENCE if root else _HURRY):
                    break
                before = self.value
                promised = model.step(self)
                gains.append(self.value - before)
                if promised <= TOLERANCES.reduced_cost * max(abs(self.value), 1.0):
                    break
        if relaxed > self.value:
            self.value, self.duals = relaxed, duals
        if model.ready and not math.isinf(self.value):
            first, columns = model.average()
            solution = self.solution_of(first, columns)
            if not self.decided():
                for candidate in model.candidates(owner.integer):
                    self.evaluate(candidate)
        return self.result(solution)

    def stalls(self, gains: Sequence[float], patience: int) -> bool:
        """Return whether the last rounds gained little of the gap."""
        gap = abs(self.parts.run.objective - self.external(self.value))
        if not math.isfinite(gap):
            gap = _GAP * max(abs(self.value), 1.0)
        return len(gains) >= patience and sum(gains[-patience:]) < _LITTLE * gap


def number_of(oracle: Pricing) -> int:
    """Return the number of the block that an oracle prices."""
    assert isinstance(oracle, MixedIntegerPricing)
    return oracle.sub.number


class ScenarioModel:
    """Points of each scenario as a model of the dual function, and the step of the bundle method."""

    def __init__(self, splitting: Splitting, stage: FirstStage) -> None:
        self._splitting, self._subs, self._stage = splitting, splitting.subproblems, stage
        self._sign = float(splitting.compact.formulation.sense.sign)
        self._points: list[dict[bytes, _Point]] = [{} for _ in self._subs]
        self._step = 0.0
        self.ready = False

    def add(self, results: Sequence[PricingResult]) -> None:
        """Add the points of pricing results; of points with one first stage only the cheapest is kept."""
        for result in results:
            batch: Any = result.columns
            for k in range(len(batch)):
                point = batch.meanings.of(k)
                if point.is_ray:
                    continue
                first = point.values[self._stage.places[point.number]]
                cost, known, key = self._sign * float(batch.costs[k]), self._points[point.number], first.tobytes()
                if key not in known or cost < known[key].cost:
                    known[key] = _Point(first, cost, point.values)
                if self.ready and key not in self._weights[point.number]:
                    self._weights[point.number][key] = 0.0

    def highest(self, prices: Floats) -> Floats:
        """Return the largest value of a known point of each scenario, or zero."""
        found = np.zeros(len(self._points))
        for s, known in enumerate(self._points):
            if known:
                found[s] = max(point.cost + float(point.first @ prices[s]) for point in known.values())
        return found

    def begin(self, lower: Floats, upper: Floats, prices: Floats, value: float) -> None:
        """Begin at prices, with the points within the bounds of a node, the newest if there are many."""
        self._weights: list[dict[bytes, float]] = []
        for sub, known, mine in zip(self._subs, self._points, prices, strict=True):
            low, high = lower[sub.columns[0]] - 1e-9, upper[sub.columns[0]] + 1e-9
            used: dict[bytes, float] = {}
            for key, point in reversed(known.items()):
                if (point.values >= low).all() and (point.values <= high).all():
                    used[key] = 0.0
                    if len(used) == _MOST_POINTS:
                        break
            if used:
                best = min(used, key=lambda key: known[key].cost + float(known[key].first @ mine))
                used[best] = 1.0
            self._weights.append(used)
        self.ready, self._null = all(self._weights), 0
        if self.ready:
            x, _, weights, _ = self._arrays()
            width = np.abs(x).max(axis=(0, 1))
            self._units = np.where(width > 0.0, width, 1.0)
            if not self._step:
                first = np.einsum("sp,spj->sj", weights, x / self._units)
                spread = float(((first - first.mean(axis=0)) ** 2).sum())
                self._step = _FIRST * abs(value) / max(spread, 1e-9)

    def _arrays(self) -> tuple[Floats, Floats, Floats, Ints]:
        """Return first stages, costs and weights of the points in use, and their numbers."""
        counts = np.array([len(used) for used in self._weights])
        x = np.zeros((len(counts), int(counts.max()), self._stage.places.shape[1]))
        costs, weights = np.zeros(x.shape[:2]), np.zeros(x.shape[:2])
        for s, used in enumerate(self._weights):
            points = [self._points[s][key] for key in used]
            x[s, : len(used)] = [point.first for point in points]
            costs[s, : len(used)] = [point.cost for point in points]
            weights[s, : len(used)] = list(used.values())
        return x, costs, weights, counts

    def step(self, node: _Node) -> float:
        """Price at the maximum of the model; return the gain that the model predicted."""
        value, prices = node.value, node.prices
        x, costs, weights, counts = self._arrays()
        costs += np.einsum("spj,sj->sp", x, prices)
        found = proximal_point(x / self._units, costs, counts, weights, prices * self._units, value, self._step)
        for used, mine in zip(self._weights, found.weights.tolist(), strict=True):
            used.update(zip(list(used), mine, strict=False))
        moved = found.prices / self._units
        moved += (node.owner.costs - moved.sum(axis=0)) / len(moved)  # without rounding errors
        gain = node.price(moved) - value
        self._adapt(gain, found.gain, found.error)
        for used in self._weights:
            if len(used) > _MOST_POINTS:
                for key in sorted(used, key=lambda key: used[key])[: len(used) - _MOST_POINTS]:
                    del used[key]
        return found.gain

    def _adapt(self, gain: float, promised: float, error: float) -> None:
        """Adapt the step to the share of the promised gain that was reached."""
        if gain >= 0.1 * promised:
            self._null = 0
            if gain >= 0.8 * promised:
                self._step *= 4.0
            elif gain >= 0.5 * promised or error > 0.5 * promised:
                self._step *= 2.0
        elif gain < 0.0:
            self._null += 1
            if gain < -promised or self._null >= 3:
                self._step *= min(max(promised / max(2.0 * (promised - gain), 1e-300), 0.1), 0.7)
                self._null = 0

    def average(self) -> tuple[Floats, tuple[tuple[Column, float], ...]]:
        """Return the mean first stage of the weights, and the points in use."""
        x, _, weights, _ = self._arrays()
        columns = []
        for s, used in enumerate(self._weights):
            for key, weight in used.items():
                if weight > 1e-6:
                    columns.append((self._splitting.column(self._subs[s], self._points[s][key].values), weight))
        return np.einsum("sp,spj->j", weights, x) / len(x), tuple(columns)

    def candidates(self, integer: Mask) -> list[Floats]:
        """Return first stages to evaluate: quantiles of the scenarios' main points."""
        x, _, weights, _ = self._arrays()
        main = x[np.arange(len(x)), weights.argmax(axis=1)]
        found = [np.quantile(main, share, axis=0, method="higher") for share in _QUANTILES]
        return [np.where(integer, np.ceil(each - 1e-6), each) + 0.0 for each in found]

"""Pricing and branching for patterns with a number of rolls: a bounded knapsack for each number."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from colgen import (
    Column,
    Decision,
    Duals,
    InputError,
    OnOriginalVariable,
    Pricing,
    PricingContext,
    PricingResult,
    Solution,
)
from colgen.core.budget import OutOfBudget
from colgen.core.text import plural
from colgen.fixing import ReducedCostFixing
from colgen.pricing.oracles import PricedMarginals
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern
from colgen.problems.cutting_stock.layout import decompose_flows
from colgen.solvers.packing.arc_values import arc_values
from colgen.solvers.packing.knapsack import (
    NEVER,
    NetworkTooLargeError,
    PackingNetwork,
    best_from,
    network,
    packings_by_first_item,
    restricted,
)

Run: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]
"""The structure of a column: n rolls, and the pieces ``(place, copies)`` of each."""

RunArc: TypeAlias = tuple[int, int, int]
"""``(rolls, place, position)``: a piece at a position of a pattern that is cut from this number of rolls."""

ARC = "arc"
"""Block of the branching rows on arcs."""

LONG = "long"
"""Block of the branching rows on the number of patterns that are cut from at least t rolls."""

SETUPS = "setups"
"""The row that counts patterns."""

_CELLS = 1 << 25
"""Maximum of places times states, summed over all networks."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RunNetwork:
    """The layout of patterns that are cut from n = ``rolls`` rolls, widest pieces first.

    An item with demand d has ⌊d / n⌋ pieces that each add n to its row, and one more that adds the remainder of d.
    Further pieces would add nothing.  These are the *places* of the item, in this order.

    ``items`` and ``adds`` have the item of each place, and what a piece adds to its row.  ``first`` is the number of
    the first arc, counted over all networks.
    """

    rolls: int
    items: Ints
    adds: Ints
    net: PackingNetwork
    first: int


class Runs:
    """The networks of all numbers of rolls, built on first use."""

    def __init__(self, instance: CuttingStockInstance) -> None:
        self.instance = instance
        self._networks: list[RunNetwork] = []

    def networks(self, look: Callable[[], object] = lambda: None) -> list[RunNetwork]:
        """Return the networks of 1, 2, ... rolls up to the largest demand; more rolls would exceed every demand."""
        if not self._networks:
            instance, found, first, cells = self.instance, list[RunNetwork](), 0, 0
            widest_first = sorted(range(instance.num_items), key=lambda i: -instance.widths[i])
            for n in range(1, max(instance.demands) + 1):
                look()
                places = [(i, instance.demands[i] // n, n) for i in widest_first]
                rests = [(i, 1, instance.demands[i] % n) for i in widest_first]
                each = [p for pair in zip(places, rests, strict=True) for p in pair if p[1] and p[2]]
                items, copies, adds = (np.array(column, dtype=np.int64) for column in zip(*each, strict=True))
                widths = np.array(instance.widths, dtype=np.int64)[items]
                try:
                    net = network(widths, copies, instance.roll, cells=_CELLS - cells, look=look)
                except NetworkTooLargeError as error:
                    raise InputError(f"the instance is too large for its pricing problem: {error}") from None
                cells += net.num_states * len(items)
                found.append(RunNetwork(n, items, adds, net, first))
                first += net.num_arcs
            self._networks = found
        return self._networks

    @property
    def num_arcs(self) -> int:
        """Number of arcs of all networks."""
        last = self.networks()[-1]
        return last.first + last.net.num_arcs

    def number(self, arc: RunArc) -> int:
        """Return the number of an arc, counted over all networks; -1 if it does not exist."""
        rolls, place, position = arc
        run = self.networks()[rolls - 1]
        k = run.net.arc(place, position)
        return -1 if k < 0 else run.first + k

    def arcs(self, structure: Run) -> list[RunArc]:
        """Return the arcs of a column."""
        rolls, packing = structure
        widths, position, laid_out = self.networks()[rolls - 1].net.widths, 0, list[RunArc]()
        for place, copies in packing:
            for _ in range(copies):
                laid_out.append((rolls, place, position))
                position += int(widths[place])
        return laid_out

    def original(self, column: Column) -> Mapping[Hashable, float]:
        """Return the arcs of a column as original variables."""
        return dict.fromkeys(self.arcs(column.structure), 1.0)

    def pattern(self, structure: Run) -> Pattern:
        """Return the pattern of a column, by items."""
        rolls, packing = structure
        run, cut = self.networks()[rolls - 1], dict[int, int]()
        for place, copies in packing:
            item = int(run.items[place])
            cut[item] = cut.get(item, 0) + copies
        return tuple(cut.items())

    def encode(self, structure: Run) -> Column:
        """Return the column of a structure."""
        rolls, packing = structure
        run, entries = self.networks()[rolls - 1], dict[tuple[str, Any], float]()
        for place, copies in packing:
            key = ("demand", int(run.items[place]))
            entries[key] = entries.get(key, 0.0) + float(run.adds[place] * copies)
        return Column(float(rolls), {**entries, (SETUPS, None): 1.0}, structure, ("run", structure))

    def pack(self, rolls: int, pattern: Pattern) -> Run:
        """Return the structure of a pattern and a number of rolls, without pieces that add nothing."""
        run, packing = self.networks()[rolls - 1], list[tuple[int, int]]()
        left = dict(pattern)
        for place, (item, most) in enumerate(zip(run.items.tolist(), run.net.copies.tolist(), strict=True)):
            copies = min(left.get(item, 0), int(most))
            if copies:
                packing.append((place, copies))
                left[item] -= copies
        return rolls, tuple(packing)


@dataclass(frozen=True, eq=False)
class RunArcsForbidden(Decision):
    """No column may use an arc outside ``open_arcs``, a mask of the arcs of all networks."""

    runs: Runs
    open_arcs: Mask
    exhaustive: bool = False

    def allows(self, column: Column) -> bool:
        return all(self.open_arcs[self.runs.number(arc)] for arc in self.runs.arcs(column.structure))

    def __str__(self) -> str:
        return f"{plural(int((~self.open_arcs).sum()), 'arc')} forbidden"


@dataclass(frozen=True, eq=False)
class Priced:
    """A network at dual values: the reduced cost of its rolls without pieces, earnings of arcs, values of paths."""

    run: RunNetwork
    net: PackingNetwork
    charge: float
    profits: Floats
    values: Floats


class RunOracle(Pricing):
    """Exact pricing, a bounded knapsack for each number of rolls; a feasible solution has at most ``most`` columns."""

    cost_bound = 1.0

    def __init__(self, runs: Runs, most: int, columns: int = 200) -> None:
        self.runs = runs
        self.multiplicity = float(most)
        self.columns = columns
        self._nets: list[PackingNetwork] = []
        self._situation: tuple[object, ...] | None = None

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        try:
            priced = list(self.price_networks(duals, context))
        except OutOfBudget:
            return PricingResult(cut_off=True)
        best, found = math.inf, list[tuple[float, Run]]()
        for each in priced:
            optimum = float(each.values[0, 0])
            threshold = min(each.charge, (1.0 - 1e-12) * optimum) if optimum > 0.0 else NEVER
            earned, packings = packings_by_first_item(each.net, each.values, each.profits, threshold)
            top = float(earned.max(initial=NEVER))
            if top <= 0.5 * NEVER:
                continue
            best = min(best, each.charge - top)
            for k in np.flatnonzero((earned > each.charge) | (earned == top)).tolist():
                places = np.flatnonzero(packings[k])
                packing = tuple(zip(places.tolist(), packings[k][places].tolist(), strict=True))
                found.append((each.charge - float(earned[k]), (each.run.rolls, packing)))
        found.sort(key=lambda entry: entry[0])
        improving = [entry for entry in found if entry[0] < 0.0]
        chosen = improving[: self.columns] if improving else found[:1]
        columns = [self.runs.encode(structure) for _, structure in chosen]

        def marginals() -> PricedMarginals:
            through, names = list[Floats](), list[Ints]()
            for each in priced:
                value = arc_values(each.net, each.values, each.profits, look=context.budget.require)
                through.append(np.where(value > NEVER, each.charge - value, math.inf))
                origin = np.arange(each.net.num_arcs) if each.net.origin is None else each.net.origin
                names.append(each.run.first + origin)
            nothing = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
            return PricedMarginals(np.concatenate(through or nothing[0]), np.concatenate(names or nothing[1]))

        return PricingResult(columns, best, [reduced for reduced, _ in chosen], marginals=marginals)

    def price_networks(self, duals: Duals, context: PricingContext) -> list[Priced]:
        """Return the networks under the decisions, with earnings at dual values."""
        look = context.budget.require
        runs, nets = self.runs.networks(look), self._networks(context)
        demand, setups = np.asarray(duals["demand"]), float(duals[SETUPS])
        closed, paid = context.forbidden(LONG), dict(duals.items(LONG))
        extra: dict[int, list[tuple[int, float]]] = {}
        for arc, dual in duals.items(ARC):
            if dual:
                number = self.runs.number(as_run_arc(arc))
                extra.setdefault(as_run_arc(arc)[0], []).append((number, dual))
        found, credit = list[Priced](), 0.0
        for run, net in zip(runs, nets, strict=True):
            credit += paid.get(run.rolls, 0.0)
            if run.rolls in closed:
                break  # the decisions forbid patterns cut from at least this number of rolls
            profits = net.spread(demand[run.items] * run.adds)
            for number, dual in extra.get(run.rolls, ()):
                k = number - run.first
                if net.origin is not None:
                    place = int(np.searchsorted(net.origin, k))
                    k = place if place < net.num_arcs and net.origin[place] == k else -1
                if k >= 0:
                    profits[k] += dual
            charge = context.cost_weight * run.rolls - setups - credit
            found.append(Priced(run, net, charge, profits, best_from(net, profits, look=look)))
        return found

    def _networks(self, context: PricingContext) -> list[PackingNetwork]:
        """Return the networks under the decisions, cached until these change."""
        if not self._nets or context.decisions != self._situation:
            open_arcs = np.ones(self.runs.num_arcs, dtype=np.bool_)
            for decision in context.decisions:
                if isinstance(decision, RunArcsForbidden):
                    open_arcs &= decision.open_arcs
            for arc in context.forbidden(ARC):
                open_arcs[self.runs.number(arc)] = False
            nets = []
            for run in self.runs.networks():
                mine = open_arcs[run.first : run.first + run.net.num_arcs]
                nets.append(run.net if mine.all() else restricted(run.net, run.net.copies, mine))
            self._nets, self._situation = nets, context.decisions
        return self._nets


def as_run_arc(variable: Hashable) -> RunArc:
    """Return an original variable typed as an arc."""
    return cast(RunArc, variable)


# --- branching -------------------------------------------------------------------------------------------------------


def lengths(column: Column) -> Mapping[int, float]:
    """Return the original variables t = 1, 2, ..., n of a column that is cut from n rolls, for "at least t rolls"."""
    return dict.fromkeys(range(1, column.structure[0] + 1), 1.0)


class OnLongRuns(OnOriginalVariable):
    """Branch on the number of patterns cut from at least t rolls: integer in every plan, and their sum is the cost."""

    def __init__(self) -> None:
        super().__init__(lengths, block=LONG)


class OnRunArcs(OnOriginalVariable):
    """Branch on the number of patterns cut from n rolls that have a piece at a position.

    If these numbers are integer for each n, they decompose into integer paths, which are patterns cut from n rolls.
    There are as many paths as columns in use, counted with their values, and they have the same cost.
    """

    def __init__(self, runs: Runs) -> None:
        super().__init__(runs.original, block=ARC)
        self._runs = runs

    def recover(self, solution: Solution) -> Solution | None:
        flows: dict[int, list[tuple[int, int, int]]] = {}  # by rolls: place, position, number of patterns
        for variable, value in sorted(self.values(solution).items(), key=lambda entry: as_run_arc(entry[0])):
            rolls, place, position = as_run_arc(variable)
            flows.setdefault(rolls, []).append((place, position, round(value)))
        found: Counter[Run] = Counter()
        for rolls, arcs in flows.items():
            for places, times in decompose_flows(arcs, self._runs.networks()[rolls - 1].net.widths):
                found[rolls, tuple(sorted(Counter(places).items()))] += times
        columns = tuple((self._runs.encode(structure), float(times)) for structure, times in found.items())
        return Solution(sum(column.cost * times for column, times in columns), columns)


class RunArcFixing(ReducedCostFixing):
    """Forbid arcs that no better solution can use."""

    makes: Sequence[type[Decision]] = (RunArcsForbidden,)

    def __init__(self, runs: Runs, oracle: RunOracle) -> None:
        super().__init__(oracle, decide=self._arcs)
        self.runs = runs

    def _arcs(self, number: int, marginals: PricedMarginals, worse: Mask) -> Sequence[Decision]:
        allowed = np.zeros(self.runs.num_arcs, dtype=np.bool_)
        allowed[np.asarray(marginals.names)[~worse]] = True
        return (RunArcsForbidden(self.runs, allowed),)

"""Certificates of problems whose pricing problems are knapsacks: exact bounds, fixings and splits.

Dual values are scaled and rounded to integers. Any dual values prove a valid bound, so rounding only weakens it
slightly. The dynamic program adds integers below 2^53, which is exact in floating point. Few digits are tried first:
most leaves can lose some, and short numbers are fast to check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.certificate.certifier import Certifier, Record, Split, as_exact
from colgen.certificate.witness import WitnessPoint
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.sense import Sense
from colgen.solvers.packing.counted_network import ChargedCounts, best_counted_packings
from colgen.solvers.packing.knapsack import NEVER, PackingNetwork, arc_values, best_from, network, restricted

Place = tuple[int, int, int, int]
"""Pieces of an item of a pricing problem at positions from first to last: (problem, item, first, last)."""

_DIGITS = (2.0**18, 2.0**30, 2.0**48)
"""Approximate sizes of the largest scaled dual value, tried in order."""

_EXACT = 2.0**53
"""Sums of integers up to this are exact in floating point."""


@dataclass(frozen=True)
class Rounded:
    """Dual values as integers over a common denominator ``scale``.

    They belong to rows, to pieces counted by branching, and to cuts, each with a divisor, weights by row, and a dual
    value.
    """

    duals: list[int]
    counts: Mapping[Place, int]
    scale: int
    cuts: Sequence[tuple[int, Mapping[int, int], int]] = ()


@dataclass(frozen=True)
class CertifierState:
    """The decisions at a node: open arcs of each network (None for all), and counted pieces."""

    open: tuple[NDArray[np.bool_] | None, ...]
    counts: Mapping[Place, tuple[int, int | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Solved:
    """Pricing problems solved at rounded dual values: denominator of the duals, least reduced costs, bound."""

    unit: int
    least: list[Fraction]
    total: Fraction
    networks: list[PackingNetwork]
    values: list[NDArray[np.float64]]
    profits: list[NDArray[np.float64]]


class KnapsackCertifier(Certifier):
    """Certificates of problems whose pricing problems are knapsacks and whose dual values are those of item rows.

    Subclasses implement :meth:`values`, which maps dual values of the master to those of the formulation, and
    :meth:`pieces`, which returns the decisions of children. ``program`` returns the formulation: rows with two sides,
    and pricing problems of the kind ``knapsack``. ``fixes`` names what reductions close: ``positions`` or whole
    ``items``.
    """

    checks_nodes = True

    def __init__(self, sense: Sense, name: str, program: Callable[[], Record], fixes: str) -> None:
        super().__init__(sense, name)
        self._make, self.fixes = program, fixes
        self._program: Record | None = None
        self._networks: list[PackingNetwork] = []

    def formulation(self) -> Record:
        if self._program is None:
            self._program = self._make()
        return self._program

    def values(self, duals: Duals) -> tuple[NDArray[np.float64], Mapping[Place, float]] | None:
        """Return dual values of the rows of the formulation and of counted pieces, or None if there are others."""
        raise NotImplementedError

    def cuts(self, duals: Duals) -> Sequence[tuple[int, Mapping[int, int], float]]:
        """Return rank-1 cuts over the rows of the formulation: divisor, weights by row, and dual value."""
        return ()

    def lift(self, rounded: Rounded, goal: Fraction | None) -> Rounded | None:
        """Return dual values with no better bound, at which no column that the run omits improves either; or None."""
        return None

    def pieces(self, children: Sequence[Sequence[Decision]]) -> tuple[Place, int, Sequence[int]] | None:
        """Return the place whose pieces the children count, the limit t, and the order of the children.

        The first child in this order has at most t pieces there. The other child, if it exists, has more.
        """
        raise NotImplementedError

    # --- through the tree --------------------------------------------------------------------------------------------

    def start(self) -> CertifierState:
        problems = self.formulation()["pricing"]
        self._networks = [network(each["sizes"], each["copies"], each["capacity"]) for each in problems]
        return CertifierState((None,) * len(problems))

    def claim(self, state: CertifierState, point: WitnessPoint, goal: Fraction | None) -> Record | None:
        if goal is None and point.costs_count:
            return None
        for rounded in self._each(point, goal):
            solved = self._solve(state, rounded, point.costs_count)
            if solved is None:
                continue
            if not point.costs_count:
                if solved.total > 0:
                    return self._record(rounded, solved, 0, None)
                continue
            assert goal is not None
            bound = solved.total / solved.unit
            step = self.formulation()["step"]
            best = bound if step is None else math.ceil(bound / Fraction(step)) * Fraction(step)
            if best >= goal:
                return self._record(rounded, solved, 1, as_exact(sign_of(self) * bound))
        return None

    def fix(
        self, state: CertifierState, point: WitnessPoint, goal: Fraction | None
    ) -> tuple[Record, CertifierState] | None:
        if goal is None:
            return None
        for rounded in reversed(list(self._each(point, goal))):  # most digits first
            solved = self._solve(state, rounded, True)
            if solved is not None:
                break
        else:
            return None
        step = self.formulation()["step"]
        enough = solved.unit * (goal - (0 if step is None else Fraction(step)))
        masks, closed = list(state.open), 0
        for k, problem in enumerate(self.formulation()["pricing"]):
            net = solved.networks[k]
            through = arc_values(net, solved.values[k], solved.profits[k])
            least = solved.least[k]
            slack = enough - solved.total + (least if least < 0 else least * min(problem["uses"][0], 1))
            limit = solved.unit * Fraction(problem["cost"]) - slack
            there = through > NEVER
            gone = there & (through <= math.floor(limit) if step is None else through < math.ceil(limit))
            if self.fixes == "items":
                left = np.zeros(net.num_items, dtype=np.int64)
                np.add.at(left, net.items[there & ~gone], 1)
                some = np.zeros(net.num_items, dtype=np.bool_)
                some[net.items[gone]] = True
                is_closed = some & (left == 0)
                closed += int(is_closed.sum())
                gone = is_closed[net.items]
            else:
                closed += int(gone.sum())
            if gone.any():
                masks[k] = self._close_arcs(k, masks[k], gone if net.origin is None else net.origin[gone])
        if not closed:
            return None
        record = {
            "what": self.fixes,
            "unit": solved.unit,
            "duals": rounded.duals,
            "counts": [[*place, dual] for place, dual in rounded.counts.items()],
            "least": [as_exact(each) for each in solved.least],
            "bound": as_exact(sign_of(self) * solved.total / solved.unit),
            "closed": closed,
            **self._cuts_record(rounded),
        }
        return record, replace(state, open=tuple(masks))

    def split(self, state: CertifierState, children: Sequence[Sequence[Decision]]) -> Split | None:
        found = self.pieces(children)
        if found is None:
            return None
        place, most, order = found
        record = {"pieces": list(place), "at_most": most}
        return Split(
            record, order, (self._at_most(state, place, most), self._at_least(state, place, most + 1))[: len(order)]
        )

    # --- decisions ---------------------------------------------------------------------------------------------------

    def _close_arcs(self, k: int, mask: NDArray[np.bool_] | None, arcs: Any) -> NDArray[np.bool_]:
        """Return a mask of open arcs in which these arcs are closed too."""
        shut = np.ones(self._networks[k].num_arcs, dtype=np.bool_) if mask is None else mask.copy()
        shut[arcs] = False
        return shut

    def _arcs(self, k: int, item: int) -> slice:
        net = self._networks[k]
        return slice(int(net.first_arc[item]), int(net.first_arc[item + 1]))

    def _inside(self, place: Place) -> NDArray[np.int64]:
        """Return the arcs of a place's item at the positions of this place."""
        k, item, first, last = place
        arcs = self._arcs(k, item)
        positions = self._networks[k].positions[arcs]
        inside: NDArray[np.int64] = arcs.start + np.flatnonzero((positions >= first) & (positions <= last))
        return inside

    def _at_most(self, state: CertifierState, place: Place, most: int) -> CertifierState:
        if most:
            return self._count_pieces(state, place, 0, most)
        masks = list(state.open)
        masks[place[0]] = self._close_arcs(place[0], masks[place[0]], self._inside(place))
        return replace(state, open=tuple(masks))

    def _at_least(self, state: CertifierState, place: Place, least: int) -> CertifierState:
        program, (k, item, *_) = self.formulation(), place
        row = program["pricing"][k]["rows"][item]
        if least >= program["rows"][row][1]:  # all pieces are there, and none elsewhere
            masks = list(state.open)
            arcs = self._arcs(k, item)
            masks[k] = self._close_arcs(
                k, masks[k], np.setdiff1d(np.arange(arcs.start, arcs.stop), self._inside(place))
            )
            for other, problem in enumerate(program["pricing"]):
                if other != k and row in problem["rows"]:
                    masks[other] = self._close_arcs(other, masks[other], self._arcs(other, problem["rows"].index(row)))
            state = replace(state, open=tuple(masks))
        return self._count_pieces(state, place, least, None)

    def _count_pieces(self, state: CertifierState, place: Place, low: int, high: int | None) -> CertifierState:
        before = state.counts.get(place, (0, None))
        most = min((side for side in (before[1], high) if side is not None), default=None)
        return replace(state, counts={**state.counts, place: (max(before[0], low), most)})

    # --- numbers -----------------------------------------------------------------------------------------------------

    def _each(self, point: WitnessPoint, goal: Fraction | None) -> Iterator[Rounded]:
        """Yield rounded dual values, each followed by those of :meth:`lift`, if any."""
        for rounded in self._round(point):
            yield rounded
            if (other := self.lift(rounded, goal)) is not None:
                yield other

    def _round(self, point: WitnessPoint) -> Iterator[Rounded]:
        """Yield the dual values of a point as integers with increasing numbers of digits."""
        found = self.values(point.duals) if isinstance(point.duals, Duals) else None
        if found is None:
            return
        values, counts = found
        paid = self.cuts(point.duals) if isinstance(point.duals, Duals) else ()
        largest = max(float(np.abs(values).max(initial=0.0)), max(map(abs, counts.values()), default=0.0))
        if not 0.0 < largest < math.inf:
            if largest == 0.0:
                yield Rounded([0] * len(values), {}, 1, [])
            return
        for digits in _DIGITS:
            # A power of two, so that only rounding to integers changes values.
            scale = max(math.ldexp(1.0, math.frexp(digits / largest)[1] - 1), 1.0)
            if digits == _DIGITS[-1] and self._most_pieces() * largest * scale * 2.0 >= _EXACT:
                scale = max(math.ldexp(1.0, math.frexp(_EXACT / (4.0 * largest * self._most_pieces()))[1] - 1), 1.0)
            duals = [int(x) for x in np.rint(sign_of(self) * values * scale).tolist()]
            rounded = {place: round(sign_of(self) * dual * scale) for place, dual in counts.items()}
            cuts = [(q, weights, round(sign_of(self) * dual * scale)) for q, weights, dual in paid]
            kept = {place: dual for place, dual in rounded.items() if dual}
            yield Rounded(duals, kept, int(scale), [cut for cut in cuts if cut[-1] < 0])

    def _most_pieces(self) -> float:
        """Return the maximum number of terms in a sum: two per piece of a column, for its row and its count."""
        problems = self.formulation()["pricing"]
        return max(2.0 * float(each["capacity"] // max(min(each["sizes"]), 1) + 1) for each in problems)

    def _solve(self, state: CertifierState, rounded: Rounded, costs_count: bool) -> _Solved | None:
        """Solve all pricing problems at rounded dual values. Return None if that proves nothing."""
        pricing = self.formulation()["pricing"]
        total = self._sides(state, rounded)
        if total is None:
            return None
        unit = rounded.scale if costs_count else 0
        best, networks, tables, earned = list[int](), [], [], []
        for k, problem in enumerate(pricing):
            net = self._networks[k]
            if state.open[k] is not None:
                net = restricted(net, problem["copies"], state.open[k])
            profits = self._profits(k, problem, net, rounded, unit)
            if profits is None:
                return None
            values = best_from(net, profits)
            most = int(values[0, 0])
            if rounded.cuts:
                found = self._under_cuts(net, problem["rows"], values, profits, rounded, total) if costs_count else None
                if found is None or len(pricing) > 1:
                    return None
                most = found
            best.append(most)
            networks.append(net)
            tables.append(values)
            earned.append(profits)
        unit_or_none = self._unit(best, unit) if costs_count else unit
        if unit_or_none is None:
            return None
        unit, sign = unit_or_none, sign_of(self)
        least = []
        for problem, most in zip(pricing, best, strict=True):
            each = unit * sign * Fraction(problem["cost"]) - most
            side = problem["uses"][0 if each >= 0 else 1]
            if side is None:
                return None
            least.append(each)
            total += each * side
        return _Solved(unit, least, total, networks, tables, earned)

    def _sides(self, state: CertifierState, rounded: Rounded) -> Fraction | None:
        """Return the sum of dual values times sides of rows, cuts and counts. None if a side is infinite."""
        rows = self.formulation()["rows"]
        total = Fraction(0)
        for dual, sides in zip(rounded.duals, rows, strict=True):
            side = sides[dual < 0]
            if dual and side is None:
                return None
            total += dual * Fraction(side or 0)
        for divisor, weights, dual in rounded.cuts:
            total += dual * (sum(weight * rows[row][1] for row, weight in weights.items()) // divisor)
        for place, dual in rounded.counts.items():
            side = state.counts.get(place, (None, None))[dual < 0]
            if side is None:
                return None
            total += dual * side
        return total

    def _profits(
        self, number: int, problem: Record, net: PackingNetwork, rounded: Rounded, unit: int
    ) -> NDArray[np.float64] | None:
        """Return the profit of each arc of a network. None if floating point would round them."""
        gains = np.array(rounded.duals, dtype=float)[np.array(problem["rows"], dtype=np.int64)]
        if problem["costs"]:
            gains = gains - sign_of(self) * unit * np.array(problem["costs"], dtype=float)
        if not self._exact(problem, gains):
            return None
        profits = net.spread(gains)
        for (owner, item, first, last), dual in rounded.counts.items():
            if owner == number:
                arcs = slice(int(net.first_arc[item]), int(net.first_arc[item + 1]))
                positions = net.positions[arcs]
                profits[arcs][(positions >= first) & (positions <= last)] += dual
        return profits

    def _unit(self, best: list[int], unit: int) -> int | None:
        """Return Farley's divisor: for columns without limit, the smallest at which none of them improves."""
        sign = sign_of(self)
        for problem, most in zip(self.formulation()["pricing"], best, strict=True):
            cost = sign * Fraction(problem["cost"])
            if problem["uses"][1] is None and most > unit * cost:
                if cost <= 0 or problem["costs"]:
                    return None
                unit = max(unit, math.ceil(most / cost))
            elif problem["uses"][1] is None and len(best) == 1 and not problem["costs"] and cost > 0 and most > 0:
                unit = math.ceil(most / cost)
        return unit

    def _exact(self, problem: Record, gains: NDArray[np.float64]) -> bool:
        """Return whether earnings of packings are exact in floating point. Earnings by size sum to the capacity."""
        sizes = np.array(problem["sizes"], dtype=float)
        by_size = float(np.floor((gains / sizes).min(initial=math.inf))) if len(sizes) else 0.0
        rest = float(np.abs(gains - max(by_size, 0.0) * sizes).max(initial=0.0))
        most: float = self._most_pieces() * rest + max(by_size, 0.0) * problem["capacity"]
        return most * 2.0 < _EXACT

    def _under_cuts(
        self,
        net: PackingNetwork,
        rows: Sequence[int],
        values: NDArray[np.float64],
        profits: NDArray[np.float64],
        rounded: Rounded,
        total: Fraction,
    ) -> int | None:
        """Return an upper bound on earnings minus cut charges, tightened only to prove ⌊total / scale⌋ + 1 uses."""
        uses = int(total // rounded.scale)
        if uses < 1:
            return None
        item = {row: i for i, row in enumerate(rows)}
        starts = np.cumsum([0, *(len(weights) for _, weights, _ in rounded.cuts)])
        members = [item[row] for _, weights, _ in rounded.cuts for row in weights]
        each = [weight for _, weights, _ in rounded.cuts for weight in weights.values()]
        divisors, charges = [q for q, _, _ in rounded.cuts], [float(-dual) for *_, dual in rounded.cuts]
        least_bound = max((math.ceil(total) - 1) // uses, 1)
        counts = ChargedCounts(starts, members, each, divisors, charges)
        found = best_counted_packings(net, values, profits, counts, float(least_bound))
        return int(found.bound) if found.overflowed or len(found.profits) else min(least_bound, int(values[0, 0]))

    def _record(self, rounded: Rounded, solved: _Solved, weight: int, bound: Any) -> Record:
        return {
            "weight": weight,
            "unit": max(solved.unit, 1),
            "duals": rounded.duals,
            "counts": [[*place, dual] for place, dual in rounded.counts.items()],
            "least": [as_exact(each) for each in solved.least],
            "bound": bound,
            **self._cuts_record(rounded),
            **({} if weight else {"worth": as_exact(solved.total)}),
        }

    def _cuts_record(self, rounded: Rounded) -> Record:
        if not rounded.cuts:
            return {}
        named = [(q, [row for row, w in weights.items() for _ in range(w)], dual) for q, weights, dual in rounded.cuts]
        return {"cuts": [{"cut": [q, rows], "dual": dual} for q, rows, dual in named]}


def sign_of(certifier: Certifier) -> int:
    """Return the factor that turns the objective into one to minimize."""
    return int(certifier.sense.sign)

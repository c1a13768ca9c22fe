"""Blocks of compact models: pricing by a dynamic program over variables and sums of rows, or by a tree of bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from colgen.certificate.checker_block_trees import Box, Limits, Row, finite, gain_of_tree, span, tighten
from colgen.certificate.checker_pricing import (
    NO,
    TABLE_LIMIT,
    WORK_LIMIT,
    CheckerState,
    Place,
    UnreadableError,
    WrongError,
    exact,
    fields,
    holds,
    integer,
    sides,
)


class BlockPricing:
    """Bounded variables, and the rows that contain only these.

    A column assigns a value to each variable. Its entries in the rows of the master follow from ``entries``, and its
    cost is ``cost`` plus the costs of the variables.
    """

    with_potentials = True
    """Whether claims contain data besides dual values: for each pricing problem null or a tree of bounds."""

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        fields(data, ("cost", "variables", "rows", "entries"), ("kind", "uses"))
        self.number, self.cost = number, exact(data["cost"])
        self.costs = [exact(cost) for cost, *_ in data["variables"]]
        self.bounds = [sides((low, high)) for _, low, high, _ in data["variables"]]
        self.integer = [is_integer for *_, is_integer in data["variables"]]
        self.entries = [_terms(terms, num_rows) for terms in data["entries"]]
        self.rows: list[Row] = [
            (sides((low, high)), _terms(terms, len(self.costs))) for low, high, terms in data["rows"]
        ]
        if any(type(is_integer) is not bool for is_integer in self.integer) or len(self.entries) != len(self.costs):
            raise WrongError("expected for each variable its cost, bounds, whether it is an integer, and entries")
        self._ends = [_ends(*limits, is_integer) for limits, is_integer in zip(self.bounds, self.integer, strict=True)]
        rows = [(limits, terms) for limits, terms in self.rows if limits != (None, None)]
        self._constrained = {v for _, terms in rows for v in terms}
        scaled = (_scale_to_integers(row, all(self.integer[v] for v in row[1])) for row in rows)
        self._rows = sorted(scaled, key=lambda row: -len(row[1]))
        self._ends = tighten(self._rows, self._ends, self.integer)
        # Costs and entries times a common denominator: integers are faster.
        numbers = (*self.costs, *(entry for terms in self.entries for entry in terms.values()))
        self.over = math.lcm(*(number.denominator for number in numbers))
        self._gains = [
            (int(self.over * cost), [(row, int(self.over * entry)) for row, entry in terms.items()])
            for cost, terms in zip(self.costs, self.entries, strict=True)
        ]
        self.limit: int | None = None  # on the number of sums, for callers that prefer an error

    def prices(self) -> list[Fraction]:
        if any(cost and not is_integer for cost, is_integer in zip(self.costs, self.integer, strict=True)):
            raise WrongError("objectives have no step if a continuous variable has a cost")
        return [self.cost, *self.costs]

    def subtracts(self, row: int) -> bool:
        terms = zip(self.bounds, self.entries, strict=True)
        worst = (((low if entry[row] > 0 else high), entry[row]) for (low, high), entry in terms if row in entry)
        return any(end is None or end * entry < 0 for end, entry in worst)

    def column(self, values: Any) -> tuple[Fraction, dict[int, Fraction]]:
        x, entries, cost = [exact(value) for value in values], dict[int, Fraction](), self.cost
        for value, price, limits, is_integer, terms in zip(
            x, self.costs, self.bounds, self.integer, self.entries, strict=True
        ):
            if not holds(value, limits) or (is_integer and value.denominator != 1):
                raise WrongError(f"a variable has the value {value}")
            cost += price * value
            for row, entry in terms.items() if value else ():
                entries[row] = entries.get(row, Fraction(0)) + entry * value
        for limits, terms in self.rows:
            total = sum(entry * x[v] for v, entry in terms.items() if x[v])
            if not holds(total, limits):
                raise WrongError(f"a row of a block is {total}")
        return cost, entries

    def box(self, bounds: Any) -> Box:
        """Read bounds on integer variables."""
        box = tuple(
            (integer(v), None if low is None else integer(low), None if high is None else integer(high))
            for v, low, high in bounds
        )
        variables = [v for v, *_ in box]
        if not box or variables != sorted(set(variables)) or not set(variables) <= set(range(len(self.costs))):
            raise WrongError("expected bounds on variables of the block, in order")
        if not all(self.integer[v] for v in variables):
            raise WrongError("expected bounds on integer variables")
        return box

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return the least reduced cost, or the bound of a given tree. Without costs it is 1 if no column exists."""
        gains, boxes, limits = self.gains(duals, unit), self.boxes(counts, state), self.limits(state)
        tree = None if state.given is None else state.given[self.number]
        best = (
            self._best(gains, boxes, limits)
            if tree is None
            else gain_of_tree(self.rows, self.integer, gains, boxes, limits, tree)
        )
        if best != NO:
            return unit * self.cost - Fraction(best) / self.over
        if unit:
            raise WrongError("a block has no point")
        return Fraction(1)

    def gains(self, duals: Sequence[int], unit: Fraction) -> list[int]:
        """Return the negative reduced cost of each variable, times ``over``."""
        times = int(unit)
        return [sum(duals[row] * entry for row, entry in terms) - times * cost for cost, terms in self._gains]

    def boxes(self, counts: Mapping[Place, int], state: CheckerState) -> list[tuple[Box, Any]]:
        """Return bounds with the gain of the points within them; it is ``NO`` if there is none."""
        found: list[tuple[Box, Any]] = [
            (box, self.over * dual) for (k, box, *_), dual in counts.items() if k == self.number
        ]
        return found + [(box, NO) for k, box in state.without if k == self.number]

    def limits(self, state: CheckerState) -> list[Limits]:
        """Return the limits of each variable at a node."""
        found = []
        for v, (low, high) in enumerate(self._ends):
            least, most = state.bounds.get((self.number, v), (NO, -NO))
            found.append((max(low, least), min(high, most)))
        return found

    def _best(self, gains: Sequence[int], boxes: Sequence[tuple[Box, Any]], limits: Sequence[Limits]) -> Any:
        """Return the maximum gain of a point with the duals of its boxes, or ``NO`` without points."""
        if any(low > high for low, high in limits):
            return NO
        constrained = self._constrained | {v for box, _ in boxes for v, *_ in box}
        if not all(self.integer[v] for v in constrained):
            raise WrongError("a row of a block has a continuous variable")
        total: Any = 0
        for v, (gain, ends) in enumerate(zip(gains, limits, strict=True)):
            if gain and v not in constrained:  # it occurs in no row or box
                total += gain * finite(ends[gain > 0])
        return total + _Walk(self._rows, limits, boxes, self.limit).best(gains, sorted(constrained))


class _Walk:
    """A dynamic program over integer variables. Its state is the sums of rows and the boxes that still hold.

    Sums of the longest row are positions in a list, counted from their minimum. Sums of other rows are a key. One is
    dropped as soon as its row holds for all remaining values.
    """

    def __init__(
        self,
        rows: Sequence[tuple[Limits, dict[int, int]]],
        limits: Sequence[Limits],
        boxes: Sequence[tuple[Box, Any]],
        limit: int | None,
    ) -> None:
        ((low, high), self.longest), *self.others = rows or [((0, 0), {})]
        self.limits, self.boxes, self.limit = limits, boxes, limit
        spans = [span(a, limits[v]) for v, a in self.longest.items()]
        least = finite(sum(span[0] for span in spans))
        self.room = min(high, sum(span[1] for span in spans)) - least
        self.needed = max(low - least, 0)
        self.last = [max(v for v, *_ in box) for box, _ in boxes]

    def best(self, gains: Sequence[int], order: Sequence[int]) -> Any:
        """Return the maximum gain of the variables with the duals of boxes, or ``NO`` if infeasible."""
        if self.room < self.needed:
            return NO
        self._check_size(self.room + 1)
        layer = {((0,) * len(self.others), (1 << len(self.boxes)) - 1): [0] + [NO] * self.room}
        looked_at = 0
        for k, v in enumerate(order):
            options, rest = self._options(v), self._rest(order[k + 1 :])
            looked_at += len(options) * len(layer) * (self.room + 1)
            if self.limit is not None:
                self._check_size(looked_at)
            if looked_at > WORK_LIMIT:
                raise UnreadableError(f"expected a block whose enumeration takes at most {WORK_LIMIT:,} steps")
            below: dict[Any, list[Any]] = {}
            for (sums, still), values in layer.items():
                for x, place in options:
                    to = self._add_to_sums(sums, v, x, rest)
                    if to is None:
                        continue
                    left, paid = self._update_boxes(still, v, x)
                    gain = gains[v] * x + paid
                    moved = values  # most variables are often zero
                    if gain or place:
                        moved = [NO] * place + [value + gain for value in values[: self.room + 1 - place]]
                    known = below.get((to, left))
                    below[to, left] = moved if known is None else list(map(max, known, moved))
                    self._check_size(len(below) * (self.room + 1))
            layer = below
        return max((max(values[self.needed :]) for values in layer.values()), default=NO)

    def _check_size(self, count: int) -> None:
        """Raise an error for too many sums, before a list of them is made."""
        if self.limit is not None and count > self.limit:
            raise WrongError("there are more sums than the limit")
        if count > TABLE_LIMIT:
            raise UnreadableError(f"expected a block of at most {TABLE_LIMIT:,} sums, not {count}")

    def _options(self, v: int) -> list[tuple[int, int]]:
        """Return the values of a variable, and the shift of the longest row's sum for each."""
        (low, high), a = self.limits[v], self.longest.get(v, 0)
        start, step = (low, 1) if a >= 0 else (high, -1)
        most = finite(min(high - low, self.room // abs(a)) if a else high - low)
        self._check_size(most + 1)
        return [(start + step * q, abs(a) * q) for q in range(most + 1)]

    def _rest(self, order: Sequence[int]) -> list[Limits]:
        """Return the ranges by which the remaining variables can change the other rows."""
        found = []
        for _, terms in self.others:
            spans = [span(terms[v], self.limits[v]) for v in order if v in terms]
            found.append((sum(span[0] for span in spans), sum(span[1] for span in spans)))
        return found

    def _add_to_sums(self, sums: tuple[Any, ...], v: int, x: int, rest: Sequence[Limits]) -> tuple[Any, ...] | None:
        """Return the sums of the other rows after one more variable, or None if a row is violated."""
        found: list[Any] = []
        for total, ((low, high), terms), (least, most) in zip(sums, self.others, rest, strict=True):
            if total is not None:
                total += terms.get(v, 0) * x
                if total + most < low or total + least > high:
                    return None
                if low <= total + least and total + most <= high:
                    total = None
            found.append(total)
        return tuple(found)

    def _update_boxes(self, still: int, v: int, x: int) -> tuple[int, Any]:
        """Return the boxes that still hold, as bits, and the duals of boxes completed by this variable."""
        paid = 0
        for k, (box, dual) in enumerate(self.boxes):
            if any(u == v and not holds(x, (low, high)) for u, low, high in box):
                still &= ~(1 << k)
            if v == self.last[k]:
                paid += dual if still >> k & 1 else 0
                still |= 1 << k
        return still, paid


def _terms(record: Sequence[Any], count: int) -> dict[int, Fraction]:
    terms = {integer(k): exact(entry) for k, entry in record}
    if len(terms) < len(record) or not set(terms) <= set(range(count)) or not all(terms.values()):
        raise WrongError("expected nonzero entries in different places")
    return terms


def _scale_to_integers(row: Row, is_integer: bool) -> tuple[Limits, dict[int, int]]:
    """Return a row with integer entries and an upper side; sides of a row of integer variables are rounded."""
    (low, high), terms = row
    unit = Fraction(math.lcm(*(a.denominator for a in terms.values())))
    unit /= math.gcd(*(int(unit * a) for a in terms.values())) or 1
    if high is None and low is not None:
        low, high, unit = None, low, -unit
    limits = _ends(None if low is None else low * unit, (high or 0) * unit, is_integer)
    return limits, {v: int(unit * a) for v, a in terms.items()}


def _ends(low: Any, high: Any, is_integer: bool) -> Limits:
    """Return the least and the greatest value of a variable between two sides, rounded inwards if it is integer."""
    if is_integer:
        return NO if low is None else math.ceil(low), -NO if high is None else math.floor(high)
    return NO if low is None else low, -NO if high is None else high


def formulation(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the program of a compact model over points of its blocks. Other variables form a block used once.

    Members of a block have the same variables and rows, in one order.
    """
    fields(instance, ("kind", "sense", "offset", "variables", "rows", "linking", "blocks"), ("name",))
    rows, linking = instance["rows"], [integer(r) for r in instance["linking"]]
    variables, fixed, redundant = presolve(instance["variables"], rows)
    place: dict[int, tuple[int, int]] = {}  # by variable: member of a block, and place in it
    members = [member for block in instance["blocks"] for member in block]
    for number, member in enumerate(members):
        place.update((integer(v), (number, k)) for k, v in enumerate(member))
    everything = set(range(len(variables)))
    if len(place) < sum(map(len, members)) or not set(place) <= everything:
        raise WrongError("expected each variable in at most one block")
    if len(set(linking)) < len(linking) or not set(linking) <= set(range(len(rows))):
        raise WrongError("expected different linking rows")
    entries: dict[int, list[Any]] = {v: [] for v in everything}
    own: list[list[Any]] = [[] for _ in members]
    static_rows: list[Any] = []
    sides_: list[Any] = []
    for k, row in enumerate(linking):
        low, high, terms = rows[row]
        sides_.append([low, high])
        for v, entry in terms:
            entries[integer(v)].append([k, entry])
    fixed = {v: value for v, value in fixed.items() if v not in place}
    for row in sorted(set(range(len(rows))).difference(linking, redundant)):
        low, high, terms = _without(fixed, rows[row])
        if not terms:  # an empty row belongs to the variables without a block
            static_rows.append([low, high, []])
            continue
        (number,) = {place[integer(v)][0] for v, _ in terms}
        own[number].append([low, high, sorted([place[v][1], entry] for v, entry in terms)])
    problems, number = [], 0
    for block in instance["blocks"]:
        same = []
        for member in block:
            data = {"variables": [variables[v] for v in member], "entries": [entries[v] for v in member]}
            same.append({**data, "rows": sorted(own[number], key=str)})
            number += 1
        if any(data != same[0] for data in same):
            raise WrongError("expected identical blocks")
        problems.append({"kind": "block", "uses": [len(block), len(block)], "cost": 0, **same[0]})
    static = sorted(everything.difference(place))
    data = {"variables": [variables[v] for v in static], "entries": [entries[v] for v in static], "rows": static_rows}
    problems.append({"kind": "block", "uses": [1, 1], "cost": instance["offset"], **data})
    return {"sense": instance["sense"], "step": _step(instance), "rows": sides_, "pricing": problems}


def presolve(variables: Sequence[Any], rows: Sequence[Any]) -> tuple[list[Any], dict[int, Fraction], set[int]]:
    """Return variables with tighter limits, the values of fixed ones, and rows that limits or other rows imply.

    A row gives limits if its other variables are fixed.  A multiple of a row that is at least as tight is redundant.
    """
    for _, _, terms in rows:
        _terms(terms, len(variables))
    found, fixed = list(variables), dict[int, Fraction]()
    ends = [_ends(*sides((low, high)), is_integer) for _, low, high, is_integer in variables]
    while True:
        for row in rows:
            if sum(v not in fixed for v, _ in row[2]) == 1:
                low, high, ((v, a),) = _without(fixed, row)
                one, other = (None if side is None else exact(side) / exact(a) for side in (low, high))
                cost, _, _, is_integer = found[v]
                least, most = _ends(*((one, other) if exact(a) > 0 else (other, one)), is_integer)
                ends[v] = max(ends[v][0], least), min(ends[v][1], most)
                limits = [None if abs(end) == math.inf else _written(end) for end in ends[v]]
                found[v] = [cost, *limits, is_integer]
        before, fixed = fixed, {v: Fraction(low) for v, (low, high) in enumerate(ends) if low == high}
        if fixed == before:
            return found, fixed, _redundant(fixed, ends, rows)


def _redundant(fixed: Mapping[int, Fraction], ends: Sequence[Limits], rows: Sequence[Any]) -> set[int]:
    """Return the rows that limits of a variable imply, or a multiple of another row; the first of equal ones stays."""
    found = set[int]()
    multiples: dict[Any, list[Any]] = {}
    for k, row in enumerate(rows):
        low, high, terms = _without(fixed, row)
        if len(terms) < 2:
            spans = [span(exact(a), ends[v]) for v, a in terms] or [(0, 0)]
            found.update({k} if all(holds(end, sides((low, high))) for end in spans[0]) else ())
            continue
        terms = sorted((v, exact(a)) for v, a in terms)
        first = terms[0][1]
        least, most = span(1 / first, _ends(*sides((low, high)), False))
        multiples.setdefault(tuple((v, a / first) for v, a in terms), []).append((-least, most, abs(first), k))
    for same in multiples.values():
        kept: list[Any] = []
        for each in sorted(same):
            if any(each[0] >= low and each[1] >= high for low, high, *_ in kept):
                found.add(each[-1])
            else:
                kept.append(each)
    return found


def _without(fixed: Mapping[int, Fraction], row: Sequence[Any]) -> tuple[Any, Any, list[Any]]:
    """Return a row whose sides contain the terms of fixed variables."""
    low, high, terms = row
    moved = sum((exact(a) * fixed[v] for v, a in terms if v in fixed), Fraction(0))
    if moved:
        low, high = (None if side is None else _written(exact(side) - moved) for side in (low, high))
    return low, high, [[v, a] for v, a in terms if v not in fixed]


def _written(number: Fraction | int) -> int | str:
    """Return a number in the form of a certificate."""
    return int(number) if number.denominator == 1 else str(number)


def _step(instance: Mapping[str, Any]) -> int | str | None:
    """Return a number of which all objectives are multiples. None if a continuous variable has a cost, or none has."""
    costs = [exact(cost) for cost, *_ in instance["variables"]]
    if any(cost and not each[3] for cost, each in zip(costs, instance["variables"], strict=True)):
        return None
    costs = [cost for cost in (*costs, exact(instance["offset"])) if cost]
    over = math.lcm(*(cost.denominator for cost in costs))
    return str(Fraction(math.gcd(*(int(over * cost) for cost in costs)), over)) if costs else None

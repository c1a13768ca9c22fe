"""Paths with resources: pricing by backward labels, and the list of all paths within a reduced cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from operator import add, ge, sub
from typing import Any, NamedTuple

from colgen.certificate.checker_pricing import NO, CheckerState, Place, WrongError, check_count, exact, fields, integer

NEAR = 8
"""Size of the neighbourhood of a vertex, including itself."""


class _Arc(NamedTuple):
    """An arc, its cost, and what it consumes of each resource."""

    number: int
    tail: int
    head: int
    cost: int
    consumption: tuple[int, ...]


_Penalties = tuple[tuple[tuple[int, int], ...], ...]
"""Thresholds and rates by resource: a value pays its rate times what it exceeds the threshold by."""


class _Label(NamedTuple):
    """A path to the sink: cost at the least values, remembered classes as bits, greatest values, what more pays."""

    cost: int
    members: int
    latest: tuple[Any, ...]
    pays: _Penalties


class NetworkPaths:
    """Paths from source to sink that visit no vertex and no row twice, within the limits of resources.

    The value of a resource at the head of an arc is the larger of its lower limit and of the value at the tail plus the
    arc's consumption; it is at most the upper limit.  A path visits each of the ``sets`` at most once, and for each
    request (pickup, delivery) both, the delivery later, or none.

    A column is the list of a path's arcs.  It costs the sum of its arcs, and at each vertex but the source the penalty
    rate · max(0, value - threshold).  It covers the rows of its vertices once.
    """

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        fields(data, ("source", "sink", "rows", "arcs", "resources"), ("kind", "uses", "name", "sets", "requests"))
        self.number, self.rows = number, [None if row is None else integer(row) for row in data["rows"]]
        self.source, self.sink = integer(data["source"]), integer(data["sink"])
        count = len(self.rows)
        if not all(row is None or 0 <= row < num_rows for row in self.rows):
            raise WrongError("expected rows of the program for the vertices")
        ends = [(integer(tail), integer(head)) for tail, head, _ in data["arcs"]]
        if not (0 <= self.source < count and 0 <= self.sink < count and self.source != self.sink):
            raise WrongError("expected a source and another vertex as the sink")
        if any(not (0 <= u < count and 0 <= v < count) or v == self.source or u == self.sink for u, v in ends):
            raise WrongError("expected arcs between vertices, none into the source or out of the sink")
        if self.rows[self.source] is not None or self.rows[self.sink] is not None:
            raise WrongError("expected no rows of source and sink")
        costs = [exact(cost) for *_, cost in data["arcs"]]
        read = [_resource(each, count, len(ends)) for each in data["resources"]]
        rates = [rate for each in read for _, rate in each.penalties]
        self.over = math.lcm(*(cost.denominator for cost in (*costs, *rates)))
        self.start = tuple(max(each.start, each.lower[self.source]) for each in read)
        self.lower = [tuple(each.lower[v] for each in read) for v in range(count)]
        self.upper = [tuple(each.upper[v] for each in read) for v in range(count)]
        self.pays: list[_Penalties] = [
            tuple(((t, int(rate * self.over)),) if rate else () for t, rate in (each.penalties[v] for each in read))
            for v in range(count)
        ]
        self.arcs = [
            _Arc(k, u, v, int(cost * self.over), tuple(each.consumption[k] for each in read))
            for k, ((u, v), cost) in enumerate(zip(ends, costs, strict=True))
        ]
        self.earliest = [tuple(each) for each in zip(*map(self._earliest, range(len(read))), strict=True)] or self.lower
        # Each row is a class of vertices, and so is each other vertex.
        self.bits = [1 << (num_rows + v if row is None else row) for v, row in enumerate(self.rows)]
        self.near, self.keeps, self._rules = self._neighbourhoods(count), [~0] * count, num_rows + count
        self._add_sets(data.get("sets", ()))
        self._add_requests(data.get("requests", ()))
        self.near = [(near | ~0 << num_rows + count) & keeps for near, keeps in zip(self.near, self.keeps, strict=True)]
        self.limit: int | None = None  # on the number of labels, for callers that prefer an error
        self._known: tuple[Any, Any] = None, None  # the last costs of arcs, and completions at them

    def _earliest(self, q: int) -> list[Any]:
        """Return the least value of a resource at each vertex over all walks; lower limits if it may fall forever."""
        found: list[Any] = [-NO] * len(self.rows)
        found[self.source] = self.start[q]
        for _ in self.rows:
            changed = False
            for _, tail, head, _, used in self.arcs:
                value = max(found[tail] + used[q], self.lower[head][q])
                if value < found[head] and value <= self.upper[head][q]:
                    found[head], changed = value, True
            if not changed:
                return found
        return [lower[q] for lower in self.lower]

    def _neighbourhoods(self, count: int) -> list[int]:
        """Return the classes that a path at each vertex remembers; all of them where walks may not end otherwise."""
        inner = [arc for arc in self.arcs if arc.head != self.sink]
        ends = any(
            all(upper[q] < math.inf for upper in self.upper) and all(arc.consumption[q] >= 1 for arc in inner)
            for q in range(len(self.start))
        )
        if not ends:
            return [~0] * count
        found = list(self.bits)
        for vertex in range(count):
            leaving = sorted((arc.cost, arc.head) for arc in inner if arc.tail == vertex)
            for _, head in leaving:
                if found[vertex].bit_count() >= NEAR:
                    break
                found[vertex] |= self.bits[head]
        return found

    def _add_sets(self, sets: Sequence[Any]) -> None:
        """Make each set one more class of its vertices."""
        for members in sets:
            if not all(0 <= integer(v) < len(self.bits) for v in members):
                raise WrongError("expected sets of vertices")
            for v in set(members):
                self.bits[v] |= 1 << self._rules
            self._rules += 1

    def _add_requests(self, requests: Sequence[Any]) -> None:
        """Make each request two more classes, of which a path remembers one: after the pickup, or after the delivery.

        A pickup is forbidden after itself, and a delivery after itself.  A path begins as if it came from a delivery,
        and the sink is like a pickup.  A path to the sink remembers the first of both that it visits.
        """
        inner = {*range(len(self.bits))} - {self.source, self.sink}
        for pickup, delivery in requests:
            if not {integer(pickup), integer(delivery)} <= inner or pickup == delivery:
                raise WrongError("expected requests of two vertices other than source and sink")
            picked, delivered = 1 << self._rules, 2 << self._rules
            for ends, bit, other in (
                ((pickup, self.sink), picked, delivered),
                ((delivery, self.source), delivered, picked),
            ):
                for v in ends:
                    self.bits[v] |= bit
                self.keeps[ends[0]] &= ~other
            self._rules += 2

    def prices(self) -> list[Fraction]:
        rates = [rate for pays in self.pays for each in pays for _, rate in each]
        return [Fraction(cost, self.over) for cost in (*(arc.cost for arc in self.arcs), *rates)]

    def subtracts(self, row: int) -> bool:
        return False

    def column(self, path: Any) -> tuple[Fraction, dict[int, int]]:
        at, values, seen, cost = self.source, self.start, self.bits[self.source], 0
        if not all(map(ge, self.upper[at], values)):
            raise WrongError("a path exceeds a limit at the source")
        for number in path:
            if not 0 <= integer(number) < len(self.arcs) or self.arcs[number].tail != at:
                raise WrongError("a path has an arc that does not continue it")
            arc = self.arcs[number]
            at, cost, reached = arc.head, cost + arc.cost, self._reached(values, arc)
            if reached is None:
                raise WrongError(f"a path exceeds a limit at vertex {at}")
            if seen & self.bits[at]:
                raise WrongError(f"a path visits vertex {at}, its row or a set twice, or half a request")
            cost += _paid(self.pays[at], reached)
            values, seen = reached, seen & self.keeps[at] | self.bits[at]
        if at != self.sink:
            raise WrongError("a path does not end at the sink")
        covered = {self.rows[self.arcs[number].head]: 1 for number in path}
        return Fraction(cost, self.over), {row: 1 for row in covered if row is not None}

    def _reached(self, values: tuple[Any, ...], arc: _Arc) -> tuple[Any, ...] | None:
        """Return the values at the head of an arc, or None beyond a limit."""
        arrived = (value + used for value, used in zip(values, arc.consumption, strict=True))
        found = tuple(map(max, arrived, self.lower[arc.head]))
        return found if all(map(ge, self.upper[arc.head], found)) else None

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return a lower bound on the reduced costs of paths, the least one of an ng-path; 0 if there is no path.

        It is multiplied by the denominator of the dual values.
        """
        if unit < 0 and any(map(any, self.pays)):
            raise WrongError("paths that pay for values are only minimised")
        costs = self._costs(duals, unit)
        found = (
            costs[arc.number] + label.cost + _paid(label.pays, reached)
            for arc, reached in self._first()
            for label in self._completions(costs, int(unit))[arc.head]
            if not label.members & self.bits[self.source] and all(map(ge, label.latest, reached))
        )
        return Fraction(min(found, default=0), self.over)

    def _first(self) -> Iterator[tuple[_Arc, tuple[Any, ...]]]:
        """Yield the arcs out of the source, and the values at their heads."""
        if all(map(ge, self.upper[self.source], self.start)):
            for arc in self.arcs:
                reached = self._reached(self.start, arc) if arc.tail == self.source else None
                if reached is not None and not self.bits[self.source] & self.bits[arc.head]:
                    yield arc, reached

    def within(self, duals: Sequence[int], unit: Fraction, most: Fraction) -> dict[int, Fraction]:
        """Return the rows (as bits) and the cost of every column whose reduced cost is at most ``most``.

        Of paths over the same rows only the cheapest is returned, because it can replace the others if costs are
        minimised.
        """
        if unit <= 0:
            raise WrongError("paths can be listed only if their costs are minimised")
        costs, limit = self._costs(duals, unit), math.floor(most * self.over)  # all costs are integers
        rest, found = self._completions(costs, int(unit)), dict[int, int]()
        own = sum({1 << row for row in self.rows if row is not None})
        leaving: list[list[_Arc]] = [[] for _ in self.rows]
        for arc in self.arcs:
            leaving[arc.tail].append(arc)
        start = self.bits[self.source]
        stack = [(arc, start, reached, 0, 0) for arc, reached in self._first()]
        while stack:
            arc, seen, values, cost, price = stack.pop()
            at, price, paid = arc.head, price + costs[arc.number], _paid(self.pays[arc.head], values)
            further, cost, price = limit - price, cost + arc.cost + paid, price + int(unit) * paid
            if at == self.sink:
                if price <= limit:
                    found[seen & own] = min(found.get(seen & own, cost), cost)
                continue
            for label in rest[at]:
                if label.cost > further:
                    break
                if (
                    not seen & label.members
                    and all(map(ge, label.latest, values))
                    and label.cost + _paid(label.pays, values) <= further
                ):
                    seen = seen & self.keeps[at] | self.bits[at]
                    for following in leaving[at]:
                        if not seen & self.bits[following.head]:
                            reached = self._reached(values, following)
                            if reached is not None:
                                stack.append((following, seen, reached, cost, price))
                    break
            check_count(len(stack) + len(found), self.limit, "paths")
        return {seen: Fraction(cost, self.over) for seen, cost in found.items()}

    def _costs(self, duals: Sequence[int], unit: Fraction) -> list[int]:
        """Return reduced costs of arcs times the denominators of the duals and of the costs."""
        earned = [0 if row is None else duals[row] * self.over for row in self.rows]
        return [int(unit) * arc.cost - earned[arc.head] for arc in self.arcs]

    def _completions(self, costs: list[int], unit: int) -> list[list[_Label]]:
        """Return labels of paths to the sink by vertex, cheapest first.

        A label is dropped if another costs no more at all of its values, and remembers a subset of its classes.
        """
        if self._known[0] == (unit, costs):  # before listing, the least reduced cost is computed
            return self._known[1]  # type: ignore[no-any-return]
        own_pays: list[_Penalties] = [
            tuple(tuple((t, unit * rate) for t, rate in each) for each in pays) for pays in self.pays
        ]
        paying = any(map(any, own_pays))
        kept: list[list[_Label]] = [[] for _ in self.rows]
        entering: list[list[Any]] = [[] for _ in self.rows]
        for arc in self.arcs:
            v, used = arc.tail, arc.consumption
            if v != self.source and all(map(ge, self.upper[v], self.earliest[v])):
                needed = tuple(map(add, self.earliest[v], used))
                ends = self.upper[v], self.earliest[v], own_pays[v]
                entering[arc.head].append((v, costs[arc.number], self.bits[v], self.near[v], used, needed, *ends))
        first, left, count = self.earliest[self.sink], self.upper[self.sink], 0
        paid, pays = _settled(own_pays[self.sink], first, left)
        level = [(_Label(paid, self.bits[self.sink], left, pays), self.sink)] if all(map(ge, left, first)) else []
        while level:
            level.sort()
            below = []
            for label, vertex in level:
                cost, members, latest, pays = label
                forgotten = ~members
                for c, m, t, p in kept[vertex]:
                    if (
                        c <= cost
                        and not m & forgotten
                        and all(map(ge, t, latest))
                        and (not paying or c + _most(p, pays, latest) <= cost)
                    ):
                        break
                else:
                    kept[vertex].append(label)
                    for tail, price, own, near, used, needed, upper, first, own_pay in entering[vertex]:
                        if not members & own and all(map(ge, latest, needed)):
                            left = tuple(map(min, upper, map(sub, latest, used)))
                            paid, before = 0, pays
                            if paying:
                                paid, before = _settled(_moved(pays, own_pay, used), first, left)
                            below.append((_Label(cost + price + paid, members & near | own, left, before), tail))
                check_count(count + len(below), self.limit, "labels")
            level = below
            count += len(level)
        self._known = (unit, costs), [sorted(labels) for labels in kept]
        return self._known[1]


class _Resource(NamedTuple):
    """Integers, infinite where there is no limit; a threshold and a rate per unit for each vertex."""

    start: int
    lower: list[Any]
    upper: list[Any]
    consumption: list[int]
    penalties: list[tuple[int, Fraction]]


def _resource(data: Any, vertices: int, arcs: int) -> _Resource:
    """Read a resource."""
    fields(data, ("start", "lower", "upper", "consumption"), ("name", "penalties"))
    start, used = exact(data["start"]), [exact(each) for each in data["consumption"]]
    lower, upper = ([None if side is None else exact(side) for side in data[name]] for name in ("lower", "upper"))
    pays = [(exact(threshold), exact(rate)) for threshold, rate in data.get("penalties", [(0, 0)] * vertices)]
    if not len(lower) == len(upper) == len(pays) == vertices or len(used) != arcs:
        raise WrongError("expected limits and penalties of a resource for each vertex, and a consumption for each arc")
    if any(rate < 0 or (rate and side is None) for side, (_, rate) in zip(upper, pays, strict=True)):
        raise WrongError("expected rates of at least 0, and an upper limit where one is positive")
    numbers = [start, *used, *(side for side in (*lower, *upper) if side is not None), *(t for t, _ in pays)]
    over = math.lcm(*(number.denominator for number in numbers))
    low, high = (
        [none if side is None else int(side * over) for side in limits] for limits, none in ((lower, NO), (upper, -NO))
    )
    thresholds = [(int(threshold * over), rate / over) for threshold, rate in pays]
    return _Resource(int(start * over), low, high, [int(each * over) for each in used], thresholds)


def _paid(pays: _Penalties, values: tuple[Any, ...]) -> int:
    """Return what values pay."""
    return sum(rate * (value - t) for each, value in zip(pays, values, strict=True) for t, rate in each if value > t)


def _moved(pays: _Penalties, own: _Penalties, consumption: tuple[int, ...]) -> _Penalties:
    """Return what values at the tail of an arc pay there and later."""
    return tuple(
        (*((t - used, rate) for t, rate in each), *more)
        for each, more, used in zip(pays, own, consumption, strict=True)
    )


def _settled(pays: _Penalties, first: tuple[Any, ...], last: tuple[Any, ...]) -> tuple[int, _Penalties]:
    """Return what the values ``first`` pay, and what values up to ``last`` pay in addition."""
    return _paid(pays, first), tuple(
        tuple((max(t, low), rate) for t, rate in each if t < high)
        for each, low, high in zip(pays, first, last, strict=True)
    )


def _most(pays: _Penalties, others: _Penalties, last: tuple[Any, ...]) -> int:
    """Return the most that values up to ``last`` pay more than others; the smallest values pay neither.

    Between thresholds of the others the difference is convex, so it is greatest at one of them or at an end.
    """
    return sum(
        max(0, *(_paid((each,), (x,)) - _paid((other,), (x,)) for x in (high, *(t for t, _ in other))))
        for each, other, high in zip(pays, others, last, strict=True)
    )

"""Paths with resources: pricing by backward labels, and the list of all paths within a reduced cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from operator import ge
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


class _Label(NamedTuple):
    """A path to the sink: cost, remembered classes as bits, and the greatest values at which it is feasible."""

    cost: int
    members: int
    latest: tuple[Any, ...]


class NetworkPaths:
    """Paths from source to sink that visit no vertex and no row twice, within the limits of resources.

    The value of a resource at the head of an arc is the larger of its lower limit and of the value at the tail plus the
    arc's consumption; it is at most the upper limit.  A column is the list of a path's arcs.  It costs the sum of its
    arcs, and covers the rows of its vertices once.
    """

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        fields(data, ("source", "sink", "rows", "arcs", "resources"), ("kind", "uses", "name"))
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
        self.over = math.lcm(*(cost.denominator for cost in costs))
        read = [_resource(each, count, len(ends)) for each in data["resources"]]
        self.start = tuple(max(start, lower[self.source]) for start, lower, _, _ in read)
        self.lower = [tuple(lower[v] for _, lower, _, _ in read) for v in range(count)]
        self.upper = [tuple(upper[v] for _, _, upper, _ in read) for v in range(count)]
        self.arcs = [
            _Arc(k, u, v, int(cost * self.over), tuple(used[k] for *_, used in read))
            for k, ((u, v), cost) in enumerate(zip(ends, costs, strict=True))
        ]
        self.earliest = [tuple(each) for each in zip(*map(self._earliest, range(len(read))), strict=True)] or self.lower
        # Each row is a class of vertices, and so is each other vertex.
        self.bits = [1 << (num_rows + v if row is None else row) for v, row in enumerate(self.rows)]
        self.near = self._neighbourhoods(count)
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

    def prices(self) -> list[Fraction]:
        return [Fraction(arc.cost, self.over) for arc in self.arcs]

    def subtracts(self, row: int) -> bool:
        return False

    def column(self, path: Any) -> tuple[Fraction, dict[int, int]]:
        at, values, seen, cost = self.source, self.start, self.bits[self.source], 0
        for number in path:
            if not 0 <= integer(number) < len(self.arcs) or self.arcs[number].tail != at:
                raise WrongError("a path has an arc that does not continue it")
            arc = self.arcs[number]
            at, cost, reached = arc.head, cost + arc.cost, self._reached(values, arc)
            if reached is None:
                raise WrongError(f"a path exceeds a limit at vertex {at}")
            if seen & self.bits[at]:
                raise WrongError(f"a path visits vertex {at}, or its row, twice")
            values, seen = reached, seen | self.bits[at]
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
        costs = self._costs(duals, unit)
        found = (
            costs[arc.number] + label.cost
            for arc, reached in self._first()
            for label in self._completions(costs)[arc.head]
            if all(map(ge, label.latest, reached))
        )
        return Fraction(min(found, default=0), self.over)

    def _first(self) -> Iterator[tuple[_Arc, tuple[Any, ...]]]:
        """Yield the arcs out of the source, and the values at their heads."""
        if all(map(ge, self.upper[self.source], self.start)):
            for arc in self.arcs:
                reached = self._reached(self.start, arc) if arc.tail == self.source else None
                if reached is not None:
                    yield arc, reached

    def within(self, duals: Sequence[int], unit: Fraction, most: Fraction) -> dict[int, Fraction]:
        """Return the rows (as bits) and the cost of every column whose reduced cost is at most ``most``.

        Of paths over the same rows only the cheapest is returned, because it can replace the others if costs are
        minimised.
        """
        if unit <= 0:
            raise WrongError("paths can be listed only if their costs are minimised")
        costs, limit = self._costs(duals, unit), math.floor(most * self.over)  # all costs are integers
        rest, found = self._completions(costs), dict[int, int]()
        own = sum({1 << row for row in self.rows if row is not None})
        leaving: list[list[_Arc]] = [[] for _ in self.rows]
        for arc in self.arcs:
            leaving[arc.tail].append(arc)
        start = self.bits[self.source]
        stack = [(arc, start, reached, 0, 0) for arc, reached in self._first()]
        while stack:
            arc, seen, values, cost, price = stack.pop()
            at, cost, price = arc.head, cost + arc.cost, price + costs[arc.number]
            further = limit - price
            if at == self.sink:
                if further >= 0:
                    found[seen & own] = min(found.get(seen & own, cost), cost)
                continue
            for label in rest[at]:
                if label.cost > further:
                    break
                if not seen & label.members and all(map(ge, label.latest, values)):
                    seen |= self.bits[at]
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

    def _completions(self, costs: list[int]) -> list[list[_Label]]:
        """Return labels of paths to the sink by vertex, cheapest first.

        A label is dropped if another costs no more, is feasible at all of its values, and remembers a subset of its
        classes.
        """
        if self._known[0] == costs:  # before listing, the least reduced cost is computed
            return self._known[1]  # type: ignore[no-any-return]
        kept: list[list[_Label]] = [[] for _ in self.rows]
        entering: list[list[_Arc]] = [[] for _ in self.rows]
        for arc in self.arcs:
            if arc.tail != self.source:
                entering[arc.head].append(arc)
        level = [(_Label(0, self.bits[self.sink], self.upper[self.sink]), self.sink)]
        count = 0
        while level:
            level.sort()
            below = []
            for label, vertex in level:
                cost, members, latest = label
                for other in kept[vertex]:
                    if other.cost <= cost and not other.members & ~members and all(map(ge, other.latest, latest)):
                        break
                else:
                    kept[vertex].append(label)
                    for arc in entering[vertex]:
                        tail, own = arc.tail, self.bits[arc.tail]
                        if members & own:
                            continue
                        left = tuple(
                            map(min, self.upper[tail], (t - c for t, c in zip(latest, arc.consumption, strict=True)))
                        )
                        if all(map(ge, left, self.earliest[tail])):
                            more = _Label(cost + costs[arc.number], members & self.near[tail] | own, left)
                            below.append((more, tail))
                check_count(count + len(below), self.limit, "labels")
            level = below
            count += len(level)
        self._known = costs, [sorted(labels) for labels in kept]
        return self._known[1]


def _resource(data: Any, vertices: int, arcs: int) -> tuple[int, list[Any], list[Any], list[int]]:
    """Return start, lower and upper limits and consumption as integers, infinite where there is no limit."""
    fields(data, ("start", "lower", "upper", "consumption"), ("name",))
    start, used = exact(data["start"]), [exact(each) for each in data["consumption"]]
    lower, upper = ([None if side is None else exact(side) for side in data[name]] for name in ("lower", "upper"))
    if len(lower) != vertices or len(upper) != vertices or len(used) != arcs:
        raise WrongError("expected limits of a resource for each vertex, and a consumption for each arc")
    numbers = [start, *used, *(side for side in (*lower, *upper) if side is not None)]
    over = math.lcm(*(number.denominator for number in numbers))
    low, high = (
        [none if side is None else int(side * over) for side in limits] for limits, none in ((lower, NO), (upper, -NO))
    )
    return int(start * over), low, high, [int(each * over) for each in used]

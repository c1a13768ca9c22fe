"""Routes as the checker prices them: labels backwards over ng-routes, and the routes that these leave possible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from colgen.certificate.checker_pricing import CheckerState, Place, WrongError, counted, fields, table, whole

NEAR = 8
"""Customers in the neighbourhood of one, itself included."""


class Routes:
    """Ways from the depot 0 over customers and back, within a capacity and, perhaps, in time; in whole ticks.

    Customer i is row i - 1.  A column is the customers in the order of their visits, and costs its distance.
    """

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        own = ("ticks", "distances", "demands", "capacity", "windows", "service")
        fields(data, own, ("kind", "uses", "name", "vehicles"))
        self.number, self.ticks, self.capacity = number, whole(data["ticks"]), whole(data["capacity"])
        count = num_rows + 1
        self.away = table(data["distances"], count, count)
        self.loads, self.last = [whole(x) for x in data["demands"]], num_rows
        if (data["windows"] is None) != (data["service"] is None):
            raise WrongError("expected time windows and service times, or neither")
        if data["windows"] is None:
            late = sum(map(sum, self.away))  # where nobody is late
            self.windows, self.service = [(0, late) for _ in self.away], [0 for _ in self.away]
        else:
            self.windows = [(whole(a), whole(b)) for a, b in data["windows"]]
            self.service = [whole(x) for x in data["service"]]
        if not count == len(self.loads) == len(self.windows) == len(self.service):
            raise WrongError("expected a depot and the customers of the rows")
        if self.ticks < 1 or min(*self.loads, *self.service, *map(min, self.away)) < 0:
            raise WrongError("expected ticks, and distances, demands and service times of at least 0")
        if self.capacity < 0 or self.loads[0]:
            raise WrongError("expected a capacity of at least 0, and no demand of the depot")
        # Customers who ask for nothing could be visited in circles for ever: then all are remembered.
        size = NEAR if min(self.loads[1:], default=1) else count
        order = [sorted(range(1, count), key=lambda j, row=row: row[j]) for row in self.away]  # type: ignore[misc]
        self.near = [
            sum(1 << j for j in [i, *(j for j in near if j != i)][:size]) if i else 0 for i, near in enumerate(order)
        ]
        self.limit: int | None = None  # of labels: for who would rather not know
        self._known: tuple[Any, Any] = None, None  # the last costs of arcs, and completions at them

    def prices(self) -> list[Fraction]:
        """All costs: what objectives are sums of."""
        return [Fraction(1, self.ticks)]

    def subtracts(self, row: int) -> bool:
        """Whether a column may have an entry below 0 in a row: all are 0 or 1."""
        return False

    def column(self, route: Any) -> tuple[Fraction, dict[int, int]]:
        """Cost and entries of a column."""
        now, at, load = self.windows[0][0], 0, 0
        for i in (*route, 0):
            if not 0 <= whole(i) <= self.last:
                raise WrongError(f"a route visits {i}, which is no customer")
            now, load = max(now + self.service[at] + self.away[at][i], self.windows[i][0]), load + self.loads[i]
            if now > self.windows[i][1] or load > self.capacity:
                raise WrongError(f"a route is late or too full at location {i}")
            at = i
        if not route or len(set(route)) < len(route) or 0 in route:
            raise WrongError("a route visits each of its customers once, and one at least")
        length = sum(self.away[i][j] for i, j in pairwise((0, *route, 0)))
        return Fraction(length, self.ticks), {i - 1: 1 for i in route}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """What no column's reduced cost is less than, times the duals' denominator: the least of ng-routes."""
        costs = self._costs(duals, unit)
        rest, start = self._completions(costs), self.windows[0][0] + self.service[0]
        found = (
            costs[0][i] + cost
            for i in range(1, self.last + 1)
            for cost, _, latest, _ in rest[i]
            if max(start + self.away[0][i], self.windows[i][0]) <= latest
        )
        return Fraction(min(found, default=0), self.ticks)

    def within(self, duals: Sequence[int], unit: Fraction, most: Fraction) -> dict[int, Fraction]:
        """The customers' rows, as bits, and cost of all columns of no more than this reduced cost.

        Of routes over the same customers the shortest: it can replace the others, where length costs.
        """
        if unit <= 0:
            raise WrongError("routes are listed where their length costs, and not where it earns")
        costs, limit = self._costs(duals, unit), math.floor(most * self.ticks)  # all costs are whole
        rest, found = self._completions(costs), dict[int, int]()
        stack = [(0, 0, self.windows[0][0], 0, 0, 0)]
        while stack:
            at, seen, now, load, cost, length = stack.pop()
            leaves = now + self.service[at]
            if at and cost + costs[at][0] <= limit and leaves + self.away[at][0] <= self.windows[0][1]:
                home = length + self.away[at][0]
                found[seen >> 1] = min(found.get(seen >> 1, home), home)
            for j in range(1, self.last + 1):
                if seen >> j & 1:
                    continue
                begins = max(leaves + self.away[at][j], self.windows[j][0])
                room, further = self.capacity - load, limit - cost - costs[at][j]
                for left, members, latest, taken in rest[j]:
                    if left > further:
                        break
                    if begins <= latest and taken <= room and not seen & members:
                        to = (begins, load + self.loads[j], cost + costs[at][j], length + self.away[at][j])
                        stack.append((j, seen | 1 << j, *to))
                        break
            counted(len(stack) + len(found), self.limit, "routes")
        return {seen: Fraction(length, self.ticks) for seen, length in found.items()}

    def _costs(self, duals: Sequence[int], unit: Fraction) -> list[list[int]]:
        """Of each arc, times the duals' denominator and ticks: its length less what its head earns."""
        earned = [0, *(dual * self.ticks for dual in duals)]
        return [[int(unit) * d - e for d, e in zip(row, earned, strict=True)] for row in self.away]

    def _completions(self, costs: list[list[int]]) -> list[list[tuple[int, int, int, int]]]:
        """From each customer to the depot: cost, customers remembered, latest arrival and load, cheapest first.

        A way is left out where another one costs and loads no more, leaves later and remembers nobody else.
        """
        if self._known[0] == costs:  # where columns are listed, their least reduced cost was asked for first
            return self._known[1]  # type: ignore[no-any-return]
        kept: list[list[tuple[int, int, int, int]]] = [[] for _ in self.away]
        customers, ends = range(1, self.last + 1), self.windows[0][1]
        # Of the ways into each customer: whence, what is paid and loaded there, when one leaves, and who is remembered.
        arcs = [
            [
                (j, costs[j][i], self.loads[j], *self.windows[j], self.service[j] + self.away[j][i], self.near[j])
                for j in customers
            ]
            for i in range(len(self.away))
        ]
        level = [(0, 0, ends, 0, 0)]
        count = 0
        while level:
            level.sort()
            below = []
            for cost, seen, latest, load, i in level:
                forgotten = ~seen
                for c, m, t, q in kept[i]:
                    if c <= cost and t >= latest and q <= load and not m & forgotten:
                        break
                else:
                    if i:
                        kept[i].append((cost, seen, latest, load))
                    for j, price, more, opens, closes, takes, near in arcs[i]:
                        leaves = min(closes, latest - takes)
                        if leaves >= opens and load + more <= self.capacity and not seen >> j & 1:
                            below.append((cost + price, seen & near | 1 << j, leaves, load + more, j))
                counted(count + len(below), self.limit, "labels")
            level = below
            count += len(level)
        self._known = costs, [sorted(labels) for labels in kept]
        return self._known[1]

"""Routes: pricing by backward labels over ng-routes, and the list of all routes within a reduced cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from colgen.certificate.checker_pricing import CheckerState, Place, WrongError, check_count, fields, integer, table

NEAR = 8
"""Size of the neighbourhood of a customer, including itself."""


class Routes:
    """Tours from the depot 0 over customers, within a capacity and optionally time windows, in integer ticks.

    Customer i is row i - 1. A column is the list of customers in the order of visits, and costs its distance.
    """

    def __init__(self, number: int, data: Mapping[str, Any], num_rows: int) -> None:
        own = ("ticks", "distances", "demands", "capacity", "windows", "service")
        fields(data, own, ("kind", "uses", "name", "vehicles"))
        self.number, self.ticks, self.capacity = number, integer(data["ticks"]), integer(data["capacity"])
        count = num_rows + 1
        self.away = table(data["distances"], count, count)
        self.loads, self.last = [integer(x) for x in data["demands"]], num_rows
        if (data["windows"] is None) != (data["service"] is None):
            raise WrongError("expected time windows and service times, or neither")
        if data["windows"] is None:
            late = sum(map(sum, self.away))  # no tour is longer
            self.windows, self.service = [(0, late) for _ in self.away], [0 for _ in self.away]
        else:
            self.windows = [(integer(a), integer(b)) for a, b in data["windows"]]
            self.service = [integer(x) for x in data["service"]]
        if not count == len(self.loads) == len(self.windows) == len(self.service):
            raise WrongError("expected a depot and the customers of the rows")
        if self.ticks < 1 or min(*self.loads, *self.service, *map(min, self.away)) < 0:
            raise WrongError("expected ticks, and distances, demands and service times of at least 0")
        if self.capacity < 0 or self.loads[0]:
            raise WrongError("expected a capacity of at least 0, and no demand of the depot")
        # Customers without demand allow infinite cycles, so then all customers are remembered.
        size = NEAR if min(self.loads[1:], default=1) else count
        order = [sorted(range(1, count), key=lambda j, row=row: row[j]) for row in self.away]  # type: ignore[misc]
        self.near = [
            sum(1 << j for j in [i, *(j for j in near if j != i)][:size]) if i else 0 for i, near in enumerate(order)
        ]
        self.limit: int | None = None  # on the number of labels, for callers that prefer an error
        self._known: tuple[Any, Any] = None, None  # the last costs of arcs, and completions at them

    def prices(self) -> list[Fraction]:
        return [Fraction(1, self.ticks)]

    def subtracts(self, row: int) -> bool:
        return False

    def column(self, route: Any) -> tuple[Fraction, dict[int, int]]:
        now, at, load = self.windows[0][0], 0, 0
        for i in (*route, 0):
            if not 0 <= integer(i) <= self.last:
                raise WrongError(f"a route visits {i}, which is not a customer")
            now, load = max(now + self.service[at] + self.away[at][i], self.windows[i][0]), load + self.loads[i]
            if now > self.windows[i][1] or load > self.capacity:
                raise WrongError(f"a route is late or too full at location {i}")
            at = i
        if not route or len(set(route)) < len(route) or 0 in route:
            raise WrongError("expected a route with different customers, at least one")
        length = sum(self.away[i][j] for i, j in pairwise((0, *route, 0)))
        return Fraction(length, self.ticks), {i - 1: 1 for i in route}

    def least(self, duals: Sequence[int], unit: Fraction, counts: Mapping[Place, int], state: CheckerState) -> Fraction:
        """Return a lower bound on the reduced costs of routes, the least one of an ng-route, or 0 if all are positive.

        It is multiplied by the denominator of the dual values.
        """
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
        """Return the rows (as bits) and the cost of every column whose reduced cost is at most ``most``.

        Of routes over the same customers only the shortest is returned, because it can replace the others if cost grows
        with length.
        """
        if unit <= 0:
            raise WrongError("routes can be listed only if their length costs")
        costs, limit = self._costs(duals, unit), math.floor(most * self.ticks)  # all costs are integers
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
            check_count(len(stack) + len(found), self.limit, "routes")
        return {seen: Fraction(length, self.ticks) for seen, length in found.items()}

    def _costs(self, duals: Sequence[int], unit: Fraction) -> list[list[int]]:
        """Return reduced costs of arcs times the denominator of the duals and ticks."""
        earned = [0, *(dual * self.ticks for dual in duals)]
        return [[int(unit) * d - e for d, e in zip(row, earned, strict=True)] for row in self.away]

    def _completions(self, costs: list[list[int]]) -> list[list[tuple[int, int, int, int]]]:
        """Return labels to the depot by customer, cheapest first: cost, remembered customers, latest arrival, load.

        A label is dropped if another has no larger cost and load, is no earlier, and remembers a subset of its
        customers.
        """
        if self._known[0] == costs:  # before listing, the least reduced cost is computed
            return self._known[1]  # type: ignore[no-any-return]
        kept: list[list[tuple[int, int, int, int]]] = [[] for _ in self.away]
        customers, ends = range(1, self.last + 1), self.windows[0][1]
        # Arcs into each customer: tail, its cost, load and window, time to the head, and neighbourhood.
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
                check_count(count + len(below), self.limit, "labels")
            level = below
            count += len(level)
        self._known = costs, [sorted(labels) for labels in kept]
        return self._known[1]

"""Certificates: rule out routes by reduced cost, enumerate the others and prove the bound over the list."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen import Duals, Problem, Sense, Solution, solve
from colgen.certificate.certifier import Certifier, Record, as_exact
from colgen.certificate.checker_pricing import CheckerState, WrongError
from colgen.certificate.checker_routes import Routes as Checked
from colgen.certificate.witness import WitnessPoint
from colgen.core.warm_start import WarmStart
from colgen.problems.vehicle_routing.instance import RoutingInstance
from colgen.problems.vehicle_routing.layout import RouteLayout
from colgen.problems.vehicle_routing.pricing import RouteOracle
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program
from colgen.solvers.paths.labelling import Labelling

_LARGEST = 40
"""Maximum number of customers, because the checker would need too many labels for more."""

_LABELS = 100_000
"""Maximum numbers of labels in the checker, and of routes."""

_UNIT = 2**16
"""The denominator of dual values."""

_ROUNDS, _CUTS, _VIOLATED = 20, 40, 0.02
"""Separation at a node: most rounds, most cuts per round, least violation."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class _LayoutNear(RouteLayout):
    """A layout whose ng-neighbourhoods are given as bit sets."""

    def __init__(self, instance: RoutingInstance, near: Sequence[int]) -> None:
        super().__init__(instance)
        self._near = near

    @cached_property
    def solver(self) -> Labelling:
        count = len(self._near)
        mask = np.zeros((count + 1, count + 1), dtype=np.bool_)
        mask[:count, :count] = [[members >> j & 1 for j in range(count)] for members in self._near]
        return Labelling(self.network, self.resources()).with_neighbourhoods(mask)


@dataclass(frozen=True)
class _NodeBound:
    """A node's claim, the bound times ``_UNIT``, and the weight of each pair of customers in one route."""

    claim: Record
    total: Fraction
    together: Floats


class RoutesCertifier(Certifier):
    """Certifies instances of up to 40 customers whose numbers have few decimals.

    Dual values of the relaxation without cuts rule out most routes.  The others are enumerated and searched by
    branching on pairs of customers, with cuts over triples of customers.  Over a list, duals of cuts are easy to check.

    Parameters
    ----------
    over
        Return the problem without cuts over another network.
    """

    def __init__(self, instance: RoutingInstance, over: Callable[[RouteLayout], Problem]) -> None:
        super().__init__(Sense.MINIMIZE, instance.name)
        self._instance, self._over = instance, over

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        own = self._instance
        timed = own.windows is not None
        return {
            "kind": "vehicle_routing",
            "name": self.name,
            "ticks": int(own.ticks),
            "distances": own.matrix.astype(np.int64).tolist(),
            "demands": list(own.demands),
            "capacity": own.capacity,
            "windows": own.window_array.astype(np.int64).tolist() if timed else None,
            "service": own.service_array.astype(np.int64).tolist() if timed else None,
            "vehicles": own.most,
        }

    @cached_property
    def _program(self) -> Record:
        own = self._instance
        routes = {**self._data, "kind": "routes", "uses": [own.fewest, own.most]}
        return {
            "sense": "minimize",
            "step": f"1/{int(own.ticks)}",
            "rows": [[1, 1]] * own.num_customers,
            "pricing": [routes],
        }

    def formulation(self) -> Record:
        return self._program

    @cached_property
    def _checked(self) -> Checked:
        checked = Checked(0, self._program["pricing"][0], self._instance.num_customers)
        checked.limit = _LABELS
        return checked

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, list(column.structure)] for column, value in solution.columns for _ in range(round(value))]

    def objective(self, solution: Solution) -> Fraction:
        return sum((self._checked.column(route)[0] for _, _, route in self.columns(solution)), Fraction(0))

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterator[Record] | None:
        if self._instance.num_customers > _LARGEST:
            return None
        try:
            record, listed = self._rule_out(answer, points, goal)
        except WrongError:  # more labels than the limit
            return None
        return self._records(record, listed, goal)

    # --- the root ----------------------------------------------------------------------------------------------------

    def _relaxation_duals(self, answer: Solution) -> Floats:
        """Return the customers' dual values in the relaxation over the routes that the checker prices.

        The start has the answer's routes and single-customer routes: its duals are central and leave few labels.
        """
        layout, customers = _LayoutNear(self._instance, self._checked.near), self._instance.customers
        encode = RouteOracle(layout).encode
        columns = [encode(route) for route in (*(r for _, _, r in self.columns(answer)), *((i,) for i in customers))]
        result = solve(self._over(layout), relaxation=True, start=WarmStart(columns=columns))
        duals = None if result.certificate is None else result.certificate.duals
        return np.array([0.0 if duals is None else duals.get(("visit", i)) for i in customers])

    def _rule_out(
        self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction
    ) -> tuple[Record, Mapping[int, Fraction] | None]:
        """Return a claim that proves the goal, or the list of routes that an improving solution may use.

        Dual values that closed the run's root without other rows replace a new relaxation.
        """
        near = float(goal) - 0.5 / self._checked.ticks
        own = [p.duals["visit"] for p in points if p.costs_count and isinstance(p.duals, Duals) and p.bound > near]
        for values in own[:1]:
            with contextlib.suppress(WrongError):  # more labels than the limit: central duals may need fewer
                record, total, least = self._claim(np.asarray(values))
                if self._round_up(total) >= goal:
                    return {"weight": 1, **record}, None
        record, total, least = self._claim(self._relaxation_duals(answer))
        if self._round_up(total) >= goal:
            return {"weight": 1, **record}, None
        most = _UNIT * (goal - Fraction(1, self._checked.ticks)) - total + least
        listed = self._checked.within(record["duals"], Fraction(_UNIT), most)
        return {"what": "columns", **record, "left": len(listed)}, listed

    def _claim(self, values: Floats) -> tuple[Record, Fraction, Fraction]:
        """Return the record of dual values, the bound they prove and the least reduced cost, both times ``_UNIT``."""
        duals = np.rint(values * _UNIT).astype(np.int64).tolist()
        least = self._checked.least(duals, Fraction(_UNIT), {}, CheckerState())
        total = sum(duals) + self._used(least)
        record = {"unit": _UNIT, "duals": duals, "counts": [], "least": [as_exact(least)]}
        return {**record, "bound": as_exact(total / _UNIT)}, total, least

    def _used(self, least: Fraction) -> Fraction:
        return least * (self._instance.fewest if least >= 0 else self._instance.most)

    def _round_up(self, total: Fraction) -> Fraction:
        ticks = self._checked.ticks
        return Fraction(math.ceil(total / _UNIT * ticks), ticks)

    # --- the list ----------------------------------------------------------------------------------------------------

    def _records(self, record: Record, listed: Mapping[int, Fraction] | None, goal: Fraction) -> Iterator[Record]:
        if listed is None:
            yield {"node": 0, "claim": record}
            return
        yield {"node": 0, "fix": record}
        n, ticks = self._instance.num_customers, self._checked.ticks
        sets = np.array([[rows >> i & 1 for i in range(n)] for rows in listed], dtype=np.int64).reshape(-1, n)
        costs = np.array([int(cost * ticks) for cost in listed.values()], dtype=np.int64)
        stack, numbers = [(0, sets, costs)], itertools.count(1)
        while stack:
            node, sets, costs = stack.pop()
            found = self._bound_node(sets, costs, goal)
            if self._round_up(found.total) < goal:
                # Branch on the pair whose weight is nearest to 0.5.
                split = np.abs(found.together - 0.5)
                u, v = map(int, np.unravel_index(int(split.argmin()), split.shape))
                if split[u, v] < 0.499:
                    one, other = next(numbers), next(numbers)
                    yield {"node": node, "split": {"pair": [u, v]}, "children": [one, other]}
                    both = sets[:, u] + sets[:, v]
                    stack += [(k, sets[mask], costs[mask]) for k, mask in ((one, both != 1), (other, both != 2))]
                    continue
            yield {"node": node, "claim": found.claim}

    def _bound_node(self, sets: Ints, costs: Ints, goal: Fraction) -> _NodeBound:
        """Return the bound of a node over listed columns, from a linear program with cuts."""
        own, ticks = self._instance, self._checked.ticks
        n, count = own.num_customers, len(costs)
        penalty = 10.0 * float(goal) * ticks + 1.0  # cost of an unserved customer or a missing route
        matrix = np.eye(n + 1, count + n + 1, count, dtype=np.int64)
        matrix[:n, :count], matrix[n, :count] = sets.T, 1
        program = LinearProgram(
            Program(
                False,
                sparse.csc_array(matrix.astype(np.float64)),
                np.append(costs.astype(np.float64), np.full(n + 1, penalty)),
                np.zeros(count + n + 1),
                np.full(count + n + 1, np.inf),
                np.append(np.ones(n), 0.0),
                np.append(np.ones(n), float(own.most)),
            ),
        )
        program.change_row_bounds(np.array([n]), np.array([float(own.fewest)]), np.array([float(own.most)]))
        cuts: list[tuple[int, ...]] = []
        for _ in range(_ROUNDS):
            solved = program.solve()
            bounded = self._exact_bound(sets, costs, cuts, solved.duals, solved.values[:count])
            fresh = [] if self._round_up(bounded.total) >= goal else _separate(sets, solved.values[:count], cuts)
            if not fresh:
                break
            cuts += fresh
            entries = [np.flatnonzero(sets[:, list(triple)].sum(axis=1) > 1) for triple in fresh]
            starts = np.cumsum([0, *map(len, entries)])
            columns = np.concatenate(entries).astype(np.int64)
            sides = np.full(len(fresh), -np.inf), np.ones(len(fresh))
            program.add_rows(*sides, starts, columns, np.ones(len(columns)))
        return bounded

    def _exact_bound(
        self, sets: Ints, costs: Ints, cuts: Sequence[tuple[int, ...]], duals: Floats, values: Floats
    ) -> _NodeBound:
        """Return the bound that rounded dual values prove; ``duals`` are costs in ticks."""
        n, ticks = self._instance.num_customers, self._checked.ticks
        whole = np.rint(duals / ticks * _UNIT).astype(np.int64)
        rows, penalties = whole[:n], np.minimum(whole[n + 1 :], 0)
        earned = sets @ rows
        cut_records: list[Any] = []
        for triple, dual in zip(cuts, penalties.tolist(), strict=True):
            if dual:
                earned += dual * (sets[:, list(triple)].sum(axis=1) > 1)
                cut_records.append({"cut": [2, list(triple)], "dual": dual})
        reduced = _UNIT * costs - ticks * earned
        least = Fraction(int(reduced.min(initial=0) if not len(reduced) else reduced.min()), ticks)
        total = int(rows.sum()) + sum(each["dual"] for each in cut_records) + self._used(least)
        claim = {"weight": 1, "unit": _UNIT, "duals": rows.tolist(), "counts": [], "cuts": cut_records}
        claim |= {"least": [as_exact(least)], "bound": as_exact(total / _UNIT)}
        together = np.triu((sets * values[:, None]).T @ sets, 1)
        return _NodeBound(claim, total, together)


def _separate(sets: Ints, values: Floats, known: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return violated cuts: at most one route may visit two or three customers of a triple."""
    used = values > 0.0
    sets, values, seen = sets[used], values[used], set(known)
    triples = np.array(list(itertools.combinations(range(sets.shape[1]), 3)), dtype=np.int64)
    excess = (sets[:, triples].sum(axis=2) > 1).T @ values - 1.0
    order = np.argsort(-excess, kind="stable")
    found = [tuple(triples[k].tolist()) for k in order[: 2 * _CUTS] if excess[k] > _VIOLATED]
    return [triple for triple in found if triple not in seen][:_CUTS]

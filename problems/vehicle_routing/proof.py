"""Certificates: rule out routes by reduced cost, enumerate the others and prove the bound over the list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Duals, Problem, Solution, solve
from colgen.certificate.certifier import Record
from colgen.certificate.checker_routes import Routes as Checked
from colgen.certificate.listing import ListCertifier
from colgen.certificate.witness import WitnessPoint
from colgen.core.warm_start import WarmStart
from colgen.problems.vehicle_routing.instance import RoutingInstance
from colgen.problems.vehicle_routing.layout import RouteLayout
from colgen.problems.vehicle_routing.pricing import RouteOracle
from colgen.solvers.paths.labelling import Labelling

_LARGEST = 40
"""Maximum number of customers, because the checker would need too many labels for more."""

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


class RoutesCertifier(ListCertifier):
    """Certifies instances of up to 40 customers whose numbers have few decimals.

    Parameters
    ----------
    over
        Return the problem without cuts over another network.
    """

    def __init__(self, instance: RoutingInstance, over: Callable[[RouteLayout], Problem]) -> None:
        super().__init__(instance.name)
        self._instance, self._over_layout = instance, over

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
        return Checked(0, self._program["pricing"][0], self._instance.num_customers)

    def priced(self) -> Sequence[Checked]:
        return (self._checked,)

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, list(column.structure)] for column, value in solution.columns for _ in range(round(value))]

    def objective(self, solution: Solution) -> Fraction:
        return sum((self._checked.column(route)[0] for _, _, route in self.columns(solution)), Fraction(0))

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterator[Record] | None:
        return super().proof(answer, points, goal) if self._instance.num_customers <= _LARGEST else None

    def node_duals(self, point: WitnessPoint) -> Floats | None:
        return np.asarray(point.duals["visit"]) if isinstance(point.duals, Duals) else None

    def relaxation_duals(self, answer: Solution) -> Floats:
        """Return the customers' dual values in the relaxation over the routes that the checker prices.

        The start has the answer's routes and single-customer routes: its duals are central and leave few labels.
        """
        layout, customers = _LayoutNear(self._instance, self._checked.near), self._instance.customers
        encode = RouteOracle(layout).encode
        columns = [encode(route) for route in (*(r for _, _, r in self.columns(answer)), *((i,) for i in customers))]
        result = solve(self._over_layout(layout), relaxation=True, start=WarmStart(columns=columns))
        duals = None if result.certificate is None else result.certificate.duals
        return np.array([0.0 if duals is None else duals.get(("visit", i)) for i in customers])

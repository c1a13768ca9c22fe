"""Certificates: rule out routes by reduced cost, enumerate the others and prove the bound over the list."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from colgen import Solution
from colgen.certificate.certifier import Record
from colgen.decomposition.network_certificates import NetworkCertifier
from colgen.problems.vehicle_routing.instance import RoutingInstance


class RoutesCertifier(NetworkCertifier):
    """Certifies instances of up to 40 customers whose numbers have few decimals.

    The certificate has the instance's own data, of which the checker makes the network of all arcs.

    Parameters
    ----------
    parts
        Those of :class:`NetworkCertifier`.
    """

    def __init__(self, instance: RoutingInstance, *parts: Any) -> None:
        super().__init__(*parts)
        self._instance = instance

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

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, round(value), list(column.structure.arcs)] for column, value in solution.columns]

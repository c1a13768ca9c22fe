"""Branching decisions and fixings that forbid arcs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Decision
from colgen.problems.vehicle_routing.layout import RouteLayout


@dataclass(frozen=True, eq=False)
class RouteArcsForbidden(Decision):
    """No route may drive the arcs that are not open.

    Attributes
    ----------
    open_arcs
        One entry an arc of the network.
    """

    layout: RouteLayout = field(repr=False)
    open_arcs: NDArray[np.bool_] = field(repr=False)
    exhaustive: bool = True

    def allows(self, column: Column) -> bool:
        return all(number >= 0 and self.open_arcs[number] for number in self.layout.arcs(column.structure))

    def __str__(self) -> str:
        return f"{int((~self.open_arcs).sum())} arcs forbidden"

"""Commodities of a path block."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import InputError


@dataclass(frozen=True)
class Unsplittable:
    """A rule for a block with commodities: each uses one path."""


class Commodities:
    """Commodities from origins to destinations.

    Parameters
    ----------
    origins, destinations
        A vertex of the graph for each commodity.
    demands
        Nonnegative numbers.
    costs
        Costs per unit in addition to those of the model, shape (commodities, arcs); None: there are none.
    limits
        Upper limits on the flow of a commodity on an arc, shape (commodities, arcs); 0 closes an arc to it.

    Examples
    --------
    >>> Commodities(["a", "a"], ["b", "c"], [3.0, 4.0]).demands.tolist()
    [3.0, 4.0]
    """

    def __init__(
        self,
        origins: Sequence[Hashable] | NDArray[Any],
        destinations: Sequence[Hashable] | NDArray[Any],
        demands: ArrayLike,
        *,
        costs: ArrayLike | None = None,
        limits: ArrayLike | None = None,
    ) -> None:
        self.ends = tuple(
            each.tolist() if isinstance(each, np.ndarray) else list(each) for each in (origins, destinations)
        )
        self.demands = np.atleast_1d(np.asarray(demands, dtype=np.float64))
        count = len(self.demands)
        if len(self.ends[0]) != count or len(self.ends[1]) != count:
            raise InputError(
                f"commodities: expected as many origins and destinations as demands, got {len(self.ends[0])}, "
                f"{len(self.ends[1])} and {count}"
            )
        if not (np.isfinite(self.demands) & (self.demands >= 0.0)).all():
            wrong = self.demands[~(np.isfinite(self.demands) & (self.demands >= 0.0))][0]
            raise InputError(f"commodities: expected finite demands of 0 or more, got {wrong}")
        self.costs = None if costs is None else np.asarray(costs, dtype=np.float64)
        self.limits = None if limits is None else np.asarray(limits, dtype=np.float64)

    def check(self, vertices: Sequence[Hashable], arcs: int) -> None:
        """Raise an InputError if a vertex is not in the graph, or an array has the wrong shape."""
        known = set(vertices)
        for what, vertices in zip(("origin", "destination"), self.ends, strict=True):
            for k, vertex in enumerate(vertices):
                if vertex not in known:
                    raise InputError(
                        f"commodities: the {what} {vertex!r} of commodity {k} is not a vertex of the graph"
                    )
        shape = len(self.demands), arcs
        for what, array, least in (("costs", self.costs, -math.inf), ("limits", self.limits, 0.0)):
            if array is not None and array.shape != shape:
                raise InputError(f"commodities: expected {what} of shape {shape}, got {array.shape}")
            if array is not None and not (array >= least).all():
                raise InputError(f"commodities: expected {what} of at least {least:g}, got {np.nanmin(array):g}")


def as_commodities(given: Any, vertices: Sequence[Hashable], arcs: int) -> Commodities:
    """Return commodities, checked for a graph; a tuple has origins, destinations and demands."""
    if isinstance(given, (tuple, list)) and len(given) == 3:
        given = Commodities(*given)
    if not isinstance(given, Commodities):
        raise InputError("commodities: expected (origins, destinations, demands), one entry per commodity each")
    given.check(vertices, arcs)
    return given

"""A graph with weights near 1, and the conversion of its weights to the original units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from colgen.core.tolerances import TOLERANCES
from colgen.solvers.paths.path_beam import beam
from colgen.solvers.paths.walks import Floats, Graph, scale_of, validate

_WIDTH = 4
"""Width of the beam that looks for an initial path."""


@dataclass(frozen=True)
class Scaled:
    """A graph with the same best paths, and the conversion of its weights.

    Every path has one arc from the source, one to the sink and k - 1 others. So the largest weight of each kind is
    subtracted from all arcs of the kind, which changes all paths equally. The remaining weights are at most zero and
    are the losses of the arcs. Arcs with a larger loss than a known path, such as penalties, are on no better path and
    are removed. The rest is divided by a power of two, which is exact.
    """

    graph: Graph  # weights at most zero, with the largest loss between 1 and 2
    scale: float  # the power of two
    parts: tuple[float, float, float]  # subtracted from the arcs from the source, to the sink, and the others

    @property
    def offset(self) -> float:
        """The amount subtracted from each path."""
        first, last, inner = self.parts
        return first + last + (self.graph.length - 1) * inner

    def to_original_units(self, weight: float) -> float:
        """Convert the weight of a path, or a bound, to the original units."""
        return weight * self.scale + self.offset


_WIDE_WIDTH = 256
"""Width of the beam that looks for a path without penalties."""

_PENALTY_RATIO = 2.0**10
"""A loss larger than another by this factor may be a penalty."""


def scale_graph(of: Graph) -> Scaled:
    """Return the graph with weights near 1."""
    first, off_first = _losses(of.first)
    last, off_last = _losses(of.last)
    weights, off_weights = _losses(of.weights)
    graph = validate(
        of._replace(weights=weights, first=first, last=last)
    )  # it shares the arrays, which are changed below
    lost = _path_loss(graph, (weights, first, last)) if of.length <= len(first) else -math.inf
    if lost > -math.inf:
        for array in (weights, first, last):
            array[array < (1.0 + TOLERANCES.pruning) * lost] = -np.inf
    scale = scale_of(graph)
    for array in (weights, first, last):
        array /= scale
    return Scaled(graph, scale, (off_first, off_last, off_weights))


def _path_loss(graph: Graph, arrays: tuple[Floats, Floats, Floats]) -> float:
    """Return the loss of a path from beam search, without the most expensive arcs if the path may have a penalty."""
    lost, _ = beam(graph, _WIDTH)
    least = min(float(-array.max(where=array < 0.0, initial=-np.inf)) for array in arrays)
    while 0.0 < least * _PENALTY_RATIO < -lost < math.inf:  # penalties may mislead a beam, so repeat without them
        least *= _PENALTY_RATIO
        weights, first, last = (np.where(array < -least, -np.inf, array) for array in arrays)
        found, _ = beam(validate(graph._replace(weights=weights, first=first, last=last)), _WIDE_WIDTH)
        lost = max(lost, found)
    return lost


def _losses(weights: Floats) -> tuple[Floats, float]:
    """Return the weights minus the largest one, and this weight, or 0 if it is infinite."""
    most = float(weights.max(initial=-np.inf))
    most = most if math.isfinite(most) else 0.0
    return weights - most, most

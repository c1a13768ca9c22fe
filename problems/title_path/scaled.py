"""A graph whose weights are near 1, and what the weights of its paths mean in the user's units."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from colgen.core.tolerances import TOLERANCES
from colgen.solvers.paths.path_beam import beam
from colgen.solvers.paths.walks import Floats, Graph, scale_of, validate

_WIDTH = 4
"""Of the beam that looks for any path at all."""


@dataclass(frozen=True)
class Scaled:
    """A graph with the same best paths, and how its weights are turned back.

    Every path has one arc from the source, one to the sink and k - 1 others.  So the heaviest arc of each kind is taken
    off all of them, which is the same for all paths.  What is left of an arc is at most zero: what a path loses by it.
    Arcs that lose more than a path that is known loses altogether (penalties, say) are on no better path and are left
    out.  The rest is divided by a power of two, which loses nothing.

    Attributes
    ----------
    graph
        Weights at most zero, the largest loss between 1 and 2.
    scale
        The power of two.
    parts
        What was taken off the arcs from the source, the arcs to the sink and the others.
    """

    graph: Graph
    scale: float
    parts: tuple[float, float, float]

    @property
    def offset(self) -> float:
        """What was taken off each path."""
        first, last, inner = self.parts
        return first + last + (self.graph.length - 1) * inner

    def in_users_units(self, weight: float) -> float:
        """The weight of a path, or a bound on it."""
        return weight * self.scale + self.offset


_WIDER = 256
"""Of the one that looks for a path without penalties."""

_FAR = 2.0**10
"""A loss so many times another one is looked at as a penalty."""


def scaled(of: Graph) -> Scaled:
    """The graph with weights near 1."""
    first, off_first = _losses(of.first)
    last, off_last = _losses(of.last)
    weights, off_weights = _losses(of.weights)
    graph = validate(of._replace(weights=weights, first=first, last=last))  # the arrays stay those below
    lost = _lost(graph, (weights, first, last)) if of.length <= len(first) else -math.inf
    if lost > -math.inf:
        for array in (weights, first, last):
            array[array < (1.0 + TOLERANCES.pruning) * lost] = -np.inf
    scale = scale_of(graph)
    for array in (weights, first, last):
        array /= scale
    return Scaled(graph, scale, (off_first, off_last, off_weights))


def _lost(graph: Graph, arrays: tuple[Floats, Floats, Floats]) -> float:
    """What a path loses that beam search finds, without the dearest arcs where that path may have a penalty."""
    lost, _ = beam(graph, _WIDTH)
    least = min(float(-array.max(where=array < 0.0, initial=-np.inf)) for array in arrays)
    while 0.0 < least * _FAR < -lost < math.inf:  # among penalties a beam may be led astray: once more without them
        least *= _FAR
        weights, first, last = (np.where(array < -least, -np.inf, array) for array in arrays)
        found, _ = beam(validate(graph._replace(weights=weights, first=first, last=last)), _WIDER)
        lost = max(lost, found)
    return lost


def _losses(weights: Floats) -> tuple[Floats, float]:
    """Weights less the largest finite one, and that."""
    most = float(weights.max(initial=-np.inf))
    most = most if math.isfinite(most) else 0.0
    return weights - most, most

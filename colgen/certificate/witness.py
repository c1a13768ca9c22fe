"""A record of the dual values by which a run proves its nodes, for a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

NodeName: TypeAlias = int | tuple[int, int]
"""The number of a node, or for a tried child the number of its parent and its place among the children."""


@dataclass(frozen=True)
class WitnessPoint:
    """Dual values of the master's rows that prove something about a node.

    ``bound`` is the bound that they prove, in floating point. In phase 1 they prove infeasibility: ``costs_count`` is
    False, and ``bound`` is infinite in the direction of improvement. ``fixes`` is True if reductions used the dual
    values.
    """

    duals: Any
    bound: float
    costs_count: bool = True
    fixes: bool = False


class Witness:
    """Records proofs of nodes; the engine only writes to it."""

    def __init__(self) -> None:
        self._points: dict[NodeName, list[WitnessPoint]] = {}

    def record(self, node: NodeName, point: WitnessPoint) -> None:
        """Record dual values of a node, in the order of the run."""
        if point.duals is not None:
            self._points.setdefault(node, []).append(point)

    def of(self, node: NodeName) -> Sequence[WitnessPoint]:
        """Return the recorded points of a node."""
        return self._points.get(node, ())

"""What a run has proved of the nodes of its tree, kept as it goes, for who writes a certificate afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

NodeName: TypeAlias = int | tuple[int, int]
"""A node's number; or that of its parent and its place among the children, where it was tried before it had one."""


@dataclass(frozen=True)
class WitnessPoint:
    """Dual values at which something was proved of a node.

    Attributes
    ----------
    duals
        Of the master's rows.
    bound
        That they prove in floating point; of phase 1 the ideal value.
    costs_count
        False for dual values of phase 1, which show that the node holds no answer.
    fixes
        Whether reductions have forbidden something by them.
    """

    duals: Any
    bound: float
    costs_count: bool = True
    fixes: bool = False


class Witness:
    """Sees what the tree proves.  The engine calls it where there is one, and nothing depends on what it does."""

    def __init__(self) -> None:
        self._points: dict[NodeName, list[WitnessPoint]] = {}

    def saw(self, node: NodeName, point: WitnessPoint) -> None:
        """Dual values of a node, in the order in which the run has come to them."""
        if point.duals is not None:
            self._points.setdefault(node, []).append(point)

    def of(self, node: NodeName) -> Sequence[WitnessPoint]:
        """What was proved of a node."""
        return self._points.get(node, ())

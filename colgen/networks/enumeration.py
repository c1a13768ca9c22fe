"""Enumeration of all paths of several blocks within the gap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from colgen.branching.rules import Bound
from colgen.core.column_batch import Columns
from colgen.core.columns import Key
from colgen.core.tolerances import TOLERANCES, size
from colgen.enumeration import Enumerated, Enumeration
from colgen.fixing import ReductionContext
from colgen.networks.pricing import ARC, ARC_OF_GRAPH, PathPricing


class BlockEnumeration(Enumeration):
    """All elementary paths within the gap, of each block; of paths with the same vertices only the cheapest.

    It is for models in which paths have entries only in rows that count visits, each vertex is visited at most once,
    and arcs have no bounds of their own.

    Parameters
    ----------
    oracles
        The oracles of all blocks.
    limit
        Maximum number of paths of all blocks.
    seconds
        Time limit of the integer program over the listed paths.
    effort
        Limit on the work of listing, for each block.
    """

    def __init__(
        self, oracles: Sequence[PathPricing], limit: int = 20_000, seconds: float = 30.0, effort: float = 5e9
    ) -> None:
        self.oracles, self.limit, self.seconds, self.effort = tuple(oracles), limit, seconds, effort

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        rounding = TOLERANCES.optimality * size(context.scale, context.bound)
        pricing = replace(context.pricing, slack=context.slack + rounding)
        listed: list[Columns] = []
        for oracle in self.oracles:
            left = self.limit - sum(map(len, listed))
            columns = oracle.listed(context.duals, pricing, left, self.effort / len(self.oracles))
            if columns is None:
                return None
            listed.append(columns)
        sides: dict[Key, tuple[float, float]] = {
            decision.key: (-math.inf, math.inf)
            for decision in context.decisions
            if isinstance(decision, Bound) and decision.key[0] in (ARC, ARC_OF_GRAPH) and decision.row() is not None
        }
        names = self.oracles[0].row_names(context.duals)
        return Enumerated(listed[0] if len(listed) == 1 else Columns.concatenate(listed, *names), sides)

"""Asking the separations: which of them, what they are told, and what of their rows is taken."""

from __future__ import annotations

from collections.abc import Sequence

from colgen.bounds.bounding import NodeState, Parts
from colgen.bounds.checks import check_row
from colgen.core.activity import activity
from colgen.core.columns import Row
from colgen.core.solution import Solution
from colgen.cuts.separation import Separation, SeparationContext, violated_rows
from colgen.master.protocol import MasterSolution


def told(parts: Parts, node: NodeState, solved: MasterSolution, bound: float) -> SeparationContext:
    """What separations are told of a restricted master's solution at a node."""
    run, master = parts.run, parts.master
    return SeparationContext(
        run.sense,
        node.number,
        node.depth,
        len(run.iterations),
        master.is_whole(solved),
        solved.duals,
        bound,
        run.objective,
        run.scale,
        run.budget,
    )


def separate(parts: Parts, solution: Solution, context: SeparationContext) -> list[Row]:
    """Rows that a restricted master's solution violates and that are to be added."""
    found: list[Row] = []
    for separator in parts.separation:
        if context.whole or separator.applies(context.depth):
            found += _taken(separator, violated_rows(separator, solution, context), parts, solution)
    return found


def _taken(separator: Separation, rows: Sequence[Row], parts: Parts, solution: Solution) -> list[Row]:
    """Of what a separation has returned: what is violated by more than rounding, and no more than its limit."""
    master, known = parts.master, parts.run.known
    taken = [row for row in rows if check_row(separator, row, solution, known, present=master.has_row(row.key))]
    if separator.limit is None or len(taken) <= separator.limit:
        return taken
    violations = [activity(row, solution).violation for row in taken]
    worst = sorted(range(len(taken)), key=lambda k: -violations[k])[: max(separator.limit, 1)]
    return [taken[k] for k in sorted(worst)]

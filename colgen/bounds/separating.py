"""Asking the separations: which of them, what they are told, and what of their rows is taken."""

from __future__ import annotations

from collections.abc import Sequence

from colgen.bounds.bounding import NodeState, Parts
from colgen.bounds.checks import check_rows
from colgen.core.columns import Row
from colgen.core.solution import Solution
from colgen.cuts.separation import Separation, SeparationContext, violated_rows
from colgen.master.protocol import MasterSolution
from colgen.pricing.cut_terms import check_priced


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
    check_priced(parts.oracles, rows)
    known = parts.run.known if separator.exhaustive else ()
    taken = check_rows(separator, rows, solution, known, parts.master.has_row)
    if separator.limit is not None and len(taken) > separator.limit:
        worst = sorted(range(len(taken)), key=lambda k: -taken[k][1])[: max(separator.limit, 1)]
        taken = [taken[k] for k in sorted(worst)]
    return [row for row, _ in taken]

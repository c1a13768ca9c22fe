"""Several bounding methods in sequence: a cheap one first, then an exact one."""

from __future__ import annotations

import dataclasses

from colgen.bounding.lagrangian_dual import NoLagrangianError
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.core.errors import InputError
from colgen.core.numbers import require_result


class Chain(Bounding):
    """Bound a node by several methods in sequence: ``Chain(Volume(200), ColumnGeneration())``.

    Each method starts from the dual values and columns of the one before.  The chain ends once a node is pruned or
    infeasible, or the run must stop.  Otherwise the last result counts.  A method that does not apply to the problem is
    skipped, with a note in the result.
    """

    def __init__(self, *boundings: Bounding) -> None:
        for bounding in boundings:
            if not isinstance(bounding, Bounding):
                raise InputError(f"Chain expects boundings such as Volume(200), ColumnGeneration(), not {bounding!r}")
        if not boundings:
            raise InputError("Chain needs at least one bounding")
        self.boundings = boundings

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        *before, last = self.boundings
        for bounding in before:
            try:
                bounded = require_result(bounding.bound(node, parts), f"{type(bounding).__name__}.bound()", "a Bounded")
            except NoLagrangianError as error:
                note = f"{type(bounding).__name__} was skipped: {error}."
                if note not in parts.run.notes:
                    parts.run.notes.append(note)
                continue
            if bounded.outcome not in (Outcome.SOLVED, Outcome.UNPROVED):
                return bounded
            if bounded.duals is not None:
                known = bounded.bound if bounded.proved else None
                node = dataclasses.replace(node, duals=bounded.duals, proved=known)
        return last.bound(node, parts)

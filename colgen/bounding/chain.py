"""One bounding after the other: the cheap one first, and the exact one where that does not suffice."""

from __future__ import annotations

import dataclasses

from colgen.bounding.lagrangian_dual import NoLagrangianError
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.core.errors import InputError
from colgen.core.numbers import returned


class Chain(Bounding):
    """Bounds a node by several boundings in turn: each starts from the dual values and columns of the one before.

    It ends as soon as one decides the node (a bound that no better answer meets, an infeasible node, a run that must
    stop); else what the last one says counts.  A bounding that a problem is not made for is passed over, with a note in
    the result.

    Parameters
    ----------
    boundings
        In their order: ``Chain(Volume(200), ColumnGeneration())``.
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
                bounded = returned(bounding.bound(node, parts), f"{type(bounding).__name__}.bound()", "a Bounded")
            except NoLagrangianError as error:
                note = f"{type(bounding).__name__} was passed over: {error}."
                if note not in parts.run.notes:
                    parts.run.notes.append(note)
                continue
            if bounded.outcome not in (Outcome.SOLVED, Outcome.UNPROVED):
                return bounded
            if bounded.duals is not None:
                known = bounded.bound if bounded.proved else None
                node = dataclasses.replace(node, duals=bounded.duals, proved=known)
        return last.bound(node, parts)

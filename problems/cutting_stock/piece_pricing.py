"""Conflicts: sets of pieces that fit onto a roll, of which no two may not be together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Duals, Pricing, PricingContext, PricingResult
from colgen.core.budget import OutOfBudget
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Stock
from colgen.problems.cutting_stock.rolls import RollKind
from colgen.solvers.packing.conflicts import best_compatible

Packed: TypeAlias = tuple[int, tuple[int, ...]]
"""What a column stands for: a kind of roll, and the pieces that are cut from it."""

_SPARE = 100
"""Nodes of the search for what a first piece is worth by itself: that makes many columns of a call."""

_PATIENCE = 200_000
"""Nodes after which a search ends with what it has found: columns are worth more then than a bound."""

DEMAND = "demand"

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Pieces:
    """The pieces of an instance, each an item of its own, by the numbers of their rows.

    Attributes
    ----------
    items
        The item of each piece.
    widths
        Of the pieces.
    conflicts
        Which may not be together, shape (pieces, pieces).
    """

    items: NDArray[np.int64]
    widths: NDArray[np.int64]
    conflicts: Mask

    @classmethod
    def of(cls, instance: CuttingStockInstance) -> Pieces:
        """Return those of an instance."""
        items = np.repeat(np.arange(instance.num_items), instance.demands)
        conflicts = instance.conflict_mask[np.ix_(items, items)]
        np.fill_diagonal(conflicts, False)
        return cls(items, np.array(instance.widths, dtype=np.int64)[items], conflicts)


@dataclass(frozen=True)
class Merged:
    """Pieces as a node's decisions leave them: those that are together make one.

    Attributes
    ----------
    groups
        Which pieces make each one, shape (merged, pieces).
    widths, conflicts
        Of these; one whose pieces may not be together is wider than any roll.
    """

    groups: Mask
    widths: NDArray[np.int64]
    conflicts: Mask


def merge(pieces: Pieces, context: PricingContext, widest: int) -> Merged:
    """The pieces that the decisions of a node leave."""
    n = len(pieces.items)
    conflicts = pieces.conflicts.copy()
    for i, j in context.apart(DEMAND):
        conflicts[i, j] = conflicts[j, i] = True
    together = context.together(DEMAND)
    taken = {piece for group in together for piece in group}
    each = [list(group) for group in together] + [[piece] for piece in range(n) if piece not in taken]
    groups = np.zeros((len(each), n), dtype=np.bool_)
    for row, group in enumerate(each):
        groups[row, group] = True
    members = groups.astype(np.int64)
    between = (members @ conflicts.astype(np.int64) @ members.T) > 0
    widths = members @ pieces.widths
    widths[between.diagonal()] = widest + 1
    np.fill_diagonal(between, False)
    return Merged(groups, widths, between)


class MergedPieces:
    """The merged pieces of the node at hand, which the oracles of all kinds of rolls share."""

    def __init__(self, pieces: Pieces, widest: int) -> None:
        self.pieces, self._widest = pieces, widest
        self._decisions: tuple[object, ...] | None = None
        self._merged: Merged | None = None

    def at(self, context: PricingContext) -> Merged:
        """Those of a node, kept for the next call."""
        if self._merged is None or context.decisions != self._decisions:
            self._merged, self._decisions = merge(self.pieces, context, self._widest), context.decisions
        return self._merged


class ConflictOracle(Pricing):
    """Knapsack with conflicts on one kind of roll: exact unless it takes long and has found something."""

    def __init__(self, nodes: MergedPieces, stock: Stock, kind: int, columns: int = 150) -> None:
        self.nodes = nodes
        self.kind = RollKind(kind, stock, len(nodes.pieces.items))
        self.cost_bound = self.kind.cost
        self.multiplicity = self.kind.multiplicity
        self.columns = columns

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        charge = self.kind.charge(duals, context)
        if math.isinf(charge):
            return PricingResult(bound=math.inf)
        node = self.nodes.at(context)
        earned = node.groups @ np.asarray(duals[DEMAND])
        possible = node.widths <= self.kind.width
        for column, _ in context.fixed:  # a piece that a dive has packed is not packed again, which proves nothing
            possible &= ~node.groups[:, list(column.structure[1])].any(axis=1)
        proved = not context.fixed
        if not possible.any():
            return PricingResult(bound=math.inf if proved else None)
        try:
            found = best_compatible(
                np.where(possible, earned, 0.0),
                node.widths,
                self.kind.width,
                node.conflicts,
                above=max(charge, 0.0),
                spare=_SPARE,
                patience=_PATIENCE,
                look=context.budget.require,
            )
        except OutOfBudget:
            return PricingResult(cut_off=True)
        members, values = found.members[: self.columns], found.values[: self.columns]
        most = found.bound
        if not len(members):
            # Nothing is worth more than was asked for; a roll has a piece at least, whatever that is worth.
            best = int(np.argmax(np.where(possible, earned, -math.inf)))
            members, values = np.arange(len(possible))[None] == best, earned[[best]]
            most = charge if charge >= 0.0 else float(values[0])
        bound = charge - most if proved and found.finished else None
        return PricingResult(self.batch(node, members, duals), bound, (charge - values).tolist())

    def batch(self, node: Merged, members: Mask, duals: Duals) -> Columns:
        """The columns of sets of merged pieces, one a row."""
        owners, pieces = np.nonzero(members.astype(np.int64) @ node.groups.astype(np.int64))
        starts = np.searchsorted(owners, np.arange(len(members) + 1))
        kind, besides, rows = self.kind.number, self.kind.rows(duals), duals.rows(DEMAND)[pieces]
        bounds = starts
        if len(besides):
            rows, bounds = np.insert(rows, starts[1:], besides[0]), starts + np.arange(len(starts))

        def structure(k: int) -> Packed:
            return kind, tuple(pieces[starts[k] : starts[k + 1]].tolist())

        return Columns(np.full(len(members), self.kind.cost), bounds, rows, np.ones(len(rows)), structure)

    def encode(self, pieces: Sequence[int]) -> Column:
        """The column of some pieces on this kind of roll."""
        entries = {(DEMAND, piece): 1.0 for piece in pieces}
        return Column(
            self.kind.cost, {**entries, **self.kind.coefficients()}, (self.kind.number, tuple(sorted(pieces)))
        )

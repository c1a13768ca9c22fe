"""Pricing with conflicts: sets of pieces that fit onto a roll and contain no conflicting pair."""

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
"""The structure of a column: a kind of roll and the pieces cut from it."""

_SPARE = 100
"""Search nodes spent per first piece beyond the best set, to return many columns per call."""

_PATIENCE = 200_000
"""Search nodes after which pricing returns the sets found so far, without a bound."""

DEMAND = "demand"

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Pieces:
    """The pieces of an instance, each an item of its own, in the order of their rows.

    ``items`` has the item of each piece; ``conflicts`` is the mask of conflicting pairs, shape (pieces, pieces).
    """

    items: NDArray[np.int64]
    widths: NDArray[np.int64]
    conflicts: Mask

    @classmethod
    def of(cls, instance: CuttingStockInstance) -> Pieces:
        """Return the pieces of an instance."""
        items = np.repeat(np.arange(instance.num_items), instance.demands)
        conflicts = instance.conflict_mask[np.ix_(items, items)]
        np.fill_diagonal(conflicts, False)
        return cls(items, np.array(instance.widths, dtype=np.int64)[items], conflicts)


@dataclass(frozen=True)
class Merged:
    """The pieces at a node, after joining those that must be together.

    ``groups`` is the mask of the pieces in each merged piece, shape (merged, pieces).  A merged piece that contains a
    conflict is wider than any roll.
    """

    groups: Mask
    widths: NDArray[np.int64]
    conflicts: Mask


def merge(pieces: Pieces, context: PricingContext, widest: int) -> Merged:
    """Return the merged pieces under the decisions of a node."""
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
    """The merged pieces of the current node, shared by the oracles of all kinds of rolls."""

    def __init__(self, pieces: Pieces, widest: int) -> None:
        self.pieces, self._widest = pieces, widest
        self._decisions: tuple[object, ...] | None = None
        self._merged: Merged | None = None

    def at(self, context: PricingContext) -> Merged:
        """Return the merged pieces of a node, cached until the decisions change."""
        if self._merged is None or context.decisions != self._decisions:
            self._merged, self._decisions = merge(self.pieces, context, self._widest), context.decisions
        return self._merged


class ConflictOracle(Pricing):
    """Knapsack with conflicts on one kind of roll, exact unless it stops early with improving columns."""

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
        for column, _ in context.fixed:  # pieces that a dive has fixed are excluded, so the bound proves nothing
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
            # No set exceeds the threshold; a roll has at least one piece, so return the best single piece.
            best = int(np.argmax(np.where(possible, earned, -math.inf)))
            members, values = np.arange(len(possible))[None] == best, earned[[best]]
            most = charge if charge >= 0.0 else float(values[0])
        bound = charge - most if proved and found.finished else None
        return PricingResult(self.batch(node, members, duals), bound, (charge - values).tolist())

    def batch(self, node: Merged, members: Mask, duals: Duals) -> Columns:
        """Return the columns of sets of merged pieces, one per row."""
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
        """Return the column of a set of pieces on this kind of roll."""
        entries = {(DEMAND, piece): 1.0 for piece in pieces}
        return Column(
            self.kind.cost, {**entries, **self.kind.coefficients()}, (self.kind.number, tuple(sorted(pieces)))
        )

"""Apply a node to a linear master: its rows, bounds of columns, and fixings of a dive."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from colgen.core.column_batch import Mask
from colgen.core.columns import Column, Key, Row
from colgen.core.decision import Decision
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import Basis
from colgen.master.artificials import Artificials
from colgen.master.bases import Bases
from colgen.master.column_pool import Floats
from colgen.master.column_table import Generated
from colgen.master.growth import Growth
from colgen.master.idle_columns import IdleColumns
from colgen.master.node_columns import NodeRestrictions
from colgen.master.phases import Phases
from colgen.master.program import SavedBasis
from colgen.master.protocol import NodeSwitch
from colgen.master.tableau import Tableau


class LinearNode(NodeSwitch):
    """Switches a linear master between nodes and dives.

    ``contradictory`` is true if the node's decisions exclude all values of some variable or row.
    """

    def __init__(
        self,
        tableau: Tableau,
        restrictions: NodeRestrictions,
        growth: Growth,
        artificials: Artificials,
        idle: IdleColumns,
        bases: Bases,
        phases: Phases,
        generated: Generated,
    ) -> None:
        self._table, self._rows, self._program, self._objective = tableau
        self._restrictions, self._growth, self._artificials, self._idle = restrictions, growth, artificials, idle
        self._bases, self._phases, self._generated = bases, phases, generated
        self.contradictory = False
        self._exchanges = len(tableau.table.exchange) > 0

    def apply(self, decisions: Sequence[Decision]) -> None:
        self._restrictions.decisions = tuple(decisions)
        self.contradictory = False
        self._impose_rows()
        self._impose_bounds()

    def fix(self, fixed: Mapping[Hashable, float], proper: str | None = None) -> tuple[tuple[Column, float], ...]:
        self._restrictions.fixed, self._restrictions.proper = dict(fixed), proper
        self._impose_bounds()
        return tuple((self._generated.column_of(identity), value) for identity, value in fixed.items())

    def basis(self) -> SavedBasis:
        return self._program.basis()

    def restore(self, basis: SavedBasis | Basis) -> None:
        if isinstance(basis, Basis):
            self._bases.first = basis
        else:
            self._program.restore(basis, self._objective.costs)

    def begin_feasible(self) -> None:
        self._phases.begin_feasible()

    def end_exchanges(self) -> bool:
        free, self._exchanges = self._table.exchanging, False
        self._objective.exchange(False)
        return free

    def remove_stale(self, age: int) -> int:
        return self._idle.retire_old(age)

    def _impose_rows(self) -> None:
        all_rows = self._rows
        sides: dict[Key, tuple[float, float]] = {}
        rows: dict[Key, Row] = {}
        for decision in self._restrictions.decisions:
            row = decision.row()
            if row is not None:
                low, high = sides.get(row.key, (-math.inf, math.inf))
                sides[row.key] = (max(low, row.lower), min(high, row.upper))
                rows[row.key] = row
        if not rows and not all_rows.of_decisions:
            return
        # The sides change between nodes, so the row is added without sides and with artificial variables for both.
        free = [dataclasses.replace(row, lower=-math.inf, upper=math.inf) for row in rows.values()]
        first = len(all_rows)
        self._growth.add_rows(free, sides)
        self._artificials.add_both(np.arange(first, len(all_rows)))
        stale = all_rows.of_decisions - rows.keys()
        all_rows.of_decisions = set(rows)
        keys = [*stale, *rows]
        if keys:
            positions = np.array([all_rows.names.position[key] for key in keys])
            lower = np.array([-math.inf] * len(stale) + [sides[key][0] for key in rows])
            upper = np.array([math.inf] * len(stale) + [sides[key][1] for key in rows])
            self.contradictory |= bool((lower > upper).any())
            upper = np.maximum(lower, upper)
            all_rows.lower[positions], all_rows.upper[positions] = lower, upper
            self._program.change_row_bounds(positions, lower, upper)

    def _impose_bounds(self) -> None:
        table, restrictions = self._table, self._restrictions
        # Exchanges are valid at the root only, without decisions and fixings.
        self._objective.exchange(self._exchanges and not restrictions.decisions and not restrictions.fixed)
        lower, upper = restrictions.bounds(table)
        self.contradictory |= bool((lower > upper).any())
        restrictions.raise_fixed(table, lower)
        if restrictions.fixed and restrictions.proper is not None:
            upper = np.where(self._fits(lower, restrictions.proper), upper, lower)
        # A dive may fix a column that the node forbids; its objective then ends the dive.
        upper = np.maximum(lower, upper)
        changed = np.flatnonzero((lower != table.lower_now) | (upper != table.upper_now))
        table.lower_now[:], table.upper_now[:] = lower, upper
        self._program.change_bounds(changed, lower[changed], upper[changed])
        self._idle.activate(np.flatnonzero((table.place < 0) & ((lower > 0.0) | (upper < 0.0))))

    def _fits(self, fixed: Floats, block: str) -> Mask:
        """Return which columns fit into the part of the block's lower sides that the fixed ones leave."""
        table, all_rows = self._table, self._rows
        left = np.full(len(all_rows), math.inf)
        rows = all_rows.names.block(block)
        left[rows] = all_rows.lower[rows] - table.activities(fixed, len(all_rows))[rows]
        return table.within(left + TOLERANCES.pruning * all_rows.sizes)

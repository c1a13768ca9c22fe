"""Stabilization that raises dual values before pricing (Riedel et al., 2012, section 4.3.3)."""

from __future__ import annotations

import numpy as np

from colgen import Duals, LinearMaster, Stabilization
from colgen.problems.grandparent_parsing.instance import Ints

_EXACT = 1e-9
"""Smaller reduced costs, relative to the scale of the objective, count as 0."""


class Tightening(Stabilization):
    """Replaces the master's dual values by other optimal ones at which fewer parts improve.

    If an arc's variable z_pc is 0 with a reduced cost r_pc < 0, π_pc(one_gp) may be raised by -r_pc.  The row's sides
    are 0, so the dual objective does not change.  The reduced cost of z_pc becomes 0 and those of the parts (g, p, c)
    fall.  These parts are 0 as z_pc is, so complementary slackness holds.  With sibling parts, the rows ``before`` and
    ``after`` share the amount.  An arc required by a branching decision keeps its dual values.
    """

    complementary = True
    blocks = ("one_gp", "before", "after")

    def __init__(self, master: LinearMaster) -> None:
        self.master = master
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._read = 0  # number of rows processed
        self._known: dict[str, int] = {}
        self._arrays = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    def propose(self, duals: Duals) -> Duals:
        rows, columns = self._arcs()
        table = self.master.table
        reduced = self.master.objective.reduced_costs(duals)
        spare = np.where(table.lower_now > 0.0, 0.0, np.maximum(-reduced, 0.0))[columns]
        spare /= np.bincount(columns, minlength=len(table))[columns]
        if not (spare > _EXACT * self.master.precision.scale).any():
            return duals
        values = duals.values.copy()
        values[rows] += spare
        return duals.replace(values)

    def _arcs(self) -> tuple[Ints, Ints]:
        """Return the positions of the rows that link an arc with its parts, and of the arc's variable."""
        names, position = self.master.rows.names, self.master.table.position
        if self._read < len(names.keys):
            for block in self.blocks:
                known, every = self._known.get(block, 0), names.block(block)
                if len(every) == known:
                    continue
                young = zip(every[known:].tolist(), names.members(block)[known:], strict=True)
                found = [(row, at) for row, index in young if (at := position.get(("z", index))) is not None]
                self._rows += [row for row, _ in found]
                self._columns += [column for _, column in found]
                self._known[block] = len(every)
            self._read = len(names.keys)
        if len(self._arrays[0]) < len(self._rows):
            self._arrays = np.array(self._rows, dtype=np.int64), np.array(self._columns, dtype=np.int64)
        return self._arrays

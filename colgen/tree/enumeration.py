"""Column enumeration: close a node by solving it over all columns that an answer of interest can use.

A restricted master solved as a mixed-integer program proves nothing, because columns are missing.  Once a node's bound
is near enough to the incumbent, though, few columns have a reduced cost small enough to be part of a better answer; if
all of them can be listed then the program over the list is exact.

Source: R. Baldacci, N. Christofides, A. Mingozzi, *An exact algorithm for the vehicle routing problem based on the set
partitioning formulation with additional cuts*, Mathematical Programming 115 (2008).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from colgen.bounds.fixing import ReductionContext
from colgen.core.columns import Column, Key
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.linear import LinearMaster
from solvers.linear.lp import LPStatus, Stopped, solve_mip

_NO_SIDES: Mapping[Key, tuple[float, float]] = {}


@dataclass(frozen=True)
class Enumerated:
    """All columns that an answer of interest can use.

    Attributes
    ----------
    columns
        Complete: if the node holds an answer of interest then it holds one made of these.
    sides
        Sides that replace those of rows, where they lose no answer of interest (or not all of them): equations instead
        of inequalities make mixed-integer programs easier.  Rows may also be relaxed, with infinite sides; then
        :meth:`Enumeration.complete` must make up for it.
    """

    columns: Sequence[Column]
    sides: Mapping[Key, tuple[float, float]] = field(default_factory=lambda: _NO_SIDES)


class Enumeration(ABC):
    """Lists columns by their reduced cost.  Subclasses write :meth:`enumerate`.

    Attributes
    ----------
    seconds
        For the mixed-integer program over the list; the node is branched on if they do not suffice.
    """

    seconds: float = 20.0

    @property
    def name(self) -> str:
        """What diagnostics call this enumeration."""
        return type(self).__name__

    @abstractmethod
    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        """All columns that answers of interest can use (``context.slack`` says how many that are); None if too many."""

    def complete(self, solution: Solution) -> Solution | None:
        """Mend a solution of the enumerated program in rows that were relaxed; None if that is not possible."""
        return solution


def solve_over(
    master: LinearMaster,
    columns: Sequence[Column],
    sides: Mapping[Key, tuple[float, float]],
    target: float,
    time_limit: float,
    any_will_do: bool,
    stopped: Stopped | None = None,
) -> tuple[LPStatus, Solution | None]:
    """A mixed-integer program over given columns alone, in or not in the master, at the present node.

    Parameters
    ----------
    sides
        Sides of rows that replace the present ones.
    target
        Only solutions at least as good are wanted; one that is exactly as good will do if ``any_will_do``.
    """
    f = master.formulation
    static = np.flatnonzero(~f.artificial)
    lower, upper = master.row_lower.copy(), master.row_upper.copy()
    for key, (low, high) in sides.items():
        lower[master.names.position[key]], upper[master.names.position[key]] = low, high
    starts = [0]
    rows: list[int] = []
    values: list[float] = []
    for column in columns:
        entry_rows, entry_values = master.entries(column)
        rows += entry_rows
        values += entry_values
        starts.append(len(rows))
    new = sparse.csc_array((values, rows, starts), shape=(master.num_rows, len(columns)))
    old = master.table.matrix(static, master.num_rows)
    costs = np.concatenate([f.costs[static], [c.cost for c in columns]])
    s = master.sense.sign
    worst = (target - f.offset) + s * TOLERANCES.optimality * size(master.scale, target)
    mip = solve_mip(
        master.sense is Sense.MAXIMIZE,
        sparse.csc_array(sparse.vstack([sparse.hstack([old, new]), sparse.csr_array(costs[None, :])])),
        np.zeros(len(costs)) if any_will_do else costs,
        np.concatenate([master.table.lower_now[static], [c.lower for c in columns]]),
        np.concatenate([master.table.upper_now[static], [c.upper for c in columns]]),
        np.append(lower, -math.inf if s > 0 else worst),
        np.append(upper, worst if s > 0 else math.inf),
        np.concatenate([f.integer[static], [c.integer for c in columns]]).astype(bool),
        time_limit=time_limit,
        stopped=stopped,
    )
    if mip.values is None:
        return mip.status, None
    used = np.flatnonzero(np.abs(mip.values) > TOLERANCES.pruning)
    count = len(static)
    solution = Solution(
        float(costs @ mip.values) + f.offset,
        tuple((columns[k - count], float(mip.values[k])) for k in used.tolist() if k >= count),
        {f.column_keys[static[k]]: float(mip.values[k]) for k in used.tolist() if k < count},
    )
    return mip.status, solution

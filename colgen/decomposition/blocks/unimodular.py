"""Blocks with integral vertices: linear programs price them, and decomposing them does not improve the bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.reading.compact_model import Floats, Ints
from colgen.decomposition.reading.structure import in_units, unimodular
from colgen.decomposition.reading.subproblems import Subproblem
from colgen.solvers.linear.highs import LPStatus, Stopped
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.program import Program
from colgen.solvers.linear.recosted import Points
from colgen.solvers.linear.weak_duality import least_by_duals


def is_hull(sub: Subproblem) -> bool:
    """Return whether the rows of a block are known to describe the convex hull of its points.

    They do if no variable is integer, or if the vertices are integral (:mod:`colgen.decomposition.reading.structure`).
    False means unknown.
    """
    return not sub.integer.any() or is_unimodular(sub)


def remarks(subs: Sequence[Subproblem]) -> tuple[str, ...]:
    """Return reasons why a decomposition cannot pay, one sentence each."""
    said = []
    blocks = sum(sub.count for sub in subs)
    if blocks == 1:
        said.append("This decomposition cannot pay: with one block the pricing problem is nearly the entire model.")
    if subs and all(map(is_hull, subs)):
        said.append(
            "This decomposition cannot pay: the rows of every block already describe the hull of its points, so its "
            "bound is that of the linear relaxation."
        )
    return tuple(said)


_OTHERS = 2
"""Number of further points; each avoids the most profitable variable of the previous one."""


class Unimodular:
    """A block that is a linear program, solved repeatedly with different costs and bounds.

    The bound comes from the dual values, independently of the simplex tolerances.  Points that are not integer are not
    used.
    """

    def __init__(self, sub: Subproblem) -> None:
        self._sub = sub
        self._program: LinearProgram | None = None
        self._transposed = sparse.csr_array(sub.matrix.T)

    def points(
        self, costs: Floats, lower: Floats, upper: Floats, seconds: float = math.inf, stopped: Stopped | None = None
    ) -> Points | None:
        """Return the best point and others, and a bound; None if the vertex is not integer."""
        nothing = np.empty((0, len(costs)))
        if (lower > upper).any():
            return Points(LPStatus.INFEASIBLE, math.inf, nothing)
        program = self._program_at(costs, lower, upper)
        solved = program.solve(seconds, stopped)
        if solved.status is not LPStatus.OPTIMAL:
            return Points(solved.status, math.inf if solved.status is LPStatus.INFEASIBLE else -math.inf, nothing)
        sub = self._sub
        sides = (sub.row_lower, sub.row_upper)
        bound = least_by_duals(costs, self._transposed, solved.duals, sides, (lower, upper))
        best = self._round_vertex(solved.values, lower, upper)
        if best is None:
            return None
        found = [best, *self._others(program, costs, best, lower, upper)]
        return Points(LPStatus.OPTIMAL, min(bound, float(best @ costs)), np.array(found))

    def _others(
        self, program: LinearProgram, costs: Floats, best: Floats, lower: Floats, upper: Floats
    ) -> list[Floats]:
        """Return points without some variable that the best one uses."""
        found: list[Floats] = []
        barred: list[int] = []
        point = best
        for _ in range(_OTHERS):
            gains = np.where(self._sub.integer & (point > lower), -costs * (point - lower), 0.0)
            k = int(np.argmax(gains))
            if gains[k] <= 0.0:
                break
            barred.append(k)
            program.change_bounds(np.array([k]), lower[[k]], np.maximum(point[[k]] - 1.0, lower[[k]]))
            solved = program.solve()
            other = self._round_vertex(solved.values, lower, upper) if solved.status is LPStatus.OPTIMAL else None
            if other is None:
                break
            found.append(other)
            point = other
        again = np.unique(np.array(barred, dtype=np.int64))
        program.change_bounds(again, lower[again], upper[again])
        return found

    def _program_at(self, costs: Floats, lower: Floats, upper: Floats) -> LinearProgram:
        sub = self._sub
        if self._program is None:
            sides = (sub.row_lower, sub.row_upper)
            self._program = LinearProgram(
                Program(False, sparse.csc_array(sub.matrix), np.array(costs), lower, upper, *sides)
            )
        else:
            self._program.change_bounds(np.arange(len(lower)), lower, upper)
            self._program.change_objective(costs, 0.0)
        return self._program

    def _round_vertex(self, values: Floats, lower: Floats, upper: Floats) -> Floats | None:
        """Return a vertex rounded to integers, or None if it is not integral."""
        near = np.rint(values)
        if (np.abs(values - near) > TOLERANCES.integrality).any():
            return None
        point: Floats = np.clip(near, lower, upper) + 0.0
        moved, sub = self._sub.matrix @ point, self._sub
        room = TOLERANCES.feasibility * np.maximum(np.abs(moved), 1.0)
        return point if ((moved >= sub.row_lower - room) & (moved <= sub.row_upper + room)).all() else None


def whole_sides(sub: Subproblem, sizes: Floats) -> bool:
    """Return whether bounds, and sides of rows divided by their sizes, are integer or infinite."""
    sides = np.concatenate([sub.lower, sub.upper, sub.row_lower / sizes, sub.row_upper / sizes])
    return bool(are_whole(sides[np.isfinite(sides)]).all())


def are_whole(values: Floats) -> NDArray[np.bool_]:
    """Return a mask of integers."""
    found: NDArray[np.bool_] = values == np.rint(values)
    return found


def is_unimodular(sub: Subproblem) -> bool:
    """Return whether the matrix of a block makes its vertices integral."""
    found = in_units(sub.matrix)
    if found is None or not whole_sides(sub, found[1]):
        return False
    names: Ints = sub.columns[0]
    return unimodular(sub.matrix, names) is not None


def unimodular_of(sub: Subproblem) -> Unimodular | None:
    """Return the linear program of a block; None if it is not known to be integral, or has no integer variables."""
    ends = np.isfinite(sub.lower) & np.isfinite(sub.upper)
    if not sub.integer.any() or not ends.all() or not sub.matrix.shape[0] or not is_unimodular(sub):
        return None
    return Unimodular(sub)

r"""A second stage: its optimum for a given first stage, and bounds for others by its dual values.

    Q(x) = min qᵀy    subject to    rᴸ - T x ≤ W y ≤ rᵁ - T x   [π],    l ≤ y ≤ u.

By weak duality every π gives a bound that is linear in x,

    Q(x) ≥ Σ_i π_i r_i - πᵀT x + Σ_j d_j b_j,    d = q - πᵀW,

where r_i is the lower side if π_i > 0 and the upper side if π_i < 0, and b_j the lower bound if d_j > 0 and the upper
bound if d_j < 0.  If no y is feasible, the bound on the least violation of rows (q = 0) excludes the x for which it is
positive.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from colgen.core.errors import SolverError
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.benders.known_bases import KnownBasis
from colgen.decomposition.reading.compact_model import Floats, without_rounding
from colgen.solvers.linear.highs import basic_columns, basic_rows
from colgen.solvers.linear.lp import LinearProgram, LPSolution, LPStatus
from colgen.solvers.linear.program import Program


class StageBound(NamedTuple):
    """``Q(x) ≥ constant - slopes·x``, proved by ``duals``; if the stage is infeasible, the same for its violation."""

    constant: float
    slopes: Floats
    feasible: bool
    duals: Floats


class SecondStage:
    """The linear program of one block, solved repeatedly for different first stages.

    ``own`` and ``first`` are the matrices W and T; costs are minimised.
    """

    def __init__(
        self,
        costs: Floats,
        lower: Floats,
        upper: Floats,
        own: sparse.csc_array,
        first: sparse.csc_array,
        row_lower: Floats,
        row_upper: Floats,
    ) -> None:
        self.costs, self.lower, self.upper = costs, lower, upper
        self.own, self.first = own, first
        self.row_lower, self.row_upper = row_lower, row_upper
        self._program: LinearProgram | None = None
        self._violation: LinearProgram | None = None
        self._last: tuple[Floats, Floats, Floats] | None = None

    @cached_property
    def _by_row(self) -> sparse.csr_array:
        return sparse.csr_array(self.first)

    @cached_property
    def _transposed(self) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
        """The transposes of W, abs(W) and T; not needed if known dual values suffice."""
        return sparse.csr_array(self.own.T), sparse.csr_array(abs(self.own).T), sparse.csr_array(self.first.T)

    def solve(self, x: Floats, seconds: float = math.inf) -> tuple[Floats | None, StageBound | None]:
        """Return the optimal variables for a first stage, and the bound by its dual values."""
        found = self._solve_at(x, seconds)
        if found.status is not LPStatus.OPTIMAL:
            return None, None
        return np.clip(found.values, self.lower, self.upper), self.by_weak_duality(found.duals, self.costs, True)

    def bound(self, x: Floats, seconds: float = math.inf) -> StageBound | None:
        """Return a bound for every first stage that is tight at this one; None after the time limit."""
        solved = self._solve_at(x, seconds)
        if solved.status is LPStatus.OPTIMAL:
            return self.by_weak_duality(solved.duals, self.costs, True)
        if solved.status is LPStatus.LIMIT:
            return None
        if solved.status is LPStatus.UNBOUNDED:
            raise SolverError("HiGHS reports a second stage as unbounded that has a finite least cost")
        solved = self._least_violation(x, seconds)
        if solved.status is not LPStatus.OPTIMAL:
            return None
        # Without costs, a dual value near zero is a rounding error with nothing to compare it with.
        duals = np.where(np.abs(solved.duals) > TOLERANCES.reduced_cost, np.clip(solved.duals, -1.0, 1.0), 0.0)
        return self.by_weak_duality(duals, np.zeros(len(self.costs)), False)

    def by_weak_duality(self, duals: Floats, costs: Floats, feasible: bool) -> StageBound:
        """Return the bound by dual values; those without a finite side are rounding errors, and set to zero."""
        sides = np.where(duals > 0.0, self.row_lower, self.row_upper)
        duals = np.where(np.isfinite(sides), duals, 0.0)
        own, sizes, first = self._transposed
        reduced = costs - own @ duals
        bounds = np.where(reduced > 0.0, self.lower, self.upper)
        size = np.abs(costs) + sizes @ np.abs(duals)
        kept = np.isfinite(bounds)
        if (np.abs(reduced) > TOLERANCES.reduced_cost * size)[~kept].any():
            raise SolverError("the dual values of a second stage violate dual feasibility beyond the tolerance")
        terms = np.concatenate([duals[duals != 0.0] * sides[duals != 0.0], reduced[kept] * bounds[kept]])
        constant = without_rounding(math.fsum(terms.tolist()), float(np.abs(terms).sum()))
        return StageBound(constant, first @ duals, feasible, duals)

    def _solve_at(self, x: Floats, seconds: float) -> LPSolution:
        moved = self._by_row @ x
        low, high = self.row_lower - moved, self.row_upper - moved
        if self._program is None:
            bounds = (self.lower, self.upper, low, high)
            self._program = LinearProgram(Program(False, self.own, self.costs, *bounds), dual_first=True)
        else:
            self._program.change_row_bounds(np.arange(len(low)), low, high)
        found = self._program.solve(seconds)
        self._last = (found.values, low, high) if found.status is LPStatus.OPTIMAL else None
        return found

    def basis(self) -> KnownBasis | None:
        """Return the optimal basis of the last linear program, if it had an optimum."""
        if self._last is None or self._program is None:
            return None
        values, low, high = self._last
        moved, basis = self.own @ values, self._program.basis()
        return KnownBasis(
            basic_columns(basis),
            basic_rows(basis),
            np.abs(values - self.upper) < np.abs(values - self.lower),
            np.abs(moved - high) < np.abs(moved - low),
        )

    def _least_violation(self, x: Floats, seconds: float) -> LPSolution:
        moved = self._by_row @ x
        low, high = self.row_lower - moved, self.row_upper - moved
        if self._violation is None:
            rows, columns = self.own.shape
            either = sparse.eye_array(rows, format="csc")
            nothing, free = np.zeros(2 * rows), np.full(2 * rows, math.inf)
            self._violation = LinearProgram(
                Program(
                    False,
                    sparse.csc_array(sparse.hstack([self.own, either, -either])),
                    np.concatenate([np.zeros(columns), np.ones(2 * rows)]),
                    np.concatenate([self.lower, nothing]),
                    np.concatenate([self.upper, free]),
                    low,
                    high,
                ),
            )
        else:
            self._violation.change_row_bounds(np.arange(len(low)), low, high)
        return self._violation.solve(seconds)

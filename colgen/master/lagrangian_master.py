"""A restricted master without a linear program, bounded by its oracles alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from colgen.core.budget import Budget
from colgen.core.columns import Column, Row
from colgen.core.duals import OwnDuals
from colgen.core.errors import FormulationError
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.master.column_pool import Origins
from colgen.master.protocol import Floats, MasterSolution, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingResult


class LagrangianMaster(RestrictedMaster):
    """The master of a problem whose dual values do not come from a linear program.

    It holds no columns and solves nothing.  A warm start or a :class:`~colgen.bounding.protocol.Bounding` provides dual
    values, at which the oracles are called.  With U_k the multiplicity of pricing problem k and β_k its oracle's bound
    at dual values λ, the bound on all feasible solutions is

        constant(λ) + Σ_k U_k β_k.

    The bound counts exactly U_k structures.  If a solution may use fewer, the oracle must state a bound of at most 0
    when minimising, and of at least 0 when maximising.

    Parameters
    ----------
    sense
        Direction of the objective.
    constant
        The relaxed rows' right-hand sides times the dual values.
    """

    def __init__(self, sense: Sense, constant: Callable[[OwnDuals], float] | None = None) -> None:
        self.sense = sense
        self.constant = constant

    holds_columns = False

    def solve(self, budget: Budget) -> MasterSolution:
        raise FormulationError(
            "a LagrangianMaster has no linear program for column generation: give the problem a bounding() that sets "
            "dual values, or a master() in Pyomo"
        )

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        return 0

    def price(self, columns: Sequence[Column], duals: OwnDuals) -> Floats:
        return np.full(len(columns), math.nan)

    def bound(self, duals: OwnDuals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        total = 0.0 if self.constant is None else self.constant(duals)
        for oracle, result in zip(pricing, results, strict=True):
            if result.total is not None:
                total += result.total
            elif result.bound is not None and math.isfinite(oracle.multiplicity):
                total += oracle.multiplicity * result.bound
            elif result.bound is None or self.sense.is_better(result.bound, 0.0):
                return self.sense.ideal
        return total

    def solution(self, solved: MasterSolution) -> Solution:
        raise FormulationError("a LagrangianMaster has no solution of its own")

    @property
    def num_columns(self) -> int:
        return 0

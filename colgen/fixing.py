"""Reduced-cost fixing: forbid below a node what no better solution uses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import Budget, OutOfBudget
from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.decision_data import DecisionMaker
from colgen.core.duals import OwnDuals
from colgen.core.errors import InputError
from colgen.core.sense import Sense
from colgen.core.text import plural
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.dual_bound import factor, increases
from colgen.pricing.oracles import PricedMarginals, Pricing, PricingContext, call_oracle


@dataclass(frozen=True)
class ReductionContext:
    """The bound proved at a node, and its context.

    Attributes
    ----------
    duals
        The dual values at which ``bound`` was proved.
    bound
        The node's dual bound, before any rounding.
    target
        Solutions are of interest only if their objective is at least this good: the incumbent's, one step better if
        objectives have a step.
    decisions
        The decisions in force at the node.
    scale
        Scale to which differences of objectives are relative.
    budget
        Limits of the run, which long computations check.
    pricing_context
        The context that oracles are called with at the node; its reduced costs include rows with coefficients by
        function. None: a context of the node's decisions only.
    """

    sense: Sense
    duals: OwnDuals
    bound: float
    target: float
    decisions: tuple[Decision, ...]
    scale: float = 1.0
    budget: Budget = field(default_factory=Budget)
    pricing_context: PricingContext | None = None

    @property
    def pricing(self) -> PricingContext:
        """The context that oracles are called with at the node."""
        if self.pricing_context is not None:
            return self.pricing_context
        return PricingContext(self.sense, decisions=self.decisions, budget=self.budget)

    @property
    def slack(self) -> float:
        """How much a column may worsen the bound and still be used in a solution of interest."""
        rounding = TOLERANCES.pruning * size(self.scale, self.bound, self.target)
        return self.sense.improvement(self.bound, self.target) + rounding


class Reduction(DecisionMaker, ABC):
    """Finds decisions that keep every solution of interest in a node. Subclasses implement :meth:`reduce`.

    The decisions are added to the node and passed to its children; the relaxation is solved again.
    """

    @abstractmethod
    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        """Return decisions that no solution of interest violates; empty if they do not justify a new relaxation."""


# --- by marginals ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class VariablesForbidden(Decision):
    """No column may use certain original variables, because no solution of interest does.

    Oracles read them as ``context.forbidden(block)``.
    """

    block: str
    names: frozenset[Hashable]
    original: Callable[[Column], Mapping[Any, float]] = field(repr=False)
    exhaustive: bool = False

    def allows(self, column: Column) -> bool:
        return not any(value and name in self.names for name, value in self.original(column).items())

    def forbids(self, block: str) -> Collection[Hashable]:
        return self.names if block == self.block else ()

    def __str__(self) -> str:
        return f"{plural(len(self.names), 'variable')} of {self.block!r} forbidden"


class ReducedCostFixing(Reduction):
    """Forbids the original variables that no better solution uses, by the marginals of the oracles.

    A solution that uses a variable needs a column that uses it. The bound on such solutions is worse by at least that
    column's reduced cost (:func:`colgen.master.dual_bound.increases`, Farley's factor included). If it becomes worse
    than ``target``, the variable is forbidden in the node and below. All columns of these oracles must be integer.

    Parameters
    ----------
    oracles
        Those whose results have :attr:`PricingResult.marginals`; each variable belongs to one of them.
    original
        Maps a column to the original variables that it uses and their values, as in the branching rule.
    block
        Block of the branching rule's rows; oracles read forbidden variables by this name.
    share
        Least share of the remaining variables to forbid; with fewer the relaxation is not solved again.
    decide
        Makes decisions from the oracle's index, the marginals and the mask of variables to forbid, for oracles with
        decisions of their own. By default a :class:`VariablesForbidden`.

    References
    ----------
    S. Irnich, G. Desaulniers, J. Desrosiers, A. Hadjar, *Path-reduced costs for eliminating arcs in routing and
    scheduling*, INFORMS Journal on Computing 22 (2010).
    """

    makes: Sequence[type[Decision]] = (VariablesForbidden,)

    def restore(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        if kind is VariablesForbidden and (data["block"] != self.block or self.original is None):
            return None
        return super().restore(kind, data)

    def __init__(
        self,
        oracles: Pricing | Sequence[Pricing],
        original: Callable[[Column], Mapping[Any, float]] | None = None,
        block: str = "branch",
        *,
        share: float = 0.02,
        decide: Callable[[int, PricedMarginals, NDArray[np.bool_]], Sequence[Decision]] | None = None,
    ) -> None:
        if (original is None) == (decide is None):
            raise InputError("ReducedCostFixing: expected either original (the variables of a column) or decide")
        self.oracles = (oracles,) if isinstance(oracles, Pricing) else tuple(oracles)
        self.original, self.block, self.share = original, block, share
        self._decide = self._forbid if decide is None else decide

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        sense = context.sense
        clean = TOLERANCES.reduced_cost * context.scale
        # A bound treats reduced costs within a tolerance as zero, once per column of a solution. Its error is therefore
        # relative to the bound, not to the cost of one column.
        rounding = TOLERANCES.optimality * size(context.scale, context.bound)
        slack = context.slack + rounding
        pricing = replace(context.pricing, slack=slack + rounding)  # values just above the slack stay distinguishable
        try:
            results = [call_oracle(oracle, context.duals, pricing) for oracle in self.oracles]
            theta = factor(sense, self.oracles, results, clean)
            if theta is None or any(result.cut_off for result in results):
                return ()
            marginals_of = [None if result.marginals is None else result.marginals() for result in results]
        except OutOfBudget:
            return ()
        decisions: list[Decision] = []
        for number, (oracle, result, marginals) in enumerate(zip(self.oracles, results, marginals_of, strict=True)):
            if marginals is None or not len(marginals.values):
                continue
            if not _all_integer(result.columns):
                raise InputError(f"ReducedCostFixing: expected integer columns from {oracle.name}, got continuous ones")
            values = np.asarray(marginals.values, dtype=float)
            left = np.isfinite(values)  # the others are forbidden already, or in no column
            worse = left & (increases(sense, oracle, result, values, theta) > slack)
            if worse.sum() > self.share * left.sum():
                decisions += self._decide(number, marginals, worse)
        return decisions

    def _forbid(self, number: int, marginals: PricedMarginals, worse: NDArray[np.bool_]) -> Sequence[Decision]:
        assert self.original is not None
        names = frozenset(marginals.names[k] for k in np.flatnonzero(worse).tolist())
        return (VariablesForbidden(self.block, names, self.original),)


def _all_integer(columns: Sequence[Column]) -> bool:
    """Whether all columns are integer; a batch is not expanded into objects."""
    if isinstance(columns, Columns):
        return bool(columns.integer.all())
    return all(column.integer for column in columns)

"""Reduced-cost fixing: what can be forbidden below a node because no better answer uses it."""

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
from colgen.core.tolerances import TOLERANCES, size
from colgen.master.dual_bound import factor, increases
from colgen.pricing.oracles import PricedMarginals, Pricing, PricingContext, call_oracle


@dataclass(frozen=True)
class ReductionContext:
    """What is proved at a node.

    Attributes
    ----------
    duals
        The dual values at which ``bound`` was proved.
    bound
        The node's dual bound, before any rounding.
    target
        An answer is of interest only if its objective is at least as good as this: the incumbent's, one step better
        where objectives have a step.
    decisions
        In force at the node.
    scale
        What differences of objectives are relative to.
    budget
        What the run may spend: what can last looks at it.
    told
        What oracles are told at the node, reduced costs by the master's rows included.
    """

    sense: Sense
    duals: OwnDuals
    bound: float
    target: float
    decisions: tuple[Decision, ...]
    scale: float = 1.0
    budget: Budget = field(default_factory=Budget)
    told: PricingContext | None = None

    @property
    def pricing(self) -> PricingContext:
        """What oracles are told at the node."""
        if self.told is not None:
            return self.told
        return PricingContext(self.sense, decisions=self.decisions, budget=self.budget)

    @property
    def slack(self) -> float:
        """What an answer of interest can afford: it uses no column that worsens the bound by more than this."""
        rounding = TOLERANCES.pruning * size(self.scale, self.bound, self.target)
        return self.sense.improvement(self.bound, self.target) + rounding


class Reduction(DecisionMaker, ABC):
    """Finds decisions that keep every answer of interest in a node.  Subclasses write :meth:`reduce`.

    The decisions are added to the node and passed to its children, and the relaxation is solved again.
    """

    @abstractmethod
    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        """Decisions that no answer of interest violates; empty if nothing worth a new relaxation is found."""


# --- by marginals ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class VariablesForbidden(Decision):
    """No column may use some variables of the original formulation: no answer of interest does.

    Oracles hear of them as ``context.forbidden(block)``.
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
        return f"{len(self.names)} variables of {self.block!r} forbidden"


class ReducedCostFixing(Reduction):
    """Forbids the variables of the original formulation that no better answer uses, by the oracles' marginals.

    An answer that uses a variable needs a column that does, and the bound on such answers is worse by that column's
    reduced cost, at the least (:func:`colgen.master.dual_bound.increases`, Farley's factor included).  Where it gets
    worse than an answer of interest may be, the variable is forbidden in the node and below it.  All columns of such
    oracles must be whole.

    Parameters
    ----------
    oracles
        Those whose results bring :attr:`PricingResult.marginals`; a variable belongs to one of them.
    original
        The original variables that a column uses, with their values: that of the branching rule.
    block
        Of the branching rule's rows: oracles ask for what is forbidden by its name.
    share
        A new relaxation is worth it if at least this share of the variables that are left can go.
    decide
        Makes decisions of the oracle's number, the marginals and the mask of variables to forbid, where an oracle has a
        form of its own for them; by default a :class:`VariablesForbidden`.

    References
    ----------
    S. Irnich, G. Desaulniers, J. Desrosiers, A. Hadjar, *Path-reduced costs for eliminating arcs in routing and
    scheduling*, INFORMS Journal on Computing 22 (2010).
    """

    makes: Sequence[type[Decision]] = (VariablesForbidden,)

    def revived(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        if kind is VariablesForbidden and (data["block"] != self.block or self.original is None):
            return None
        return super().revived(kind, data)

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
            raise InputError("ReducedCostFixing needs either original, the variables of a column, or decide")
        self.oracles = (oracles,) if isinstance(oracles, Pricing) else tuple(oracles)
        self.original, self.block, self.share = original, block, share
        self._decide = self._forbid if decide is None else decide

    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        sense = context.sense
        clean = TOLERANCES.reduced_cost * context.scale
        # A bound takes reduced costs within a tolerance for zero, as often as an answer has columns; so what it may be
        # wrong by is relative to itself, not to what one column costs.
        rounding = TOLERANCES.optimality * size(context.scale, context.bound)
        slack = context.slack + rounding
        told = replace(context.pricing, slack=slack + rounding)  # what is only just worse is not told from the slack
        try:
            results = [call_oracle(oracle, context.duals, told) for oracle in self.oracles]
            theta = factor(sense, self.oracles, results, clean)
            if theta is None or any(result.cut_off for result in results):
                return ()
            found = [None if result.marginals is None else result.marginals() for result in results]
        except OutOfBudget:
            return ()
        decisions: list[Decision] = []
        for number, (oracle, result, marginals) in enumerate(zip(self.oracles, results, found, strict=True)):
            if marginals is None or not len(marginals.values):
                continue
            if not _whole(result.columns):
                raise InputError(f"ReducedCostFixing expects whole columns, and those of {oracle.name} are not")
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


def _whole(columns: Sequence[Column]) -> bool:
    """Whether all columns are whole in an answer; those of a batch are not made for it."""
    if isinstance(columns, Columns):
        return bool(columns.integer.all())
    return all(column.integer for column in columns)

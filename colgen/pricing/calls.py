"""Calls of oracles, as many at once as there are workers, and the columns of all of them as one batch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import FEW, Columns
from colgen.core.columns import Column
from colgen.core.duals import OwnDuals
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, priced


def call_oracles(oracles: Sequence[Pricing], duals: OwnDuals, context: PricingContext) -> list[PricingResult]:
    """Their results at dual values, in their order; the run's budget is told of a call that outlives the deadline."""
    budget = context.budget

    def ask(oracle: Pricing) -> tuple[PricingResult, float, bool]:
        began = time.monotonic()
        return priced(oracle, duals, context), began, time.monotonic() > budget.deadline

    answers = budget.workers.each(ask, oracles)
    for oracle, (_, began, late) in zip(oracles, answers, strict=True):
        if late:
            budget.outlived(f"{oracle.name}.price", began)
    return [result for result, _, _ in answers]


class Found(NamedTuple):
    """What oracles have found at some dual values.

    Attributes
    ----------
    results
        Of each oracle.
    columns
        Those of all results, one batch; a few single columns stay a list, which is priced sooner.
    origins
        The number of the oracle that each column came from.
    """

    results: Sequence[PricingResult]
    columns: Sequence[Column]
    origins: NDArray[np.int32]

    @property
    def costs(self) -> NDArray[np.float64]:
        """What the columns cost by themselves."""
        columns = self.columns
        return columns.costs if isinstance(columns, Columns) else np.array([column.cost for column in columns])

    def split(self, numbers: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """One number a column as one array a result."""
        parts, end = [], 0
        for result in self.results:
            begin, end = end, end + len(result.columns)
            parts.append(numbers[begin:end])
        return parts


def gather(results: Sequence[PricingResult], duals: OwnDuals) -> Found:
    """Return the columns of several results as one batch; ``duals``: those that the results are for."""
    sizes = [len(result.columns) for result in results]
    origins = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Found(results, _as_one([result.columns for result in results if len(result.columns)], duals), origins)


def _as_one(parts: Sequence[Sequence[Column]], duals: OwnDuals) -> Sequence[Column]:
    if not parts:
        return ()
    if len(parts) == 1 and not isinstance(parts[0], (list, tuple)):
        return parts[0]
    if not any(isinstance(part, Columns) for part in parts):
        singles = [*chain.from_iterable(parts)]
        return singles if len(singles) <= FEW else Columns.of(singles)
    batches = [part if isinstance(part, Columns) else Columns.of(part) for part in parts]
    return Columns.joined(batches, duals.names.keys, duals.names.position)


def select(columns: Sequence[Column], chosen: NDArray[np.bool_]) -> Sequence[Column]:
    """Some of the columns; the same object where that is all of them."""
    if chosen.all():
        return columns
    if isinstance(columns, Columns):
        return columns.take(chosen)
    return [columns[k] for k in np.flatnonzero(chosen).tolist()]

"""Call oracles in parallel and gather their columns in one batch."""

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
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, call_oracle


def call_oracles(oracles: Sequence[Pricing], duals: OwnDuals, context: PricingContext) -> list[PricingResult]:
    """Return the oracles' results; record calls that overrun the deadline."""
    budget = context.budget

    def call(oracle: Pricing) -> tuple[PricingResult, float, bool]:
        began = time.monotonic()
        return call_oracle(oracle, duals, context), began, time.monotonic() > budget.deadline

    calls = budget.workers.each(call, oracles)
    for oracle, (_, began, late) in zip(oracles, calls, strict=True):
        if late:
            budget.record_overrun(f"{oracle.name}.price", began)
    return [result for result, _, _ in calls]


class GatheredColumns(NamedTuple):
    """The columns that several oracles return at the same dual values.

    ``columns`` joins those of all results in one batch.  A few single columns stay a list, which is priced faster.
    ``origins`` has the index of each column's oracle.
    """

    results: Sequence[PricingResult]
    columns: Sequence[Column]
    origins: NDArray[np.int32]

    @property
    def costs(self) -> NDArray[np.float64]:
        columns = self.columns
        return columns.costs if isinstance(columns, Columns) else np.array([column.cost for column in columns])

    def split(self, numbers: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Split numbers of the columns into one array per result."""
        parts, end = [], 0
        for result in self.results:
            begin, end = end, end + len(result.columns)
            parts.append(numbers[begin:end])
        return parts


def gather(results: Sequence[PricingResult], duals: OwnDuals) -> GatheredColumns:
    """Return the columns of several results as one batch.  ``duals`` are the dual values of the results."""
    sizes = [len(result.columns) for result in results]
    origins = (
        np.zeros(sizes[0], np.int32) if len(sizes) == 1 else np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    )
    columns = _concatenate([result.columns for result in results if len(result.columns)], duals)
    return GatheredColumns(results, columns, origins)


def _concatenate(parts: Sequence[Sequence[Column]], duals: OwnDuals) -> Sequence[Column]:
    if not parts:
        return ()
    if len(parts) == 1 and not isinstance(parts[0], (list, tuple)):
        return parts[0]
    if not any(isinstance(part, Columns) for part in parts):
        singles = [*chain.from_iterable(parts)]
        return singles if len(singles) <= FEW else Columns.of(singles)
    batches = [part if isinstance(part, Columns) else Columns.of(part) for part in parts]
    return Columns.concatenate(batches, duals.names.keys, duals.names.position)


def select(columns: Sequence[Column], chosen: NDArray[np.bool_]) -> Sequence[Column]:
    """Return the chosen columns, the same object if all are chosen."""
    if chosen.all():
        return columns
    if isinstance(columns, Columns):
        return columns.take(chosen)
    return [columns[k] for k in np.flatnonzero(chosen).tolist()]

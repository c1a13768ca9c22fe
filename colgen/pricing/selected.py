"""Oracles of which a learner keeps some columns."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.column_batch import Columns
from colgen.core.columns import Column
from colgen.core.duals import Duals, DualVector, OwnDuals
from colgen.core.errors import InputError
from colgen.core.text import describe
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult

Floats = NDArray[np.float64]

COLUMN_FEATURES = ("gain", "cost", "entries", "dual_max", "dual_mean", "columns_mean")
"""Names of the features of a column, in the order of the columns of :attr:`OfferedColumns.values`."""


@dataclass(frozen=True)
class OfferedColumns:
    """The columns that an oracle returns in one call.

    Attributes
    ----------
    columns
        The columns, improving or not.
    values
        Shape (columns, features), all finite; the names are in :data:`COLUMN_FEATURES`: the improvement of the reduced
        cost (positive improves), the cost, the number of coefficients, the largest and mean absolute dual value of the
        rows, and the mean number of the call's columns in these rows.
    oracle
        Name of the oracle.

    References
    ----------
    M. Morabit, G. Desaulniers, A. Lodi, *Machine-learning-based column selection for column generation*,
    Transportation Science 55 (2021), on features of columns and rows.
    """

    columns: Sequence[Column]
    values: Floats
    oracle: str


class ColumnSelector(Protocol):
    """Selects the columns that join the master; a learner implements it.  It changes rounds, never a bound."""

    def keep(self, offered: OfferedColumns) -> ArrayLike:
        """Return one truth value per column: whether to keep it.  The best new column is kept in any case."""


def keep_columns(oracles: Pricing | Iterable[Pricing], selector: ColumnSelector) -> list[Pricing]:
    """Return copies of oracles that return only the columns that a learner keeps.

    The best column, and the best new one, are always kept, so the rounds end with the same bound.  A result whose
    columns must join together is not changed.

    Parameters
    ----------
    selector
        The learner: an object with a method ``keep``; see :class:`ColumnSelector`.

    Raises
    ------
    InputError
        If ``selector`` has no method ``keep``.  In a round if it does not return one truth value per column.

    Examples
    --------
    >>> class Cheap:
    ...     def keep(self, offered):
    ...         return offered.values[:, COLUMN_FEATURES.index("cost")] < 100.0
    >>> from colgen.reporting.methods import replace_parts
    >>> cheaper = replace_parts(pricing=lambda oracles: keep_columns(oracles, Cheap()))(problem)
    >>> solve(cheaper).objective
    453.0
    """
    check_selector(selector)
    given = [oracles] if isinstance(oracles, Pricing) else list(oracles)
    # One class for all of a kind: identical oracles then have identical copies, of which one is called.
    kinds = {kind: _selected_class(kind, selector) for kind in map(type, given)}
    copies = [copy.copy(oracle) for oracle in given]
    for each in copies:
        each.__class__ = kinds[type(each)]
    return copies


class KeepNone:
    """Keeps no column, so that each call returns its best column only."""

    def keep(self, offered: OfferedColumns) -> NDArray[np.bool_]:
        return np.zeros(len(offered.columns), dtype=np.bool_)


KEEP_NONE = KeepNone()


def _selected_class(kind: type[Pricing], selector: ColumnSelector) -> type[Pricing]:
    """Return a class whose objects return the columns that the selector keeps."""

    def price(self: Pricing, duals: OwnDuals, context: PricingContext) -> PricingResult:
        found = kind.price(self, duals, context)
        if len(found.columns) <= 1 or found.together:
            return found
        gains = context.sense.gains(np.asarray(context.reduced_costs(found.columns, duals), dtype=np.float64))
        offered = OfferedColumns(found.columns, _features(found.columns, gains, duals), self.name)
        keep = ask_which(selector, offered, len(found.columns), "column")
        order = np.argsort(-gains, kind="stable").tolist()
        keep[order[0]] = True
        if not context.is_new(found.columns[order[0]]):
            keep[[k for k in order[1:] if context.is_new(found.columns[k])][:1]] = True
        columns = found.columns
        kept = (
            columns.take(keep) if isinstance(columns, Columns) else [columns[k] for k in np.flatnonzero(keep).tolist()]
        )
        return dataclasses.replace(found, columns=kept, reduced_costs=None)

    return type(kind.__name__, (kind,), {"price": price, "__module__": kind.__module__})


def check_selector(selector: object) -> None:
    """Raise InputError for an object without a method ``keep``."""
    if isinstance(selector, type) or not callable(getattr(selector, "keep", None)):
        raise InputError(f"selector: expected an object with a method keep(offered), not {describe(selector)}")


def ask_which(selector: Any, offered: object, count: int, kind: str) -> NDArray[np.bool_]:
    """Return the selector's answer on ``count`` columns or arcs as a new mask."""
    given = selector.keep(offered)
    answer = np.array(given)
    if answer.dtype != np.bool_ or answer.shape != (count,):
        raise InputError(
            f"{type(selector).__name__}.keep() returned {describe(given)}: expected {count} truth values, "
            f"one per {kind}"
        )
    return answer


def _features(columns: Sequence[Column], gains: Floats, duals: OwnDuals) -> Floats:
    batch = columns if isinstance(columns, Columns) else Columns.of(columns)
    values = np.zeros((len(batch), len(COLUMN_FEATURES)))
    sizes = np.diff(batch.starts)
    values[:, :3] = np.column_stack([gains, batch.costs, sizes])
    if len(batch.rows):
        number = int(batch.rows.max()) + 1
        prices = np.abs(_dual_values(batch, duals, number))[batch.rows]
        np.maximum.at(values[:, 3], batch.owners, prices)
        divisors = np.maximum(sizes, 1)
        values[:, 4] = np.bincount(batch.owners, prices, minlength=len(batch)) / divisors
        uses = np.bincount(batch.rows, minlength=number)[batch.rows]
        values[:, 5] = np.bincount(batch.owners, uses, minlength=len(batch)) / divisors
    finite: Floats = np.nan_to_num(values, nan=0.0)
    return finite


def _dual_values(batch: Columns, duals: OwnDuals, count: int) -> Floats:
    """Return the dual values by row number of a batch; 0 for rows without one, or dual values of another kind."""
    found = np.zeros(count)
    if batch.row_keys is not None and isinstance(duals, Duals):
        found[:] = [duals.get(key) for key in batch.row_keys[:count]]
    elif batch.row_keys is None and isinstance(duals, DualVector):
        known = min(count, len(duals.values))
        found[:known] = duals.values[:known]
    return found

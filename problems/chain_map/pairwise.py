"""Scores of pairs of neighbouring labels, with bounds that are computed once per model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.budget import OutOfBudget
from colgen.core.errors import InputError
from colgen.solvers.arrays import ArrayError, as_numbers
from colgen.solvers.chains.magnitudes import largest
from colgen.solvers.chains.tree_domains import exchange
from colgen.solvers.vectors import padded

Scores = NDArray[Any]
Values = NDArray[np.float64]

_OVERFLOW_FACTOR = 64
"""Safety factor against overflow: this multiple of a tree's score must be finite."""

_MAX_BOUNDED_TABLES = 16
"""Largest number of tables for which computing bounds pays off."""


class Pairwise:
    """Scores of pairs of neighbouring labels, with bounds that all instances of a model share.

    Parameters
    ----------
    tables
        τ, shape (labels, labels) or (tables, labels, labels). Rows are labels of a node, columns labels of its parent
        (in chains, the next token). Types other than float32 and float64 are converted to float64; -inf forbids a pair.

    Attributes
    ----------
    size
        Largest absolute value of the finite scores.

    Raises
    ------
    InputError
        If the shape is wrong, or a score is NaN, +inf, or so large that sums could overflow.
    """

    def __init__(self, tables: ArrayLike) -> None:
        array = as_scores(tables, "scores of pairs")
        self.tables = array[np.newaxis] if array.ndim == 2 else array
        if self.tables.ndim != 3 or self.tables.shape[1] != self.tables.shape[2] or not self.tables.size:
            raise InputError(f"expected scores of pairs of shape (labels, labels), got the shape {array.shape}")
        self.size = check_scores(self.tables, "scores of pairs")

    @property
    def num_labels(self) -> int:
        return int(self.tables.shape[1])

    @property
    def is_bounded(self) -> bool:
        """Whether bounds are computed, which only pays off for few tables."""
        return len(self.tables) <= _MAX_BOUNDED_TABLES

    @cached_property
    def highest(self) -> Values:
        """The best score of each table, -inf if every pair is forbidden."""
        highest: Values = self.tables.max(axis=(1, 2)).astype(float)
        return highest

    @cached_property
    def double(self) -> Pairwise:
        """The same scores in double precision."""
        return self.astype(np.float64)

    @cached_property
    def single(self) -> Pairwise | None:
        """The same scores in single precision; None if this would round a score."""
        with np.errstate(over="ignore"):
            tables = self.tables.astype(np.float32)
        return self.astype(np.float32) if (tables == self.tables).all() else None

    @cached_property
    def centred(self) -> tuple[Pairwise, Values]:
        """The tables in double precision minus their best scores, and these scores (0 if all pairs are forbidden)."""
        tops = np.where(self.highest > -np.inf, self.highest, 0.0)
        return Pairwise(self.tables - tops[:, np.newaxis, np.newaxis]), tops

    @cached_property
    def lowest(self) -> float:
        """The worst score of all tables, -inf if a pair is forbidden."""
        return float(self.tables.min())

    @cached_property
    def rows(self) -> Scores:
        """The concatenated rows of all tables."""
        return self.tables.reshape(-1, self.num_labels)

    @cached_property
    def transposed_rows(self) -> Scores:
        """The concatenated rows of all transposed tables."""
        return np.ascontiguousarray(self.tables.swapaxes(1, 2)).reshape(-1, self.num_labels)

    @cached_property
    def exchanges(self) -> Scores:
        """Largest gains of exchanging a node's label, :func:`~colgen.solvers.chains.tree_domains.exchange`."""
        return exchange(self.tables) if self.is_bounded else self._unknown_exchanges()

    def exchanges_within(self, require: Callable[[], None]) -> Scores:
        """Return :attr:`exchanges`, or infinite gains if ``require`` raises OutOfBudget."""
        if self.is_bounded and "exchanges" not in vars(self):
            try:
                vars(self)["exchanges"] = exchange(self.tables, require)
            except OutOfBudget:
                return self._unknown_exchanges()
        return self.exchanges

    @cached_property
    def exchanges_above(self) -> Scores:
        """Largest gains of exchanging a parent's label: :attr:`exchanges` of the transposed tables."""
        return exchange(self.tables.swapaxes(1, 2))

    def exchanges_both_ways(self, require: Callable[[], None]) -> tuple[Scores, Scores] | None:
        """Return both kinds of exchanges; None if they are not computed, or if ``require`` raises OutOfBudget."""
        if not self.is_bounded or self.lowest == -np.inf:
            return None
        try:
            for name, tables in (("exchanges", self.tables), ("exchanges_above", self.tables.swapaxes(1, 2))):
                if name not in vars(self):
                    vars(self)[name] = exchange(tables, require)
        except OutOfBudget:
            return None
        return self.exchanges, self.exchanges_above

    def _unknown_exchanges(self) -> Scores:
        num = self.num_labels
        unknown = np.full((num, padded(num)), -np.inf, dtype=self.tables.dtype)
        unknown[:, :num] = np.inf
        np.fill_diagonal(unknown, -np.inf)
        return np.tile(unknown, (len(self.tables), 1))

    @cached_property
    def row_maxima(self) -> Scores:
        """max_y τ(x, y), shape (tables, labels rounded up to a multiple of 16), padded by -inf."""
        return _pad(self.tables.max(axis=2))

    @cached_property
    def column_maxima(self) -> Scores:
        """max_x τ(x, y), in the shape of :attr:`row_maxima`."""
        return _pad(self.tables.max(axis=1))

    def check_sums(self, terms: int) -> None:
        """Raise InputError if sums of ``terms`` scores could overflow their type."""
        check_size(self.size, self.tables.dtype, "scores of pairs", terms)

    def astype(self, dtype: Any) -> Pairwise:
        """Return the scores in another precision; self if nothing changes."""
        return self if self.tables.dtype == dtype else Pairwise(self.tables.astype(dtype))


def as_scores(array: ArrayLike, what: str = "scores") -> Scores:
    """Convert scores to float32 or float64 in C order; other types become float64."""
    if isinstance(array, np.ndarray) and array.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(array)
    try:
        return as_numbers(array, what)
    except ArrayError as error:
        raise InputError(str(error)) from None


def check_scores(scores: Scores, what: str, terms: int = 1) -> float:
    """Return the largest magnitude of scores; raise InputError for NaN, +inf, or sums of ``terms`` that could overflow.

    ``what`` names the scores in messages.
    """
    size = largest(scores)
    if not size < np.inf:
        raise InputError(f"expected {what} to be numbers or -inf, got {'NaN' if np.isnan(size) else '+inf'}")
    check_size(size, scores.dtype, what, terms)
    return size


def check_size(size: float, dtype: Any, what: str, terms: int) -> None:
    """Raise InputError if sums of ``terms`` scores of this magnitude could overflow their type."""
    most = float(np.finfo(dtype).max) / (_OVERFLOW_FACTOR * terms)
    if size > most:
        raise InputError(f"expected {what} of magnitude at most {most:.2g}, so that sums do not overflow, got {size:g}")


def _pad(rows: Scores) -> Scores:
    out = np.full((len(rows), padded(rows.shape[1])), -np.inf, dtype=rows.dtype)
    out[:, : rows.shape[1]] = rows
    return out

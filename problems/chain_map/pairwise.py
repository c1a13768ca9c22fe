"""Scores of pairs of neighbouring labels, and bounds on them that are computed once for a model."""

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
from colgen.solvers.chains.vectors import padded

Scores = NDArray[Any]
Values = NDArray[np.float64]

_ROOM = 64
"""So many times the sum of a tree's scores are numbers, too."""

_MANY = 16
"""With more tables than this, bounds on them would cost more than what they save."""


class Pairwise:
    """Scores of pairs of neighbouring labels, and bounds on them that are computed once for all instances of a model.

    Parameters
    ----------
    tables
        τ, shape (labels, labels), or several such tables, shape (tables, labels, labels): row the label of a node,
        column that of its parent, in chains of the next token.  float32 or float64, anything else becomes float64;
        -inf forbids a pair.

    Attributes
    ----------
    size
        The largest magnitude of the finite scores.

    Raises
    ------
    InputError
        If the shape is another, or a score is NaN, +inf, or so large that sums could be.
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
        """Whether bounds are computed: not where there is a table an edge, which would have to be read anyway."""
        return len(self.tables) <= _MANY

    @cached_property
    def highest(self) -> Values:
        """The best score of each table, -inf where every pair is forbidden."""
        highest: Values = self.tables.max(axis=(1, 2)).astype(float)
        return highest

    @cached_property
    def double(self) -> Pairwise:
        """The same in double precision."""
        return self.astype(np.float64)

    @cached_property
    def single(self) -> Pairwise | None:
        """The same in single precision, None if a score would be rounded."""
        with np.errstate(over="ignore"):
            tables = self.tables.astype(np.float32)
        return self.astype(np.float32) if (tables == self.tables).all() else None

    @cached_property
    def centred(self) -> tuple[Pairwise, Values]:
        """In double precision, each table less its best score, and these scores, 0 where every pair is forbidden."""
        tops = np.where(self.highest > -np.inf, self.highest, 0.0)
        return Pairwise(self.tables - tops[:, np.newaxis, np.newaxis]), tops

    @cached_property
    def lowest(self) -> float:
        """The worst score of all, -inf where a pair is forbidden."""
        return float(self.tables.min())

    @cached_property
    def rows(self) -> Scores:
        """The tables one below the other."""
        return self.tables.reshape(-1, self.num_labels)

    @cached_property
    def transposed_rows(self) -> Scores:
        """The transposed tables one below the other."""
        return np.ascontiguousarray(self.tables.swapaxes(1, 2)).reshape(-1, self.num_labels)

    @cached_property
    def exchanges(self) -> Scores:
        """The most that exchanging a label gains above it: :func:`~colgen.solvers.chains.tree_domains.exchange`."""
        return exchange(self.tables) if self.is_bounded else self._unknown_exchanges()

    def exchanges_within(self, require: Callable[[], None]) -> Scores:
        """The same, unless ``require`` raises OutOfBudget: then nothing is known of any exchange."""
        if self.is_bounded and "exchanges" not in vars(self):
            try:
                vars(self)["exchanges"] = exchange(self.tables, require)
            except OutOfBudget:
                return self._unknown_exchanges()
        return self.exchanges

    @cached_property
    def exchanges_above(self) -> Scores:
        """What exchanging a parent's label gains below it at most: exchanges of the transposed tables."""
        return exchange(self.tables.swapaxes(1, 2))

    def exchanges_both_ways(self, require: Callable[[], None]) -> tuple[Scores, Scores] | None:
        """Exchanges of nodes' and of parents' labels; None where they are not computed, or there is no time for it."""
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
        """max_y τ(x, y), shape (tables, labels made a multiple of 16), padded by -inf."""
        return _pad(self.tables.max(axis=2))

    @cached_property
    def column_maxima(self) -> Scores:
        """max_x τ(x, y), likewise."""
        return _pad(self.tables.max(axis=1))

    def check_sums(self, terms: int) -> None:
        """Refuse scores of which sums of so many terms are too large for their type."""
        check_size(self.size, self.tables.dtype, "scores of pairs", terms)

    def astype(self, dtype: Any) -> Pairwise:
        """The same in another precision; itself if it has that."""
        return self if self.tables.dtype == dtype else Pairwise(self.tables.astype(dtype))


def as_scores(array: ArrayLike, what: str = "scores") -> Scores:
    """As float32 or float64, in C order; integers and the like as float64."""
    if isinstance(array, np.ndarray) and array.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(array)
    try:
        return as_numbers(array, what)
    except ArrayError as error:
        raise InputError(str(error)) from None


def check_scores(scores: Scores, what: str, terms: int = 1) -> float:
    """The largest magnitude of scores, after refusing NaN, +inf, and what sums of so many ``terms`` overflow with.

    ``what`` they are goes into the message.
    """
    size = largest(scores)
    if not size < np.inf:
        raise InputError(f"expected {what} that are numbers or -inf, got {'NaN' if np.isnan(size) else '+inf'}")
    check_size(size, scores.dtype, what, terms)
    return size


def check_size(size: float, dtype: Any, what: str, terms: int) -> None:
    """Refuse scores of this magnitude if sums of so many terms are too large for their type."""
    most = float(np.finfo(dtype).max) / (_ROOM * terms)
    if size > most:
        raise InputError(f"expected {what} of at most {most:.2g}, so that sums are numbers, got one of {size:g}")


def _pad(rows: Scores) -> Scores:
    out = np.full((len(rows), padded(rows.shape[1])), -np.inf, dtype=rows.dtype)
    out[:, : rows.shape[1]] = rows
    return out

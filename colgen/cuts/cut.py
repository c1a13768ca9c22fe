"""Cuts that change the pricing problem: rows whose coefficients are terms of the columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key, Row, RowFamily
from colgen.core.errors import FormulationError
from colgen.core.terms import Box, Count, Linear, Term
from colgen.solvers.paths.counting import counts_along

T = TypeVar("T")
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Triples = tuple[Ints, Ints, Floats]
"""Indices of columns, indices of components, amounts.  Others are zero."""

_SLACK = 10
"""Default number of consecutive solves with slack after which a cut leaves the linear program."""

_REMEMBERED = 32
"""Number of lists of terms whose weights are cached."""


class Cuts(RowFamily):
    """A family of cuts: rows whose coefficients are terms of the columns.

    The term is the index of the row, so equal cuts are one row.  Coefficients are computed in batches, for columns and
    cuts in any order of addition.

    Parameters
    ----------
    block
        The family's name: the first part of the rows' keys.
    components
        The amounts of a column's components, ``components(column) -> {component: amount}``, as for
        :class:`colgen.OnOriginalVariable`.  None: the column's coefficients in rows of the term's block.
    order
        The components that a column visits, in order, for counts with limited memory.
    idle_after
        See :class:`colgen.core.columns.RowFamily`.
    """

    def __init__(
        self,
        block: str,
        *,
        components: Callable[[Column], Mapping[Hashable, float]] | None = None,
        order: Callable[[Column], Sequence[Hashable]] | None = None,
        idle_after: int | None = _SLACK,
    ) -> None:
        super().__init__(block, idle_after=idle_after)
        self.components = components
        self.order = order
        self._known: dict[tuple[int, ...], tuple[tuple[Term, ...], Any]] = {}

    def cut(self, term: Term, lower: float = -math.inf, upper: float = math.inf) -> Row:
        """Return the row ``lower ≤ Σ_j term(j) x_j ≤ upper``."""
        return Row((self.block, term), lower, upper, family=self)

    def coefficients(self, columns: Sequence[Column], indices: Sequence[Hashable]) -> Floats:
        terms = [_as_term(index, self.block) for index in indices]
        found = np.zeros((len(columns), len(terms)))
        if not len(columns):
            return found
        for block in sorted({term.block for term in terms}):
            mine = [k for k, term in enumerate(terms) if term.block == block]
            limited = [k for k in mine if isinstance(terms[k], Count) and terms[k].memory is not None]  # type: ignore[attr-defined]
            if limited:
                found[:, limited] = self._along(columns, [terms[k] for k in limited])
            others = sorted(set(mine) - set(limited))
            if others:
                found[:, others] = self._of_amounts(columns, block, [terms[k] for k in others])
        return found

    # --- amounts -----------------------------------------------------------------------------------------------------

    def amounts(self, columns: Sequence[Column], block: str, members: Sequence[Hashable]) -> Triples:
        """Return the amounts of components of a block in each column.  Override it for faster array code."""
        if self.components is None and isinstance(columns, Columns) and columns.row_keys is not None:
            return _from_rows(columns, columns.row_keys, block, members)
        number = {member: k for k, member in enumerate(members)}
        owners, found, values = [], [], []
        for owner, column in enumerate(columns):
            for member, value in self._items(column, block):
                k = number.get(member)
                if k is not None and value:
                    owners.append(owner)
                    found.append(k)
                    values.append(float(value))
        return np.array(owners, dtype=np.int64), np.array(found, dtype=np.int64), np.array(values, dtype=np.float64)

    def _items(self, column: Column, block: str) -> Iterable[tuple[Hashable, float]]:
        if self.components is not None:
            return self.components(column).items()
        return [(key[1], value) for key, value in column.coefficients.items() if key[0] == block]

    def _of_amounts(self, columns: Sequence[Column], block: str, terms: Sequence[Term]) -> Floats:
        members, number, weighted = self._cached(terms, _weighted)
        owners, which, values = self.amounts(columns, block, members)
        table = sparse.csr_array((values, (owners, which)), shape=(len(columns), len(members)))
        found = np.empty((len(columns), len(terms)))
        summed = [k for k, term in enumerate(terms) if isinstance(term, (Linear, Count))]
        if summed:
            found[:, summed] = self._sums(table, [terms[k] for k in summed], weighted)
        for k, term in enumerate(terms):
            if isinstance(term, Box):
                lower, upper = np.array([limits for _, *limits in term.bounds], dtype=float).reshape(-1, 2).T
                inside = table[:, [number[member] for member in term.members]].toarray()
                found[:, k] = ((inside >= lower) & (inside <= upper)).all(axis=1)
        return found

    def _cached(self, terms: Sequence[Term], make: Callable[[Sequence[Term]], T]) -> T:
        """Return what is made of terms, from a cache: they may have hundreds of members and meet many columns."""
        which = tuple(map(id, terms))
        known = self._known.get(which)
        if known is not None and all(mine is given for mine, given in zip(known[0], terms, strict=True)):
            return cast(T, known[1])  # compared by identity, since ids in a copy from another process may be reused
        made = make(terms)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[which] = (tuple(terms), made)  # keeps the terms alive, so ids are unique
        return made

    def _sums(self, table: sparse.csr_array, terms: Sequence[Term], weighted: sparse.csr_array) -> Floats:
        divisors = np.array([term.divisor if isinstance(term, Count) else 0.0 for term in terms])
        sums: Floats = (table @ weighted).toarray()
        counted = divisors > 0.0
        if counted.any():
            if (table.data != np.floor(table.data)).any() or (table.data < 0.0).any():
                raise FormulationError(
                    f"a cut of {self.block!r} counts columns whose amounts are not integers of 0 or more: use rank-1 "
                    "cuts only for columns with such amounts"
                )
            sums[:, counted] = np.floor_divide(sums[:, counted], divisors[counted])
        return sums

    # --- counts with limited memory ----------------------------------------------------------------------------------

    def visits(self, columns: Sequence[Column], members: Sequence[Hashable]) -> tuple[Ints, Ints]:
        """Return where the visits of each column begin, and all visits as indices of members, -1 for others."""
        if self.order is None:
            raise FormulationError(
                f"a cut of {self.block!r} has a limited memory, which needs the order in which columns visit "
                "components: pass order="
            )
        number = {member: k for k, member in enumerate(members)}
        routes = [self.order(column) for column in columns]
        starts = np.zeros(len(columns) + 1, dtype=np.int64)
        np.cumsum([len(route) for route in routes], out=starts[1:])
        return starts, np.array([number.get(v, -1) for route in routes for v in route], dtype=np.int64)

    def _along(self, columns: Sequence[Column], terms: Sequence[Term]) -> Ints:
        members, weights, divisors = self._cached(terms, _limited)
        return counts_along(*self.visits(columns, members), weights, divisors)


def _as_term(index: Hashable, block: str) -> Term:
    if not isinstance(index, Term):
        raise FormulationError(f"a row of the cuts {block!r} has the index {index!r}, expected a term such as Count")
    return index


def _members(term: Term) -> tuple[Hashable, ...]:
    if isinstance(term, (Linear, Count, Box)):
        return term.members
    raise FormulationError(f"cuts count Linear, Count and Box terms, not {type(term).__name__}")


def _weighted(terms: Sequence[Term]) -> tuple[list[Hashable], dict[Hashable, int], sparse.csr_array]:
    """Return the terms' members, their indices, and weights by member and term."""
    members = list(dict.fromkeys(member for term in terms for member in _members(term)))
    number = {member: k for k, member in enumerate(members)}
    rows, columns, weights = [], [], []
    for k, term in enumerate(term for term in terms if isinstance(term, (Linear, Count))):
        rows += [number[member] for member in term.members]
        columns += [k] * len(term.members)
        weights += list(term.coefficients if isinstance(term, Linear) else term.weights)
    shape = (len(number), sum(isinstance(term, (Linear, Count)) for term in terms))
    return members, number, sparse.csr_array((np.array(weights, dtype=float), (rows, columns)), shape=shape)


def _limited(terms: Sequence[Term]) -> tuple[list[Hashable], Ints, list[int]]:
    """Return the members of counts with a memory, weights by count and member (-1 outside of it), and divisors."""
    counts = [term for term in terms if isinstance(term, Count)]
    members = list(dict.fromkeys(member for term in counts for member in term.memory or ()))
    number = {member: k for k, member in enumerate(members)}
    weights = np.full((len(counts), len(members)), -1, dtype=np.int64)
    for k, term in enumerate(counts):
        weights[k, [number[member] for member in term.memory or ()]] = 0
        weights[k, [number[member] for member in term.members]] = term.weights
    return members, weights, [term.divisor for term in counts]


def _from_rows(columns: Columns, row_keys: Sequence[Key], block: str, members: Sequence[Hashable]) -> Triples:
    """Return the amounts that a batch has as coefficients in rows."""
    number = {member: k for k, member in enumerate(members)}
    present = np.unique(columns.rows)
    names = [row_keys[row] for row in present.tolist()]
    numbers = np.array([number.get(key[1], -1) if key[0] == block else -1 for key in names], dtype=np.int64)
    which = np.full(int(present[-1]) + 1 if len(present) else 0, -1, dtype=np.int64)
    which[present] = numbers
    found = which[columns.rows] if len(present) else np.empty(0, dtype=np.int64)
    mine = found >= 0
    return columns.owners[mine], found[mine], columns.values[mine]

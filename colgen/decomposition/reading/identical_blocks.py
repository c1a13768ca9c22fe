"""Blocks that are identical up to the order of their variables and rows.

Colours distinguish variables and rows: first by their own numbers, then by the colours and coefficients of their
neighbours, until no colour is divided.  Variables that still share a colour are tried in turn: one is paired with each
candidate of the other block, and both blocks are coloured again (B. D. McKay, A. Piperno, *Practical graph isomorphism
II*, Journal of Symbolic Computation 60, 2014).  Colours are hashes and only propose an order: blocks are identical if
their arrays in this order are equal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.decomposition.reading.compact_model import CompactModel, Floats, Ints, Partition
from colgen.decomposition.reading.subproblems import Subproblem, block_bounds, has_rays, permuted, split

_MOST_WORK = 4_000_000
"""Limit on the entries that are coloured in a model while tied variables are paired; then blocks stay separate."""

_OVERHEAD = 1_000
"""Number of entries that take as long as the calls of one colouring."""

_FREE = 100_000
"""Entries that may be coloured for each pair of identical blocks without counting."""

_MOST_COPIED = 1_000_000
"""Limit on the entries of the copies of a block in which tied variables are distinguished."""

_STEPS = 6
"""Number of times that colours are divided there."""

_DEEPEST = 500
"""Limit on the number of variables that are paired one after another."""

Colours: TypeAlias = NDArray[np.uint64]


def subproblems(compact: CompactModel, partition: Partition, *, aggregate: bool = True) -> tuple[Subproblem, ...]:
    """Return the blocks of a model, with identical blocks merged if ``aggregate``.

    Different blocks are never merged; identical blocks stay separate if pairing their variables takes too long.
    Unbounded blocks are never merged, because branching does not count their points.
    """
    f, (lower, upper) = compact.formulation, block_bounds(compact, partition)
    finite = np.isfinite(lower) & np.isfinite(upper)
    alone, joinable = list[list[Subproblem]](), list[Subproblem]()
    for block in split(compact, partition, (f.lower, f.upper)):  # equal bounds as the model states them
        integer = block.columns[0][block.integer]
        if aggregate and len(integer) and finite[integer].all():  # else component bounds may be incomplete
            joinable.append(block)
        else:
            alone.append([block])
    found: list[Subproblem] = []
    for group in sorted([*alone, *group_identical(joinable)], key=lambda group: group[0].number):
        columns = group[0].columns[0]
        first = dataclasses.replace(group[0], lower=lower[columns], upper=upper[columns])
        first = dataclasses.replace(first, unbounded=has_rays(first))
        for together in [[block] for block in group] if first.unbounded else [group]:
            names = tuple(block.members[0] for block in together)
            places = np.concatenate([block.columns for block in together])
            found.append(dataclasses.replace(first, number=len(found), members=names, columns=places))
    return tuple(found)


def group_identical(blocks: Sequence[Subproblem]) -> list[list[Subproblem]]:
    """Return groups of identical blocks, reordered such that their arrays are equal."""
    same: dict[Hashable, list[Subproblem]] = {}
    for block in blocks:
        same.setdefault(_fingerprint(block), []).append(block)
    groups, work = list(same.values()), [_MOST_WORK]
    for alike in _classes([group[0] for group in groups]) if len(groups) > 1 else []:
        firsts: list[_Colouring] = []
        for other in (block.distinguished for block in alike):
            for first in firsts:
                left, paired = work[0], _pair(first, other, work)
                if paired is not None:
                    work[0] = min(left, work[0] + _FREE)
                    groups[first.number] += [permuted(block, *paired) for block in groups[other.number]]
                    groups[other.number] = []
                    break
            else:
                firsts.append(other)
    return [sorted(group, key=lambda block: block.number) for group in groups if group]


def _fingerprint(block: Subproblem) -> Hashable:
    """Return all arrays of a block, to the last bit."""
    parts: list[bytes] = []
    for matrix in (block.matrix, block.linking):
        matrix.sort_indices()
        parts += [np.asarray(matrix.indptr, dtype=np.int64).tobytes()]
        parts += [np.asarray(matrix.indices, dtype=np.int64).tobytes(), (matrix.data + 0.0).tobytes()]
    sides = (block.costs, block.lower, block.upper, block.row_lower, block.row_upper)
    return (block.matrix.shape, *parts, *((array + 0.0).tobytes() for array in sides), block.integer.tobytes())


# --- colours ---------------------------------------------------------------------------------------------------------


class _Graph:
    """Variables and rows of one or several blocks, with their first colours."""

    def __init__(self, blocks: Sequence[Subproblem]) -> None:
        self._entries = _Entries([block.matrix for block in blocks])
        heights = [len(block.row_lower) for block in blocks]
        starts = np.repeat(np.cumsum([0, *heights[:-1]]), [block.matrix.nnz for block in blocks])
        self._row = self._entries.indices + starts
        self._by_row = np.argsort(self._row, kind="stable")
        self._row_starts = np.concatenate([[0], np.cumsum(np.bincount(self._row, minlength=sum(heights)))])
        linking = _Entries([block.linking for block in blocks])
        link = linking.sums(_mix(linking.data + _mix(linking.indices.astype(np.uint64))))
        self.columns = _colours(link, blocks, ("costs", "lower", "upper", "integer"))
        self.rows = _colours(np.zeros(sum(heights), dtype=np.uint64), blocks, ("row_lower", "row_upper"))
        # Variables with equal entries in equal rows may change places: a number for each distinguishes them.
        block = np.repeat(np.arange(len(blocks), dtype=np.uint64), [len(block.costs) for block in blocks])
        twins = _mix(
            self.columns
            + _mix(block)
            + self._entries.sums(_mix(self._entries.data + _mix(self._row.astype(np.uint64))))
        )
        self.columns = _mix(self.columns + _mix(_ranks(twins)))

    def refined(self, columns: Colours, rows: Colours) -> tuple[Colours, Colours]:
        """Return the colours of variables and rows, divided by those of their neighbours."""
        count = 0
        while (found := len(np.unique(columns)) + len(np.unique(rows))) > count:
            count = found
            columns, rows = self.refined_once(columns, rows)
        return columns, rows

    def refined_once(self, columns: Colours, rows: Colours) -> tuple[Colours, Colours]:
        """Return the colours divided by those of the neighbours, and of their neighbours."""
        entries = self._entries
        sent = _mix(entries.data + _mix(columns[entries.owners]))
        rows = _mix(rows + _sums(sent[self._by_row], self._row_starts))
        return _mix(columns + entries.sums(_mix(entries.data + rows[self._row]))), rows

    @property
    def size(self) -> int:
        """Number of variables, rows and entries."""
        return len(self.columns) + len(self.rows) + len(self._row)


class _Entries:
    """The entries of matrices with compressed columns (or rows), one below the other; numbers are hashed."""

    def __init__(self, matrices: Sequence[Any]) -> None:
        counts = np.concatenate([np.diff(matrix.indptr) for matrix in matrices])
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.owners = np.repeat(np.arange(len(counts)), counts)
        self.indices: Ints = np.concatenate([matrix.indices for matrix in matrices]).astype(np.int64)
        self.data = _mix(_bits(np.concatenate([matrix.data for matrix in matrices])))

    def sums(self, values: Colours) -> Colours:
        """Return the sum of the values of each owner's entries."""
        return _sums(values, self.starts)


def _sums(values: Colours, starts: Ints) -> Colours:
    """Return sums of consecutive values, modulo 2^64."""
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
    return np.asarray(total[starts[1:]] - total[starts[:-1]], dtype=np.uint64)


def _mix(values: Colours) -> Colours:
    """Return a hash of each number (the finalizer of SplitMix64)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), dtype=np.uint64)


def _bits(values: Floats) -> Colours:
    return (values + 0.0).astype(np.float64).view(np.uint64)  # -0.0 becomes 0.0


def _colours(first: Colours, blocks: Sequence[Subproblem], names: Sequence[str]) -> Colours:
    """Return hashes of some arrays of blocks, one after another."""
    for name in names:
        first = _mix(first + _bits(np.concatenate([getattr(block, name) for block in blocks])))
    return first


def _ranks(values: Colours) -> Colours:
    """Return the number of earlier elements with the same value."""
    order = np.argsort(values, kind="stable")
    new = np.concatenate([[True], np.diff(values[order]) != 0]) if len(values) else np.empty(0, dtype=np.bool_)
    places = np.arange(len(values))
    ranks = np.empty(len(values), dtype=np.uint64)
    ranks[order] = places - np.maximum.accumulate(np.where(new, places, 0))
    return ranks


def _classes(blocks: Sequence[Subproblem]) -> list[list[_Colouring]]:
    """Return the colourings of blocks in groups with equal colours, without groups of one."""
    graph = _Graph(blocks)
    columns, rows = graph.refined(graph.columns, graph.rows)
    widths = np.cumsum([len(block.costs) for block in blocks])[:-1]
    heights = np.cumsum([len(block.row_lower) for block in blocks])[:-1]
    found: dict[Hashable, list[_Colouring]] = {}
    own_colours = zip(np.split(columns, widths), np.split(rows, heights), strict=True)
    for k, (own, own_rows) in enumerate(own_colours):
        key = len(own), len(own_rows), int(own.sum()), int(own_rows.sum())
        found.setdefault(key, []).append(_Colouring(k, blocks[k], own, own_rows))
    return [group for group in found.values() if len(group) > 1]


# --- pairing ---------------------------------------------------------------------------------------------------------


class _Colouring:
    """A block with refined colours of its variables and rows."""

    def __init__(self, number: int, block: Subproblem, columns: Colours, rows: Colours) -> None:
        self.number, self.block = number, block
        self.columns, self.rows = columns, rows
        self.order, self.row_order = np.argsort(columns, kind="stable"), np.argsort(rows, kind="stable")
        self._fixed: dict[int, _Colouring] = {}

    @cached_property
    def graph(self) -> _Graph:
        return _Graph([self.block])

    def is_like(self, other: _Colouring) -> bool:
        """Return whether both have the same colours."""
        same = self.columns[self.order] == other.columns[other.order]
        return bool(same.all() and (self.rows[self.row_order] == other.rows[other.row_order]).all())

    @cached_property
    def tied(self) -> Ints:
        """The variables of the colour that the fewest variables share, but at least two."""
        values, counts = np.unique(self.columns, return_counts=True)
        if len(values) == len(self.columns):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.columns == values[np.argmin(np.where(counts > 1, counts, len(self.columns) + 1))])

    @cached_property
    def distinguished(self) -> _Colouring:
        """The colours after each tied variable received a colour of its own in turn, in copies of the block.

        The sum of the colours of its copy then distinguishes a tied variable.  Equal blocks get equal colours, and few
        variables that would be tried in vain stay tied.
        """
        count, width = len(self.tied), len(self.columns)
        if not 0 < count * self.graph.size <= _MOST_COPIED:
            return self
        copies, own = _Graph([self.block] * count), np.arange(count) * width + self.tied
        columns, rows = np.tile(self.columns, count), np.tile(self.rows, count)
        columns[own] = _mix(columns[own])
        for _ in range(_STEPS):
            columns, rows = copies.refined_once(columns, rows)
        told = self.columns.copy()
        told[self.tied] = _mix(told[self.tied] + columns.reshape(count, width).sum(axis=1, dtype=np.uint64))
        return self._recoloured(told)

    def _recoloured(self, columns: Colours) -> _Colouring:
        found = _Colouring(self.number, self.block, *self.graph.refined(columns, self.rows))
        found.graph = self.graph
        return found

    def fixed(self, column: int) -> _Colouring:
        """Return the colours after one variable received a colour of its own."""
        if column not in self._fixed:
            columns = self.columns.copy()
            columns[column] = _mix(columns[[column]])[0]
            self._fixed[column] = self._recoloured(columns)
        return self._fixed[column]


def _pair(one: _Colouring, other: _Colouring, work: list[int], depth: int = 0) -> tuple[Ints, Ints] | None:
    """Return the variables and rows of the other block in the order of the first; None if no order is found."""
    if not one.is_like(other):
        return None
    if not len(one.tied):
        columns, rows = np.empty_like(one.order), np.empty_like(one.row_order)
        columns[one.order], rows[one.row_order] = other.order, other.row_order
        same = _fingerprint(permuted(other.block, columns, rows)) == _fingerprint(one.block)
        return (columns, rows) if same else None
    if depth < _DEEPEST and work[0] >= 0:
        first = one.fixed(int(one.tied[0]))
        for column in other.tied.tolist():
            work[0] -= other.graph.size + _OVERHEAD
            if work[0] < 0:
                break
            found = _pair(first, other.fixed(column), work, depth + 1)
            if found is not None:
                return found
    return None

"""The layout of patterns on rolls: the arcs (item, position) of branching decisions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Columns, Decision, InputError
from colgen.core.text import plural
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern
from colgen.solvers.packing.bounded import BITS, count_parts
from colgen.solvers.packing.knapsack import NetworkTooLargeError, PackingNetwork, network
from colgen.solvers.packing.network import CELLS, STATES

Arc: TypeAlias = tuple[int, int]
"""``(rank, position)``: a piece of the item of this rank at this position."""

Rolled: TypeAlias = tuple[int, Pattern]
"""The structure of a column: a kind of roll and a pattern."""


def as_arc(variable: Hashable) -> Arc:
    """Return an original variable, or the index of a branching row, typed as an arc."""
    return cast(Arc, variable)


def decompose_flows(
    flows: Iterable[tuple[int, int, int]], widths: NDArray[np.int64]
) -> Iterator[tuple[list[int], int]]:
    """Yield the paths of integer arc flows from position 0, each as its ranks and its number of rolls.

    A flow is a rank, a position, and the number of rolls with a piece of this rank there; ``widths`` are by rank.
    """
    leaving: dict[int, list[list[int]]] = {}  # by position: [rank, remaining rolls]
    for rank, position, rolls in flows:
        if rolls > 0:
            leaving.setdefault(position, []).append([rank, rolls])
    while leaving.get(0):
        path, position = [], 0
        while leaving.get(position):
            path.append(leaving[position])
            position += int(widths[path[-1][-1][0]])
        rolls = min(arcs[-1][1] for arcs in path)
        yield [arcs[-1][0] for arcs in path], rolls
        for arcs in path:
            arcs[-1][1] -= rolls
            if not arcs[-1][1]:
                arcs.pop()


class LaidOutPatterns(Sequence[Rolled]):
    """The patterns of one round on one kind of roll, as arrays; a tuple is made at each access.

    Pattern k has ``copies[starts[k]:starts[k + 1]]`` of ``items[starts[k]:starts[k + 1]]``, widest first.
    """

    def __init__(
        self, kind: int, starts: NDArray[np.int64], items: NDArray[np.int64], copies: NDArray[np.int64]
    ) -> None:
        self.kind, self.starts, self.items, self.copies = kind, starts, items, copies

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, k: int) -> Rolled: ...
    @overload
    def __getitem__(self, k: slice) -> list[Rolled]: ...
    def __getitem__(self, k: int | slice) -> Rolled | list[Rolled]:
        if isinstance(k, slice):
            return [self[number] for number in range(len(self))[k]]
        k = range(len(self))[k]
        begin, end = self.starts[k], self.starts[k + 1]
        return self.kind, tuple(zip(self.items[begin:end].tolist(), self.copies[begin:end].tolist(), strict=True))


class PatternLayout:
    """Layout of patterns from position 0, widest item first, for every kind of roll.

    Items are numbered by *rank*: rank 0 is the widest.  The arc ``(rank, position)`` is a piece of that item at that
    position.  :attr:`network` contains and numbers the arcs of all patterns on the widest roll.
    """

    def __init__(self, instance: CuttingStockInstance) -> None:
        widths = np.array(instance.widths, dtype=np.int64)
        self.roll = instance.roll
        self.item_of_rank = np.argsort(-widths, kind="stable")
        self.rank_of_item = np.empty_like(self.item_of_rank)
        self.rank_of_item[self.item_of_rank] = np.arange(len(widths))
        self.widths = widths[self.item_of_rank]
        self.demands = np.array(instance.demands, dtype=np.int64)[self.item_of_rank]
        self._arcs: dict[Pattern, Mapping[Hashable, float]] = {}
        self._numbers: dict[Pattern, NDArray[np.int64]] = {}
        no = np.zeros(0, dtype=np.int64)
        self._last: tuple[Columns | None, NDArray[np.int64], NDArray[np.int64]] = (None, no, no)

    @cached_property
    def network(self) -> PackingNetwork:
        """The arcs of all patterns, at most one per item and sum of widths; raises InputError if there are too many."""
        return self.lay_network()

    def lay_network(self, look: Callable[[], object] = lambda: None) -> PackingNetwork:
        """Return :attr:`network`; ``look`` is called every few hundredths of a second meanwhile, and may raise."""
        if "network" not in self.__dict__:
            try:
                self.__dict__["network"] = network(self.widths, self.demands, self.roll, look=look)
            except NetworkTooLargeError as error:
                raise InputError(f"the instance is too large for its pricing problem: {error}") from None
        net: PackingNetwork = self.__dict__["network"]
        return net

    @cached_property
    def tabulated(self) -> bool:
        """Whether the network fits into memory.

        Raises InputError if the dynamic program over all positions does not fit, either.

        Without the network there is no fixing, no enumeration and no cut, and
        :mod:`colgen.problems.cutting_stock.wide_pricing` prices the patterns.
        """
        if (len(self.widths) + 1) * (self.roll + 1) <= CELLS and self.roll < STATES:
            return True
        try:
            self.lay_network()
        except InputError:
            if count_parts(self.widths, self.demands, self.roll) * (self.roll + 64) > BITS:
                raise
            return False
        return True

    @cached_property
    def width_of_item(self) -> NDArray[np.int64]:
        """Widths by item, not by rank."""
        return self.widths[self.rank_of_item]

    @cached_property
    def rank_of_name(self) -> Mapping[Hashable, int]:
        """Rank by the index of the demand row."""
        return dict(enumerate(self.rank_of_item.tolist()))

    @property
    def pieces(self) -> tuple[list[int], list[int]]:
        """Widths and demands as Python integers, which do not overflow."""
        return self.widths.tolist(), self.demands.tolist()

    def filled_each(self, columns: Columns) -> NDArray[np.int64]:
        """Return the width that each pattern of a batch fills; 0 if it has more pieces than demanded."""
        numbers, starts = self.numbers_each(columns)
        ends = np.concatenate([[0], np.cumsum(np.append(self._width_of_arc, 0)[numbers])])
        filled: NDArray[np.int64] = ends[starts[1:]] - ends[starts[:-1]]
        filled[np.searchsorted(starts, np.flatnonzero(numbers < 0), side="right") - 1] = 0
        return filled

    @cached_property
    def _width_of_arc(self) -> NDArray[np.int64]:
        return np.repeat(self.widths, np.diff(self.network.first_arc))

    def pattern(self, copies: NDArray[np.int64]) -> Pattern:
        """Return the pattern with these copies by rank."""
        ranks = np.flatnonzero(copies)
        return tuple(zip(self.item_of_rank[ranks].tolist(), copies[ranks].tolist(), strict=True))

    def patterns(self, packings: NDArray[np.int64], kind: int = 0) -> LaidOutPatterns:
        """Return the patterns of packings, one per row, on a kind of roll."""
        flat = packings.ravel()
        pieces = flat.nonzero()[0]
        owners, ranks = np.divmod(pieces, packings.shape[1])
        starts = np.searchsorted(owners, np.arange(len(packings) + 1))
        return LaidOutPatterns(kind, starts, self.item_of_rank[ranks], flat[pieces])

    def arcs(self, column: Column) -> Mapping[Hashable, float]:
        """Return the arcs of a column's pattern as original variables, each with value 1."""
        return self.arcs_of(column.structure[1])

    def arcs_of(self, pattern: Pattern) -> Mapping[Hashable, float]:
        """Return the arcs of a pattern as original variables, each with value 1."""
        arcs = self._arcs.get(pattern)
        if arcs is None:
            arcs = self._arcs[pattern] = dict.fromkeys(self._lay_out(pattern), 1.0)
        return arcs

    def numbers(self, pattern: Pattern) -> NDArray[np.int64]:
        """Return the numbers of a pattern's arcs in :attr:`network`, -1 for pieces beyond the demand."""
        if pattern not in self._numbers:
            self._number([pattern])
        return self._numbers[pattern]

    def numbers_each(self, columns: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the concatenated arc numbers of a batch's patterns, and where each pattern starts."""
        last, numbers, starts = self._last
        if last is not columns:  # many decisions check the same batch
            patterns = [pattern for _, pattern in columns.structures]
            try:
                each = list(map(self._numbers.__getitem__, patterns))
            except KeyError:
                self._number([pattern for pattern in dict.fromkeys(patterns) if pattern not in self._numbers])
                each = list(map(self._numbers.__getitem__, patterns))
            numbers = np.concatenate(each) if each else np.zeros(0, dtype=np.int64)
            starts = np.cumsum([0, *map(len, each)])
            self._last = columns, numbers, starts
        return numbers, starts

    def _number(self, patterns: Sequence[Pattern]) -> None:
        """Compute and cache the arc numbers of new patterns."""
        if not patterns:
            return
        sizes = [len(pattern) for pattern in patterns]
        pieces = np.array(list(itertools.chain.from_iterable(patterns)), dtype=np.int64).reshape(-1, 2)
        owners, ranks = np.repeat(np.arange(len(patterns)), sizes), self.rank_of_item[pieces[:, 0]]
        order = np.lexsort((ranks, owners))
        copies = pieces[order, 1]
        owners, ranks = np.repeat(owners[order], copies), np.repeat(ranks[order], copies)
        starts = np.searchsorted(owners, np.arange(len(patterns) + 1))
        ends = np.cumsum(self.widths[ranks])
        before = np.concatenate(([0], ends))[starts[:-1]]  # total width of the earlier patterns
        numbers = self.network.arcs(ranks, ends - self.widths[ranks] - before[owners])
        self._numbers.update(zip(patterns, np.split(numbers, starts[1:-1]), strict=True))

    def _lay_out(self, pattern: Pattern) -> list[tuple[int, int]]:
        laid_out, position = [], 0
        for rank, copies in sorted((int(self.rank_of_item[item]), copies) for item, copies in pattern):
            for _ in range(copies):
                laid_out.append((rank, position))
                position += int(self.widths[rank])
        return laid_out


@dataclass(frozen=True, eq=False)
class PatternArcsForbidden(Decision):
    """No pattern may use an arc outside ``open_arcs``, a mask of the arcs of the layout's network.

    It is not exhaustive if reduced costs forbade the arcs: solutions no better than the incumbent may be lost.
    ``kind`` is the kind of roll that the decision applies to; None: all kinds.
    """

    layout: PatternLayout
    open_arcs: NDArray[np.bool_]
    exhaustive: bool = True
    kind: int | None = None

    def allows(self, column: Column) -> bool:
        kind, pattern = column.structure
        if self.kind not in (None, kind):
            return True
        numbers = self.layout.numbers(pattern)
        return bool((self.open_arcs[numbers] & (numbers >= 0)).all())

    def allows_each(self, columns: Columns) -> NDArray[np.bool_]:
        numbers, starts = self.layout.numbers_each(columns)
        closed = np.flatnonzero(~(self.open_arcs[numbers] & (numbers >= 0)))
        allowed = np.ones(len(columns), dtype=np.bool_)
        allowed[np.searchsorted(starts, closed, side="right") - 1] = False
        if self.kind is not None:
            allowed |= np.array([kind != self.kind for kind, _ in columns.structures], dtype=np.bool_)
        return allowed

    def __str__(self) -> str:
        return f"{plural(int((~self.open_arcs).sum()), 'arc')} forbidden"


@dataclass(frozen=True, eq=False)
class Full(Decision):
    """Every pattern fills its roll, because a better plan has no waste."""

    layout: PatternLayout
    exhaustive: bool = False

    def allows(self, column: Column) -> bool:
        width = self.layout.width_of_item
        return bool(sum(int(width[item]) * copies for item, copies in column.structure[1]) == self.layout.roll)

    def allows_each(self, columns: Columns) -> NDArray[np.bool_]:
        full: NDArray[np.bool_] = self.layout.filled_each(columns) == self.layout.roll
        return full

    def __str__(self) -> str:
        return "full rolls"

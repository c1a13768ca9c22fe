"""Decisions that restrict an oracle of paths to a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.column_batch import Columns, Mask
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.text import plural

Ints = NDArray[np.int64]
Sums = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class PathsListed(Decision):
    """An oracle generates listed paths only, since a better solution can be made of these.

    Columns are allowed if they visit the same vertices as a listed path.

    Attributes
    ----------
    number
        Index of the oracle.
    starts, arcs
        The paths: offsets, and the arcs of each path in order.
    oracles
        All oracles.
    """

    lists = True

    number: int
    starts: Ints = field(repr=False)
    arcs: Ints = field(repr=False)
    oracles: tuple[Any, ...] = field(repr=False)
    exhaustive: bool = False

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def oracle(self) -> Any:
        """The oracle, a :class:`colgen.pricing.labelling.PathOracle`."""
        return self.oracles[self.number]

    @cached_property
    def routes(self) -> Any:
        """A solver over the listed paths."""
        return self.oracle.solver.listed(self.starts, self.arcs)

    def allows(self, column: Column) -> bool:
        return bool(self._allow([column])[0])

    def allows_each(self, columns: Columns) -> Mask:
        return self._allow(columns)

    def _allow(self, columns: Sequence[Column]) -> Mask:
        visited = [self.oracle.visited(column) for column in columns]
        unknown = np.array([each is None for each in visited], dtype=np.bool_)
        sums = np.array([0 if each is None else self._values[each].sum() for each in visited], dtype=np.uint64)
        # np.isin would sort the sums of all paths again.
        first, last = (np.searchsorted(self._sums, sums, side) for side in ("left", "right"))
        return np.asarray(unknown | (first < last))

    @cached_property
    def _values(self) -> Sums:
        """A random number for each vertex; vertices that count as one have the same number."""
        classes = self.oracle.solver.rules.classes
        drawn = np.random.default_rng(0).integers(0, 1 << 63, int(classes.max()) + 1, dtype=np.uint64)
        return np.asarray(drawn[classes])

    @cached_property
    def _sums(self) -> Sums:
        """The sums of these numbers over the vertices of each path.

        Two sets with the same sum would only allow a column more, which loses no solution.
        """
        return np.unique(self.routes.visit_sums(self._values))

    def __str__(self) -> str:
        return f"{plural(len(self), 'path')} listed"

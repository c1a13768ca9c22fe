"""Rank-1 cuts over packing rows of any problem."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column, Key, Row
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.terms import Count
from colgen.cuts.cut import Cuts
from colgen.cuts.separation import Separation, SeparationContext
from colgen.solvers.cuts.rank_one import RankOneCuts, memories_needed, violated_rank_one

Ints = NDArray[np.int64]

_STEPS = 5
"""Number of rounds in which the objective must improve to continue at a node."""

_LIKELY_GAP = 0.02
"""Upper bound, relative to the objective, on the gap of which cuts must close a share."""


class RankOne(Separation):
    """Rank-1 cuts of three, four and five packing rows: subset rows and other multipliers.

    The rows are ``Σ_j a_ij x_j = b_i`` or ``≤ b_i`` over integer columns, with nonnegative integers a and b.  Other
    variables in them must not be negative.  Examples are set packing and partitioning, colouring, assignment and
    routing.  Every oracle must price :class:`colgen.core.terms.Count`.  A master without such rows raises an
    :class:`InputError` before the run.

    Parameters
    ----------
    rows, block
        The blocks of the packing rows and of the cuts.
    sizes
        Numbers of rows per cut.  Triples are enumerated, larger sets found by local search.
    order
        The components that a column visits, in order, as indices of the rows.  The cuts then get the smallest
        sufficient memory, which makes pricing easier.
    least
        Minimum violation.
    limit
        Maximum number of cuts per round.
    progress
        Separation at a node continues while five rounds close this share of the gap to the incumbent, or of 2% of the
        objective if the gap is larger. Negative: while any cut is violated.
    idle_after
        See :class:`colgen.core.columns.RowFamily`.
    sides
        Integer upper sides, by index of the row, that every improving solution satisfies.  They replace the rows' own
        sides, and cuts combine only these rows.

    Examples
    --------
    >>> class Teams(Problem):
    ...     def separation(self):
    ...         return [RankOne("person", limit=10)]
    """

    def __init__(
        self,
        rows: str,
        *,
        sizes: Sequence[int] = (3, 4, 5),
        order: Callable[[Column], Sequence[Hashable]] | None = None,
        least: float = 0.03,
        limit: int = 30,
        every: int = 1,
        progress: float = 0.01,
        block: str = "rank_one",
        idle_after: int | None = 10,
        sides: Mapping[Hashable, int] | None = None,
    ) -> None:
        if not sizes or not set(sizes) <= {3, 4, 5}:
            raise InputError(f"sizes: expected some of 3, 4 and 5, not {sizes!r}")
        self.rows, self.sizes, self.order = rows, tuple(sizes), order
        self.least, self.every, self.progress = least, every, progress
        self._most = limit
        self.family = Cuts(block, order=order, idle_after=idle_after)
        self._given = sides
        self._sides: dict[Hashable, int] = {}
        self._memories: dict[tuple[Hashable, ...], frozenset[Hashable]] = {}
        self._node, self._objectives = -1, list[float]()

    def suit(self, master: Any) -> None:
        sides = {} if master.rows is None else master.rows.packing_sides(self.rows)
        if not sides:
            raise InputError(f"RankOne({self.rows!r}): the master has no rows of this block")
        if self._given is not None:
            self._sides = dict(self._given)
            return
        for (_, index), side in sides.items():
            if side is None or side < 0 or side != math.floor(side):
                raise InputError(
                    f"RankOne({self.rows!r}): expected rows = b or ≤ b with an integer b and no negative terms, but "
                    f"row {index!r} has "
                    + ("no upper side" if side is None else f"the upper side {side:g}")
                    + " or negative terms"
                )
        self._sides = {index: int(side) for (_, index), side in sides.items()}

    def restated(self, key: Key) -> Row | None:
        term = key[1]
        if key[0] != self.family.block or not isinstance(term, Count) or term.block != self.rows:
            return None
        if any(member not in self._sides for member in (*term.members, *(term.memory or ()))):
            return None
        total = sum(weight * self._sides[member] for member, weight in zip(term.members, term.weights, strict=True))
        return self.family.cut(term, upper=float(total // term.divisor))

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        if context.whole or not self._continues(solution, context):
            return ()
        used = [(column, value) for column, value in solution.columns if value > 0.0]
        for column, _ in used:
            self._check(column)
        names = list(self._sides)
        number = {name: k for k, name in enumerate(names)}
        entries = [
            [
                (number[key[1]], round(a))
                for key, a in column.coefficients.items()
                if key[0] == self.rows and a and key[1] in number
            ]
            for column, _ in used
        ]
        starts = np.cumsum([0, *map(len, entries)])
        flat = np.array([pair for column in entries for pair in column], dtype=np.int64).reshape(-1, 2)
        values = np.array([value for _, value in used])
        found = violated_rank_one(
            starts,
            flat[:, 0],
            flat[:, 1],
            values,
            np.array([self._sides[name] for name in names], dtype=np.int64),
            sizes=self.sizes,
            least=self.least,
            limit=self._most,
        )
        found = RankOneCuts(
            found.members[: self._most],
            found.weights[: self._most],
            found.divisors[: self._most],
            found.sides[: self._most],
            found.violations[: self._most],
        )
        unlimited = self.order is None or any(decision.lists for decision in context.decisions)
        columns = [column for column, _ in used]
        limits = [None] * len(found.divisors) if unlimited else self._memory(found, columns, names)
        rows = []
        for k, memory in enumerate(limits):
            size = int((found.members[k] >= 0).sum())
            members = tuple(names[i] for i in found.members[k, :size].tolist())
            term = Count(self.rows, members, tuple(found.weights[k, :size].tolist()), int(found.divisors[k]), memory)
            rows.append(self.family.cut(term, upper=float(found.sides[k])))
        return rows

    def _continues(self, solution: Solution, context: SeparationContext) -> bool:
        """Return whether the last rounds at this node have improved its objective."""
        if context.node != self._node:
            self._node, self._objectives = context.node, []
        past = self._objectives
        past.append(solution.objective)
        if len(past) <= _STEPS:
            return True
        left = min(_LIKELY_GAP * abs(solution.objective), abs(context.incumbent - solution.objective))
        return abs(past[-1] - past[-1 - _STEPS]) > self.progress * left

    def _check(self, column: Column) -> None:
        if not column.integer or column.lower < 0.0:
            raise InputError(
                f"RankOne({self.rows!r}): expected integer columns with lower bounds of 0 or more, but the column of "
                f"{column.structure!r} is not one"
            )
        for key, a in column.coefficients.items():
            if key[0] == self.rows and key[1] in self._sides and (a < 0.0 or a != round(a)):
                raise InputError(
                    f"RankOne({self.rows!r}): expected integer coefficients of 0 or more in row {key[1]!r}, but the "
                    f"column of {column.structure!r} has {a:g}"
                )

    def _memory(
        self, found: RankOneCuts, columns: Sequence[Column], names: Sequence[Hashable]
    ) -> list[tuple[Hashable, ...]]:
        """Return the memory of each cut, including earlier rounds."""
        starts, visits = self.family.visits(columns, names)
        weights = np.zeros((len(found.divisors), len(names)), dtype=np.int64)
        for k in range(len(found.divisors)):
            size = int((found.members[k] >= 0).sum())
            weights[k, found.members[k, :size]] = found.weights[k, :size]
        needed = memories_needed(starts, visits, weights, found.divisors)
        memories: list[tuple[Hashable, ...]] = []
        for k in range(len(found.divisors)):
            which = (int(found.divisors[k]), weights[k].tobytes())
            mine = self._memories.get(which, frozenset()) | {names[i] for i in np.flatnonzero(needed[k]).tolist()}
            self._memories[which] = mine
            memories.append(tuple(name for name in names if name in mine))
        return memories

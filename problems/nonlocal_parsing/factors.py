"""Non-local factors: products of arcs with a score, stored as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.solvers.arrays import ArrayError, as_floats, as_integer, as_integers, as_offsets

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Arc = tuple[int, int]
"""Head and modifier; words are numbered from 1, the root is 0."""

_LARGEST = 1e24


@dataclass(frozen=True, eq=False)
class Factors:
    """Factors of one sentence: factor c adds ``scores[c]`` to each tree that has all of its arcs.

    Parameters
    ----------
    size
        Number of positions including the root.
    start
        Shape (factors + 1,). Factor c has the arcs ``arcs[start[c]:start[c + 1]]``, at least one, all different.
    arcs
        ``head * size + modifier`` of each arc.
    scores
        Shape (factors,), finite.

    Raises
    ------
    InputError
        If the arrays are invalid.
    """

    size: int
    start: Ints
    arcs: Ints
    scores: Floats

    def __post_init__(self) -> None:
        try:
            size = as_integer(self.size, "size", low=1, high=2**31)
            arcs = as_integers(self.arcs, "arcs of the factors", shape=("arcs",))
            scores = as_floats(self.scores, "scores of the factors", shape=("factors",))
            start = as_offsets(self.start, "starts of the factors", total=len(arcs))
        except ArrayError as error:
            raise InputError(str(error)) from None
        for name, value in (("size", size), ("start", start), ("arcs", arcs), ("scores", scores)):
            object.__setattr__(self, name, value)
        n, lengths = len(scores), np.diff(start)
        if len(lengths) != n:
            raise InputError(f"starts of the factors: expected {n + 1} for {n} factors, got {len(start)}")
        if (lengths < 1).any():
            raise InputError(f"factor {int(np.argmin(lengths))}: expected at least one arc, got none")
        if not (np.abs(self.scores) <= _LARGEST).all():
            bad = int(np.flatnonzero(~(np.abs(self.scores) <= _LARGEST))[0])
            raise InputError(f"factor {bad}: expected a finite score within ±{_LARGEST:g}, not {self.scores[bad]}")
        if not len(self.arcs):
            return
        heads, modifiers = self.arcs // self.size, self.arcs % self.size
        wrong = (self.arcs < 0) | (heads >= self.size) | (modifiers == 0) | (heads == modifiers)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"factor {self._factor_of(at)}: expected arcs between positions 0 to {self.size - 1} and not to "
                f"the root, got ({heads[at]}, {modifiers[at]})"
            )
        owner = np.repeat(np.arange(n), lengths)
        order = np.lexsort((self.arcs, owner))
        same = (np.diff(owner[order]) == 0) & (np.diff(self.arcs[order]) == 0)
        if same.any():
            raise InputError(f"factor {owner[order][:-1][same][0]} contains an arc twice")

    def _factor_of(self, position: int) -> int:
        return int(np.searchsorted(self.start, position, side="right")) - 1

    def __len__(self) -> int:
        """Return the number of factors."""
        return len(self.scores)

    def __iter__(self) -> Iterator[tuple[tuple[Arc, ...], float]]:
        """Yield the arcs and the score of each factor."""
        for c in range(len(self)):
            arcs = self.arcs[self.start[c] : self.start[c + 1]].tolist()
            yield tuple((arc // self.size, arc % self.size) for arc in arcs), float(self.scores[c])

    @staticmethod
    def of(size: int, factors: Iterable[tuple[Iterable[Arc], float]] = ()) -> Factors:
        """Return factors from arcs and scores, for a sentence with ``size`` positions."""
        start: list[int] = [0]
        arcs: list[int] = []
        scores: list[float] = []
        for members, score in factors:
            for h, m in members:
                if not (0 <= h < size and 0 < m < size):
                    raise InputError(
                        f"factor {len(scores)}: arc ({h}, {m}) is outside {size} positions or leads to the root"
                    )
                arcs.append(h * size + m)
            start.append(len(arcs))
            scores.append(score)
        return Factors(size, np.array(start), np.array(arcs, dtype=np.int64), np.array(scores, dtype=np.float64))

    @staticmethod
    def from_rows(size: int, several: Sequence[tuple[Ints, Floats]]) -> Factors:
        """Return the factors of several groups, in each of which all factors have the same number r of arcs.

        A group is an array of arcs, shape (factors, r), and one of scores. Only the scores are checked.
        """
        lengths = [np.full(len(arcs), arcs.shape[1]) for arcs, _ in several]
        start = np.concatenate([[0], np.cumsum(np.concatenate([*lengths, np.empty(0, np.int64)]))]).astype(np.int64)
        scores = np.concatenate([*(scores for _, scores in several), np.empty(0)])
        if not (np.abs(scores) <= _LARGEST).all():
            raise InputError(f"expected finite scores of factors within ±{_LARGEST:g}")
        made = object.__new__(Factors)
        arcs = np.concatenate([*(arcs.ravel() for arcs, _ in several), np.empty(0, np.int64)])
        for name, value in (("size", size), ("start", start), ("arcs", arcs), ("scores", scores)):
            object.__setattr__(made, name, value)
        return made


# --- polynomials -----------------------------------------------------------------------------------------------------


def either(first: Arc, second: Arc, score: float) -> list[tuple[tuple[Arc, ...], float]]:
    """Return factors that score a tree with at least one of two arcs: z + z' - z z'."""
    if first == second:
        return [((first,), score)]
    return [((first,), score), ((second,), score), ((first, second), -score)]


def valency(arcs: Sequence[Arc], count: int, score: float) -> tuple[list[tuple[tuple[Arc, ...], float]], float]:
    """Return factors that score a tree with exactly ``count`` of the arcs, and a constant to add.

    The indicator of k among d variables is Σ_{j≥k} (-1)^{j-k} C(j, k) e_j, where e_j is the sum of all products of j
    variables (e_0 = 1). It uses all subsets of at least k arcs, so the list of arcs should be short. Products of two
    arcs to the same modifier are omitted, because they exclude each other.
    """
    from itertools import combinations
    from math import comb

    factors: list[tuple[tuple[Arc, ...], float]] = []
    for j in range(max(count, 1), len(arcs) + 1):
        share = score * (-1) ** (j - count) * comb(j, count)
        factors += [
            (subset, share) for subset in combinations(arcs, j) if len({modifier for _, modifier in subset}) == j
        ]
    return factors, score if count == 0 else 0.0

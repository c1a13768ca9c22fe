"""Parallel execution of independent pieces of work within a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

Piece = TypeVar("Piece")
Outcome = TypeVar("Outcome")


class Workers(Protocol):
    """Runs pieces of work, ``count`` at once, and returns their outcomes in order, for any number of workers."""

    count: int

    def each(self, work: Callable[[Piece], Outcome], pieces: Sequence[Piece]) -> list[Outcome]:
        """Return the outcome of each piece; if several raise, the error of the first piece is raised.

        Pieces must not share mutable data; then the outcome is the same for any number of workers.
        """
        ...


class SerialWorkers(Workers):
    """Runs all pieces in the calling thread, one after the other."""

    count = 1

    def each(self, work: Callable[[Piece], Outcome], pieces: Sequence[Piece]) -> list[Outcome]:
        return [work(piece) for piece in pieces]


SERIAL = SerialWorkers()


def shares(number: int, count: int) -> list[slice]:
    """Split a number of items into consecutive slices of nearly equal size, at most one per worker, none empty.

    Examples
    --------
    >>> shares(5, 2)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    count = min(count, number)
    ends = [-(-number * k // count) for k in range(count + 1)] if count else [0]
    return [slice(first, last) for first, last in pairwise(ends)]

"""Who does several pieces of work at once: what a part of a run may ask for, and whoever does them one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

Piece = TypeVar("Piece")
Outcome = TypeVar("Outcome")


class Workers(Protocol):
    """Does pieces of work, and returns what they bring in the order of the pieces: who did them cannot be seen.

    Attributes
    ----------
    count
        How many pieces are worked on at once.
    """

    count: int

    def each(self, work: Callable[[Piece], Outcome], pieces: Sequence[Piece]) -> list[Outcome]:
        """What the work brings of each piece; of errors, that of the first piece which has one is raised.

        Pieces share nothing that they change: then the outcome is the same for any number of workers.
        """
        ...


class Alone(Workers):
    """Whoever has called does all pieces, one after the other."""

    count = 1

    def each(self, work: Callable[[Piece], Outcome], pieces: Sequence[Piece]) -> list[Outcome]:
        return [work(piece) for piece in pieces]


ALONE = Alone()


def shares(number: int, count: int) -> list[slice]:
    """So many things in consecutive shares, as equal as they can be: one a worker, none of them empty.

    Examples
    --------
    >>> shares(5, 2)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    count = min(count, number)
    ends = [-(-number * k // count) for k in range(count + 1)] if count else [0]
    return [slice(first, last) for first, last in pairwise(ends)]

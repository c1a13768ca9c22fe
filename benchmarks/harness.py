"""The harness of all benchmarks: what a benchmark is asked for, and shares of its instances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class BenchOptions:
    """What ``colgen bench`` was asked for.

    Attributes
    ----------
    data
        Folder of the corpora, if one was given.
    quick
        Only the smallest instances, to see that the benchmark runs.
    say
        Called with a line of text as the benchmark goes on.
    plot
        The file to draw the benchmark's picture to, if one was asked for and the benchmark draws any.
    minutes
        About how long to measure; None: as long as it takes.  See :meth:`share`.
    seed
        Of a benchmark that draws its instances at random.
    """

    data: Path | None = None
    quick: bool = False
    say: Callable[[str], None] = print
    plot: Path | None = None
    minutes: float | None = None
    seed: int = 0

    def share(self, usual: float) -> float:
        """How much of a benchmark to measure that takes so many minutes whole, and say so where it is cut short.

        A cut benchmark takes fewer instances, evenly spread over all (:func:`spread`); the ``n`` of each figure says of
        how many it speaks.  Training is not cut.
        """
        if self.minutes is None or self.minutes >= usual:
            return 1.0
        share = max(self.minutes / usual, 0.01)
        self.say(f"cut short to {share:.0%} of the instances (whole, it takes about {usual:g} minutes)")
        return share


def spread(items: Sequence[T], share: float) -> list[T]:
    """A share of some items, evenly spread over their order; at least one of them."""
    count = min(len(items), max(1, round(share * len(items))))
    return [items[k * len(items) // count] for k in range(count)]

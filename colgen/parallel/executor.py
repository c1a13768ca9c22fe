"""Independent pieces of seeded work on all cores, with the same outcome on any number of them.

The workers are threads: kernels that release the global interpreter lock (numba's ``nogil``, most of numpy) run side by
side on one instance, where processes would have to start, to import, and to be sent a copy of it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError

Seeds = NDArray[np.uint64]
R = TypeVar("R")

_PIECES_A_WORKER = 4
"""So that a worker that was held up holds the others up little."""


class Executor:
    """Hands out seeded work to threads.

    Parameters
    ----------
    workers
        Threads at once; by default one for each processor that the process may use.

    Examples
    --------
    >>> draw = lambda seeds: [float(np.random.default_rng(seed).random()) for seed in seeds]
    >>> one, two = ([x for xs in Executor(n).map(draw, seeds_from(7, 5)) for x in xs] for n in (1, 2))
    >>> one == two
    True
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"expected one worker or more, not {workers}")
        self.workers = workers or usable_processors()

    def map(self, work: Callable[[Seeds], R], seeds: Seeds, *, piece: int | None = None) -> Iterator[R]:
        """Results of ``work`` on consecutive pieces of ``seeds``, in their order, as they become ready.

        What is random in the work must come from the seeds alone, and each seed's share of a result must not depend on
        the other seeds of its piece; then the results, put together, are the same for any number of workers.  If the
        caller stops listening, or is interrupted, what has not begun is not begun any more.

        Parameters
        ----------
        piece
            Seeds in a piece; by default so many that every worker gets several pieces.
        """
        if piece is not None and piece < 1:
            raise InputError(f"expected one seed or more in a piece, not {piece}")
        size = piece or max(1, -(-len(seeds) // (_PIECES_A_WORKER * self.workers)))
        pieces = [seeds[k : k + size] for k in range(0, len(seeds), size)]
        if self.workers == 1 or len(pieces) <= 1:
            yield from map(work, pieces)
            return
        with ThreadPoolExecutor(min(self.workers, len(pieces))) as pool:
            waiting: deque[Future[R]] = deque(pool.submit(work, one) for one in pieces)
            try:
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


def seeds_from(seed: int, count: int, first: int = 0) -> Seeds:
    """Seeds number ``first`` to ``first + count - 1`` of the sequence that one seed begins.

    A counter, spread over 64 bits: generators of good quality make independent streams of such seeds.

    Parameters
    ----------
    seed
        Zero or more.
    """
    if seed < 0 or count < 0 or first < 0:
        raise InputError(f"expected a seed and counts of zero or more, not {seed}, {count} and {first}")
    origin = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return origin + np.arange(first, first + count, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)


def usable_processors() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1

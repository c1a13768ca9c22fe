"""Independent seeded tasks on all cores, with the same results for any number of workers.

The workers are threads. Kernels that release the global interpreter lock (numba's ``nogil``, most of numpy) run in
parallel on one instance. Processes would first have to start, import and receive a copy of it.
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

_PIECES_PER_WORKER = 4
"""Several pieces per worker even out their run times."""


class Executor:
    """Runs seeded tasks in threads.

    Parameters
    ----------
    workers
        Number of threads. By default one for each usable processor.

    Examples
    --------
    >>> draw = lambda seeds: [float(np.random.default_rng(seed).random()) for seed in seeds]
    >>> one, two = ([x for xs in Executor(n).map(draw, seeds_from(7, 5)) for x in xs] for n in (1, 2))
    >>> one == two
    True
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"workers: expected at least 1, not {workers}")
        self.workers = workers or usable_processors()

    def map(self, work: Callable[[Seeds], R], seeds: Seeds, *, piece: int | None = None) -> Iterator[R]:
        """Yield the results of ``work`` on consecutive pieces of ``seeds``, in order, as they become ready.

        All randomness in ``work`` must come from the seeds, and the result for one seed must not depend on others of
        its piece. Then the concatenated results are the same for any number of workers. If the caller stops iterating
        or is interrupted, pending pieces are cancelled.

        Parameters
        ----------
        piece
            Seeds per piece. By default such that every worker gets several pieces.
        """
        if piece is not None and piece < 1:
            raise InputError(f"piece: expected at least 1 seed, not {piece}")
        size = piece or max(1, -(-len(seeds) // (_PIECES_PER_WORKER * self.workers)))
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
    """Return seeds ``first`` to ``first + count - 1`` of the sequence defined by one nonnegative seed.

    The seeds are a counter spread over 64 bits, from which good generators make independent streams.
    """
    if seed < 0 or count < 0 or first < 0:
        raise InputError(f"expected a nonnegative seed, count and first number, not {seed}, {count} and {first}")
    origin = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    return origin + np.arange(first, first + count, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)


def usable_processors() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1

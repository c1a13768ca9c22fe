"""Threads within one run, for kernels and linear programs, which release the interpreter lock."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from colgen.core.workers import Workers
from colgen.solvers.work import add_work
from colgen.solvers.work import work as work_done

Piece = TypeVar("Piece")
Outcome = TypeVar("Outcome")

_HERE = threading.local()
"""True while this thread works on a piece. It then runs nested pieces itself."""

_SWITCH_INTERVAL = 5e-4
"""Seconds between switches of Python threads: 10 times shorter than by default, because a piece of pricing takes
milliseconds."""


class Threads(Workers):
    """The calling thread and ``count - 1`` helper threads, started on first use and ended with the ``with`` block."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._pool is not None:
            # After an interrupt, do not wait for running pieces.
            self._pool.shutdown(wait=raised[0] is None, cancel_futures=True)
            self._pool = None

    def each(self, work: Callable[[Piece], Outcome], pieces: Sequence[Piece]) -> list[Outcome]:
        helpers = min(self.count, len(pieces)) - 1
        if helpers < 1 or getattr(_HERE, "working", False):
            return [work(piece) for piece in pieces]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.count - 1, "colgen-worker")
        job = _Job(work, pieces)
        with _short_turns():
            helping = [self._pool.submit(job.count_help) for _ in range(helpers)]
            try:
                job.help()
                _wait_for(helping)
            finally:
                job.is_over = True
        add_work(sum(job.elsewhere))
        return job.results()


class _Job:
    """Pieces of work that free threads take one after the other."""

    def __init__(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> None:
        self._work, self._pieces = work, pieces
        self._next = itertools.count()
        self._results: list[Any] = [None] * len(pieces)
        self._errors: dict[int, Exception] = {}
        self.elsewhere: list[int] = []
        """Work of each helper."""
        self.is_over = False

    def help(self) -> None:
        """Process pieces until none is left or one has failed."""
        _HERE.working = True
        try:
            while not self.is_over:
                number = next(self._next)  # atomic: no two threads get the same number
                if number >= len(self._pieces):
                    return
                try:
                    self._results[number] = self._work(self._pieces[number])
                except Exception as error:
                    self._errors[number] = error
                    self.is_over = True  # all earlier pieces have started, and will finish
        finally:
            _HERE.working = False

    def count_help(self) -> None:
        """Process pieces in a helper, whose work belongs to the calling thread."""
        began = work_done()
        try:
            self.help()
        finally:
            self.elsewhere.append(work_done() - began)

    def results(self) -> list[Any]:
        """Return the results in the order of the pieces, or raise the first error."""
        if self._errors:
            raise self._errors[min(self._errors)]
        return self._results


def _wait_for(helping: Sequence[Future[None]]) -> None:
    """Cancel helpers that have not started, and wait for the others."""
    begun = [future for future in helping if not future.cancel()]
    wait(begun)
    for future in begun:
        future.result()


@contextmanager
def _short_turns() -> Iterator[None]:
    """Shorten the switch interval of Python threads."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(min(usual, _SWITCH_INTERVAL))
    try:
        yield
    finally:
        sys.setswitchinterval(usual)

"""Threads side by side in one run: at kernels and linear programs, which let go of the interpreter's lock."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from colgen.core.workers import Workers

Piece = TypeVar("Piece")
Outcome = TypeVar("Outcome")

_HERE = threading.local()
"""Whether the thread that asks is at work on a piece itself: it then does the pieces of that one alone."""

_TURN = 5e-4
"""Seconds after which a thread that computes in Python lets another one have the interpreter, which has come back from
a kernel: ten times as soon as usual, for a piece of pricing takes a few milliseconds."""


class Threads(Workers):
    """Whoever calls, and so many threads that each piece can be done beside the others.

    Threads are started when they are first needed, and end with the ``with`` block.

    Parameters
    ----------
    count
        Pieces at once: one thread less, for the caller works as well.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._pool is not None:
            # After an interrupt nobody waits for a piece that somebody is still at.
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
            helping = [self._pool.submit(job.help) for _ in range(helpers)]
            try:
                job.help()
                _finished(helping)
            finally:
                job.is_over = True
        return job.results()


class _Job:
    """Pieces of work that are taken one after the other by whoever is free."""

    def __init__(self, work: Callable[[Any], Any], pieces: Sequence[Any]) -> None:
        self._work, self._pieces = work, pieces
        self._next = itertools.count()
        self._results: list[Any] = [None] * len(pieces)
        self._errors: dict[int, Exception] = {}
        self.is_over = False

    def help(self) -> None:
        """Take piece after piece, until there is none left or one has failed."""
        _HERE.working = True
        try:
            while not self.is_over:
                number = next(self._next)  # one step of the interpreter: no two threads get the same
                if number >= len(self._pieces):
                    return
                try:
                    self._results[number] = self._work(self._pieces[number])
                except Exception as error:
                    self._errors[number] = error
                    self.is_over = True  # those before it have been begun, and are finished
        finally:
            _HERE.working = False

    def results(self) -> list[Any]:
        """In the order of the pieces."""
        if self._errors:
            raise self._errors[min(self._errors)]
        return self._results


def _finished(helping: Sequence[Future[None]]) -> None:
    """Wait for those who help; whoever has not begun yet is not needed any more."""
    begun = [future for future in helping if not future.cancel()]
    wait(begun)
    for future in begun:
        future.result()


@contextmanager
def _short_turns() -> Iterator[None]:
    """Let threads take shorter turns at the interpreter inside."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(min(usual, _TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(usual)

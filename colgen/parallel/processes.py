"""Processes of this machine as a cluster."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, wait
from typing import Any

from colgen.parallel.cluster import Cluster


class Processes(Cluster):
    """So many processes, each of which imports what the work needs.  A script calls this below its ``__main__`` guard.

    When one of them ends, the standard library ends all, with all that had been sent: new ones take their place.

    Parameters
    ----------
    count
        Tasks at once.
    """

    isolates = False

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: ProcessPoolExecutor | None = None

    @property
    def count(self) -> int:
        return self._count

    def submit(self, work: Callable[[Any], Any], piece: Any) -> Future[Any]:
        try:
            return self._processes().submit(work, piece)
        except BrokenExecutor:
            self.close()
            return self._processes().submit(work, piece)

    def as_completed(self, tasks: Collection[Any], seconds: float) -> Collection[Any]:
        return wait(tasks, seconds, FIRST_COMPLETED).done

    def result(self, task: Any) -> Any:
        return task.result()

    def cancel(self, tasks: Collection[Any]) -> None:
        called_off = [task.cancel() for task in tasks]
        if not all(called_off):
            self._end()  # nobody else can stop one that has begun

    def is_lost(self, error: BaseException) -> bool:
        return isinstance(error, (BrokenExecutor, CancelledError))

    def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _processes(self) -> ProcessPoolExecutor:
        if self._pool is None:  # a fork of a process with threads may never get a lock that one of them holds
            self._pool = ProcessPoolExecutor(self._count, multiprocessing.get_context("spawn"))
        return self._pool

    def _end(self) -> None:
        """End the processes in the middle of what they do."""
        pool = self._pool
        processes = list((getattr(pool, "_processes", None) or {}).values())
        self.close()
        for process in processes:
            process.kill()

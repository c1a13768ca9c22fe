"""Clusters: the protocol that the engine uses, local processes, and Dask."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import time
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, wait
from typing import Any, Protocol, TypeAlias

from colgen.core.errors import ColgenError, InputError
from colgen.parallel.executor import usable_processors

Task: TypeAlias = Any
"""A submitted task: a future of the standard library or of Dask."""


class StillPending(Exception):  # noqa: N818  (a state, not an error)
    """The result of a finished task was lost with its worker. The task runs again."""


class Cluster(Protocol):
    """Processes that run tasks, on this machine or on others.

    A task runs again if its worker is lost, so its only effect must be its return value. Functions, arguments and
    results are pickled.

    Attributes
    ----------
    isolates
        Whether the loss of a worker affects only its own tasks.
    """

    isolates: bool

    @property
    def count(self) -> int:
        """The number of tasks that can run at once now."""
        ...

    def submit(self, work: Callable[[Any], Any], piece: Any) -> Task:
        """Submit a task; tasks start in the order of submission."""
        ...

    def as_completed(self, tasks: Collection[Task], seconds: float) -> Collection[Task]:
        """Return the finished tasks; wait up to ``seconds`` for the first."""
        ...

    def result(self, task: Task) -> Any:
        """Return the result of a finished task or raise its exception. Raise ``StillPending`` if it was lost."""
        ...

    def cancel(self, tasks: Collection[Task]) -> None:
        """Cancel tasks; running ones may continue, and their results are dropped."""
        ...

    def is_lost(self, error: BaseException) -> bool:
        """Return whether an exception means that the worker was lost, not that the task failed."""
        ...

    def close(self) -> None:
        """Release the workers."""
        ...


class Processes(Cluster):
    """Local worker processes, each of which imports the modules it needs.

    Scripts must use this below an ``if __name__ == "__main__":`` guard. If one process ends, the standard library ends
    all of them with their tasks. They are then replaced.
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
        cancelled = [task.cancel() for task in tasks]
        if not all(cancelled):
            self._kill()  # a running task cannot be cancelled otherwise

    def is_lost(self, error: BaseException) -> bool:
        return isinstance(error, (BrokenExecutor, CancelledError))

    def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)

    def _processes(self) -> ProcessPoolExecutor:
        if self._pool is None:  # a forked child could wait forever for a lock that a thread held
            self._pool = ProcessPoolExecutor(self._count, multiprocessing.get_context("spawn"))
        return self._pool

    def _kill(self) -> None:
        """Kill the processes, whatever they are doing."""
        pool = self._pool
        processes = list((getattr(pool, "_processes", None) or {}).values())
        self.close()
        for process in processes:
            process.kill()


LOCAL = "local"
"""The address that starts a scheduler and workers on this machine."""

_FETCH_SECONDS = 2.0
"""Time limit for fetching a result from its worker."""

_RESTORE_INTERVAL = 1.0
"""Seconds between two checks that a local cluster has all its workers."""

_RECONNECT_INTERVAL = 0.05
"""Seconds between two checks that the scheduler is reachable again."""

_INSTALL = "pip install 'colgen[distributed]'"


class DaskCluster(Cluster):
    """The workers of a Dask scheduler. ``client`` is a ``distributed.Client`` that the caller closes."""

    isolates = False  # Dask also blames a task that was only waiting on the lost worker

    def __init__(self, client: Any) -> None:
        self.client = client
        self._close: list[Callable[[], object]] = []
        self._restore: Callable[[], object] | None = None
        self._wanted, self._last_check = 0, 0.0

    @classmethod
    def at(cls, address: str, count: int | None = None) -> DaskCluster:
        """Connect to the scheduler at ``tcp://host:8786``, or start a ``local`` one with ``count`` processes.

        Raises
        ------
        InputError
            If Dask is not installed or the address does not respond.
        """
        distributed = dask_distributed()
        if address == LOCAL:
            here = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            )
            cluster = cls(distributed.Client(here))
            cluster._close = [cluster.client.close, here.close]
            cluster._wanted = len(here.worker_spec)
            cluster._restore = lambda: here.scale(cluster._wanted)
            return cluster
        try:
            client = distributed.Client(address, timeout=10)
        except (OSError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"cluster: expected the address of a Dask scheduler, not {address!r}: {reason}") from None
        cluster = cls(client)
        cluster._close = [client.close]
        return cluster

    @property
    def count(self) -> int:
        return sum(self.client.nthreads().values())

    def submit(self, work: Callable[[Any], Any], piece: Any) -> Any:
        self._reconnect(math.inf)
        return self.client.submit(work, piece, pure=False)

    def as_completed(self, tasks: Collection[Any], seconds: float) -> Collection[Any]:
        distributed = dask_distributed()
        if not self._reconnect(seconds):
            return []
        self._restore_workers()
        with contextlib.suppress(TimeoutError, CancelledError, ValueError):  # tasks cancelled or scheduler lost
            distributed.wait(list(tasks), timeout=seconds, return_when="FIRST_COMPLETED")
        # A lost scheduler cancels its tasks; their workers are not to blame.
        return [task for task in tasks if task.status != "pending"] if self.client.status == "running" else []

    def result(self, task: Any) -> Any:
        if task.status != "finished":
            return task.result()  # raises the exception at once
        try:
            return task.result(timeout=_FETCH_SECONDS)
        except TimeoutError:
            raise StillPending from None

    def cancel(self, tasks: Collection[Any]) -> None:
        if self.client.status == "running":  # a lost scheduler runs no tasks
            self.client.cancel(list(tasks))

    def is_lost(self, error: BaseException) -> bool:
        distributed = dask_distributed()
        return isinstance(error, (distributed.KilledWorker, CancelledError))

    def _reconnect(self, seconds: float) -> bool:
        """Return whether the scheduler is reachable in time. Raise a ``ColgenError`` when Dask has stopped trying."""
        until = time.monotonic() + seconds
        while self.client.status != "running":
            if self.client.status != "connecting":
                raise ColgenError("the scheduler of the cluster is gone: restart it and resume from a checkpoint")
            if time.monotonic() > until:
                return False
            time.sleep(_RECONNECT_INTERVAL)
        return True

    def _restore_workers(self) -> None:
        """Replace lost workers of a local cluster. Dask gives up restarting them after frequent losses."""
        now = time.monotonic()
        if self._restore is not None and now - self._last_check > _RESTORE_INTERVAL:
            self._last_check = now
            if self.count < self._wanted:
                self._restore()

    def close(self) -> None:
        for close in self._close:
            close()


def dask_distributed() -> Any:
    """Import Dask's ``distributed``, or raise an ``InputError`` if it is not installed."""
    try:
        import distributed
    except ImportError:
        raise InputError(f"a cluster needs Dask: {_INSTALL}") from None
    return distributed


def is_client(value: object) -> bool:
    """Return whether a value is a Dask client, without importing Dask."""
    return type(value).__module__.partition(".")[0] == "distributed" and hasattr(value, "submit")


PROCESSES = "processes"
"""The address that stands for local processes without Dask."""

_NAMES = ("submit", "as_completed", "result", "cancel", "is_lost", "count", "isolates", "close")
"""The members that a :class:`Cluster` must have."""


def open_cluster(client: Any, workers: int | None = None) -> tuple[Cluster, bool]:
    """Return the cluster for a client, an address or None, and whether the caller must close it.

    An invalid argument, or an address that does not respond, is an ``InputError``.
    """
    check_client(client)
    if client is None or client == PROCESSES:
        return Processes(workers or usable_processors()), True
    if isinstance(client, str):
        return DaskCluster.at(client, workers), True
    if is_client(client):
        return DaskCluster(client), False
    cluster: Cluster = client
    return cluster, False


def check_client(client: Any) -> None:
    """Raise an ``InputError`` for a value that is no cluster. Does not connect to an address."""
    if client is None or (isinstance(client, str) and client) or is_client(client):
        return
    if not all(hasattr(client, name) for name in _NAMES) or isinstance(client, type):
        kind = repr(client) if isinstance(client, (int, float, str)) else f"a {type(client).__name__}"
        raise InputError(f"cluster: expected a client of Dask, an address or a Cluster, not {kind}")

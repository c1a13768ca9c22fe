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
"""What has been sent: a future, of the standard library or of Dask."""


class StillPending(Exception):  # noqa: N818  (no error: what a task is)
    """A task that had ended has to be done again: the worker that kept its outcome is gone."""


class Cluster(Protocol):
    """Processes that do tasks, here or on other machines.

    A task may be done twice, by a worker that is lost with its answer and by the next one: it changes nothing but what
    it returns.  Work, pieces and outcomes travel by ``pickle``.

    Attributes
    ----------
    isolates
        Whether a worker that ends takes no more with it than its own tasks.
    """

    isolates: bool

    @property
    def count(self) -> int:
        """Tasks that can be worked on at once, now."""
        ...

    def submit(self, work: Callable[[Any], Any], piece: Any) -> Task:
        """Send a task; whoever is free begins with those that were sent first."""
        ...

    def as_completed(self, tasks: Collection[Task], seconds: float) -> Collection[Task]:
        """Those of the tasks that have ended, one at least unless there is none within so many seconds."""
        ...

    def result(self, task: Task) -> Any:
        """What the work of a task that has ended has brought, or whatever ended it as an exception.

        Raises
        ------
        StillPending
            If the outcome cannot be had now; the task is among those to wait for again.
        """
        ...

    def cancel(self, tasks: Collection[Task]) -> None:
        """Call tasks off: what has begun may go on, and nobody wants its outcome."""
        ...

    def is_lost(self, error: BaseException) -> bool:
        """Whether what ended a task says that its worker is gone, and not that the work failed."""
        ...

    def close(self) -> None:
        """Let go of the workers."""
        ...


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


LOCAL = "local"
"""Instead of an address: a scheduler and workers of this machine."""

_FETCHING = 2.0
"""Seconds for an outcome to come from its worker: after these, whether it is still there is asked again."""

_RESTORING = 1.0
"""Seconds between two looks at whether a local cluster has the workers that were asked for."""

_LOOKING = 0.05
"""Seconds between two looks at whether a scheduler is there again."""

_INSTALL = "pip install 'colgen[distributed]'"


class DaskCluster(Cluster):
    """The workers of a Dask scheduler.

    Parameters
    ----------
    client
        A ``distributed.Client``; whoever has made it closes it.
    """

    isolates = False  # a task that waits on a worker can end with it, and Dask blames that one as well

    def __init__(self, client: Any) -> None:
        self.client = client
        self._close: list[Callable[[], object]] = []
        self._restore: Callable[[], object] | None = None
        self._wanted, self._looked = 0, 0.0

    @classmethod
    def at(cls, address: str, count: int | None = None) -> DaskCluster:
        """Connect to a scheduler, ``tcp://host:8786``; or begin one here, ``local``, of so many processes.

        Raises
        ------
        InputError
            If Dask is not installed, or nobody answers.
        """
        distributed = dask_distributed()
        if address == LOCAL:
            here = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            )
            found = cls(distributed.Client(here))
            found._close = [found.client.close, here.close]
            found._wanted = len(here.worker_spec)
            found._restore = lambda: here.scale(found._wanted)
            return found
        try:
            client = distributed.Client(address, timeout=10)
        except (OSError, ValueError) as error:
            said = str(error).partition("\n")[0]
            raise InputError(f"cluster: expected the address of a Dask scheduler, not {address!r}: {said}") from None
        found = cls(client)
        found._close = [client.close]
        return found

    @property
    def count(self) -> int:
        return sum(self.client.nthreads().values())

    def submit(self, work: Callable[[Any], Any], piece: Any) -> Any:
        self._reached(math.inf)
        return self.client.submit(work, piece, pure=False)

    def as_completed(self, tasks: Collection[Any], seconds: float) -> Collection[Any]:
        distributed = dask_distributed()
        if not self._reached(seconds):
            return []
        self._look_after_workers()
        with contextlib.suppress(TimeoutError, CancelledError, ValueError):  # called off, or no scheduler
            distributed.wait(list(tasks), timeout=seconds, return_when="FIRST_COMPLETED")
        # Tasks of a scheduler that has gone are called off, which says nothing against their workers.
        return [task for task in tasks if task.status != "pending"] if self.client.status == "running" else []

    def result(self, task: Any) -> Any:
        if task.status != "finished":
            return task.result()  # what ended it is here
        try:
            return task.result(timeout=_FETCHING)
        except TimeoutError:
            raise StillPending from None

    def cancel(self, tasks: Collection[Any]) -> None:
        if self.client.status == "running":  # nobody is at tasks of a scheduler that has gone
            self.client.cancel(list(tasks))

    def is_lost(self, error: BaseException) -> bool:
        distributed = dask_distributed()
        return isinstance(error, (distributed.KilledWorker, CancelledError))

    def _reached(self, seconds: float) -> bool:
        """Whether there is a scheduler within so many seconds: Dask looks for one that has gone for a while.

        Raises
        ------
        ColgenError
            If it has given up.
        """
        until = time.monotonic() + seconds
        while self.client.status != "running":
            if self.client.status != "connecting":
                raise ColgenError("the scheduler of the cluster is gone: begin it again, and go on from a checkpoint")
            if time.monotonic() > until:
                return False
            time.sleep(_LOOKING)
        return True

    def _look_after_workers(self) -> None:
        """Bring back workers of a local cluster: where they die often, what restarts them gives up after a while."""
        now = time.monotonic()
        if self._restore is not None and now - self._looked > _RESTORING:
            self._looked = now
            if self.count < self._wanted:
                self._restore()

    def close(self) -> None:
        for close in self._close:
            close()


def dask_distributed() -> Any:
    """Dask's library of clusters.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        import distributed
    except ImportError:
        raise InputError(f"a cluster needs Dask: {_INSTALL}") from None
    return distributed


def is_client(value: object) -> bool:
    """Whether something is a client of Dask's, which is not imported to find out."""
    return type(value).__module__.partition(".")[0] == "distributed" and hasattr(value, "submit")


PROCESSES = "processes"
"""Instead of an address: processes of this machine, without Dask."""

_NAMES = ("submit", "as_completed", "result", "cancel", "is_lost", "count", "isolates", "close")
"""What makes something a :class:`Cluster`."""


def cluster_of(client: Any, workers: int | None = None) -> tuple[Cluster, bool]:
    """The cluster that is meant, and whether it is made for it, so that whoever asks closes it.

    Raises
    ------
    InputError
        If none is, or nobody answers at an address.
    """
    check_client(client)
    if client is None or client == PROCESSES:
        return Processes(workers or usable_processors()), True
    if isinstance(client, str):
        return DaskCluster.at(client, workers), True
    if is_client(client):
        return DaskCluster(client), False
    found: Cluster = client
    return found, False


def check_client(client: Any) -> None:
    """Refuse what stands for no cluster; nobody is asked yet whether there is somebody at an address."""
    if client is None or (isinstance(client, str) and client) or is_client(client):
        return
    if not all(hasattr(client, name) for name in _NAMES) or isinstance(client, type):
        kind = repr(client) if isinstance(client, (int, float, str)) else f"a {type(client).__name__}"
        raise InputError(f"cluster: expected a client of Dask, an address or a Cluster, not {kind}")

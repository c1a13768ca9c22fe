"""Dask as a cluster: a scheduler's address, or processes of this machine."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Collection
from concurrent.futures import CancelledError
from typing import Any

from colgen.core.errors import ColgenError, InputError
from colgen.parallel.cluster import Cluster, StillPending

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

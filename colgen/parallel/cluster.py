"""A cluster as the engine sees it: tasks are sent, ended and called off.  Dask stands behind it, or MPI, or Ray."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol, TypeAlias

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

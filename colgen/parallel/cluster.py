"""A cluster as the engine sees it: tasks are sent, ended and called off.  Dask stands behind it, or MPI, or Ray."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Protocol


class Task(Protocol):
    """What has been sent: a future, of the standard library or of Dask."""

    def result(self) -> Any:
        """What the work has brought, or whatever ended it as an exception."""
        ...


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

    def cancel(self, tasks: Collection[Task]) -> None:
        """Call tasks off: what has begun may go on, and nobody wants its outcome."""
        ...

    def is_lost(self, error: BaseException) -> bool:
        """Whether what ended a task says that its worker is gone, and not that the work failed."""
        ...

    def close(self) -> None:
        """Let go of the workers."""
        ...

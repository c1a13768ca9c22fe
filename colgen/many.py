"""Many instances: solved by many processes, here or on a cluster, and told in their order."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from colgen.core.errors import ColgenError, InputError
from colgen.core.numbers import whole
from colgen.core.result import Result
from colgen.core.stop import AnyOf
from colgen.parallel.clusters import cluster_of
from colgen.parallel.streams import Done, Stream
from colgen.problem import Problem
from colgen.settings import check_settings, rule_of, what
from colgen.solving import solve

_HERE_ALONE = ("progress", "on_node", "certificate", "start", "free_running")
"""Settings of one run that speak of this process, or of one instance."""

_GRACE = 30.0
"""Seconds beyond its time limit after which an instance is given up: it has had to travel, and kernels to be loaded."""


@dataclass(frozen=True)
class OneOfMany:
    """What became of one instance of many.

    Attributes
    ----------
    number
        Of the instance, from 0.
    result
        Of its run, with its proof state, without its pool; None where there is none.
    fault
        Why there is no result, in a sentence: what its run has raised, that it ends whatever process solves it, or that
        there was no word of it.
    attempts
        How often it was sent: more than once if a worker was lost with it.
    """

    number: int
    result: Result | None = field(repr=False)
    fault: str = ""
    attempts: int = 1

    @property
    def is_optimal(self) -> bool:
        """Whether its answer is proved optimal."""
        return self.result is not None and self.result.is_optimal


def solve_many(
    instances: Iterable[Any],
    *,
    problem: Callable[[Any], Problem] | None = None,
    client: Any = None,
    workers: int | None = None,
    time_limit: float = math.inf,
    retries: int = 2,
    ahead: int | None = None,
    tell: Callable[[int, int], object] | None = None,
    **settings: Any,
) -> Iterator[OneOfMany]:
    """Solve many instances, each in one process, and tell of them in their order.

    Each is solved as :func:`solve` solves it, so that nothing depends on who does it.  An instance whose worker is lost
    is sent again; one that is lost again and again, raises, or does not end is told of with its fault, and the others
    go on.  Instances are taken as they are needed: they may be read from a file that is longer than the memory.

    Parameters
    ----------
    instances
        Problems; or, with ``problem``, whatever it makes problems of.  They travel by ``pickle``.
    problem
        Makes the problem of an instance where it is solved: a class such as ``CuttingStock``, or another function of a
        module.
    client
        Who works: a ``distributed.Client`` of Dask, a scheduler's address (``"tcp://host:8786"``), ``"local"`` for
        Dask on this machine, or any :class:`~colgen.parallel.clusters.Cluster`.  By default processes of this machine
        (``"processes"``); a script then calls this below ``if __name__ == "__main__":``.
    workers
        How many processes, where they are of this machine; by default one for each processor.
    time_limit
        Seconds for each instance.
    retries
        An instance is given up when its worker has been lost once more than this.
    ahead
        So many instances are under way, or wait for one before them; by default four for each worker.
    tell
        Called now and then with how many have ended, and how many are under way.
    **settings
        Of :func:`solve`, for each of them.

    Yields
    ------
    OneOfMany
        Of each instance in order, as soon as it and those before it have ended.

    Raises
    ------
    InputError
        Before any work, if a setting is out of its domain; and when the first instance is asked for, if nobody answers
        at the address.
    """
    if "seconds" in settings:
        raise InputError("seconds: the time limit of each instance is called time_limit")
    whole(retries, "retries")
    for name, value in (("workers", workers), ("ahead", ahead)):
        if value is not None:
            whole(value, name, low=1)
    if problem is not None and not callable(problem):
        raise InputError(f"problem: expected what makes a problem of an instance, such as a class, not {what(problem)}")
    for name in _HERE_ALONE:
        if name in settings:
            raise InputError(f"{name}: it is for one instance, solved here: expected settings of any instance")
    try:
        check_settings(time_limit=time_limit, **settings)
    except TypeError:
        known = sorted(set(settings) - set(check_settings.__kwdefaults__ or {}))
        raise InputError(f"{known[0]}: expected a setting of solve or solve_many, there is none of this name") from None
    work = _Work(problem, settings, rule_of(settings.pop("stop", ()), time_limit))
    return _solved(instances, work, client, workers, retries, ahead, tell)


def _solved(
    instances: Iterable[Any],
    work: _Work,
    client: Any,
    workers: int | None,
    retries: int,
    ahead: int | None,
    tell: Callable[[int, int], object] | None,
) -> Iterator[OneOfMany]:
    cluster, is_mine = cluster_of(client, workers)
    patience = work.stop.seconds + _GRACE
    stream = Stream(cluster, work, retries, patience, ahead)
    if tell is not None:
        stream.tell = tell
    try:
        for done in stream.over(instances):
            yield _told(done)
    finally:
        if is_mine:
            cluster.close()


@dataclass(frozen=True)
class _Work:
    """What a worker does with an instance."""

    problem: Callable[[Any], Problem] | None
    settings: dict[str, Any]
    stop: AnyOf

    def __call__(self, instance: Any) -> Result:
        made = instance if self.problem is None else self.problem(instance)
        result = solve(made, stop=self.stop, **self.settings)
        return dataclasses.replace(result, pool=None)  # it is most of the bytes, and few want it


def _told(done: Done) -> OneOfMany:
    """What the caller hears of an instance."""
    error = done.error
    if error is None:
        return OneOfMany(done.number, done.outcome, done.fault, done.attempts)
    fault = str(error) if isinstance(error, ColgenError) else f"{type(error).__name__}: {error}"
    return OneOfMany(done.number, None, fault, done.attempts)

"""Many instances: solved by many processes, here or on a cluster, and told in their order."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Never

from colgen.core.errors import ColgenError, InputError
from colgen.core.numbers import whole
from colgen.core.renamed import refuse_old
from colgen.core.result import Result
from colgen.core.stop import AnyOf, StopRule
from colgen.core.text import describe
from colgen.method import Method
from colgen.options import Options, Parallel
from colgen.parallel.clusters import open_cluster
from colgen.parallel.streams import PieceResult, Stream
from colgen.problem import Problem
from colgen.solving import solve

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
    stop: StopRule | Sequence[StopRule] = (),
    time_limit: float = math.inf,
    relaxation: bool = False,
    method: Method = Method(),
    parallel: Parallel = Parallel(),
    retries: int = 2,
    ahead: int | None = None,
    tell: Callable[[int, int], object] | None = None,
    **old: Never,
) -> Iterator[OneOfMany]:
    """Solve many instances, each in one process, and yield their results in order.

    Each is solved as :func:`solve` solves it, so that nothing depends on who does it.  An instance whose worker is lost
    is sent again; one that is lost again and again, raises, or does not end is yielded with its fault, and the others
    go on.  Instances are taken as they are needed: they may be read from a file that is longer than the memory.

    Parameters
    ----------
    instances
        Problems; or, with ``problem``, whatever it makes problems of.  They travel by ``pickle``.
    problem
        Makes the problem of an instance where it is solved: a class such as ``CuttingStock``, or another function of a
        module.
    stop, relaxation, method
        As of :func:`solve`, for each of them.
    time_limit
        Seconds for each instance.
    parallel
        Who works: its cluster is a ``distributed.Client`` of Dask, a scheduler's address (``"tcp://host:8786"``),
        ``"local"`` for Dask on this machine, or any :class:`~colgen.parallel.clusters.Cluster`.  By default processes
        of this machine (``"processes"``), one for each processor or as many as ``workers``; a script then calls this
        below ``if __name__ == "__main__":``.  With ``node_batch`` each instance evaluates so many nodes at once.
    retries
        An instance is given up when its worker has been lost once more than this.
    ahead
        So many instances are under way, or wait for one before them; by default four for each worker.
    tell
        Called now and then with how many have ended, and how many are under way.

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
    refuse_old(solve_many, old)
    whole(retries, "retries")
    if ahead is not None:
        whole(ahead, "ahead", low=1)
    if problem is not None and not callable(problem):
        what = f"expected what makes a problem of an instance, such as a class, not {describe(problem)}"
        raise InputError(f"problem: {what}")
    options = Options(stop=stop, time_limit=time_limit, relaxation=relaxation, method=method)
    if not isinstance(parallel, Parallel):
        raise InputError(f"parallel: expected a Parallel, such as Parallel(), not {describe(parallel)}")
    if parallel.free_running:
        raise InputError("free_running: it is for one instance whose tree is searched on a cluster: leave it out")
    each = {"relaxation": relaxation, "method": method, "parallel": Parallel(node_batch=parallel.node_batch)}
    return _solved(instances, _Work(problem, each, options.rule), parallel, retries, ahead, tell)


def _solved(
    instances: Iterable[Any],
    work: _Work,
    parallel: Parallel,
    retries: int,
    ahead: int | None,
    tell: Callable[[int, int], object] | None,
) -> Iterator[OneOfMany]:
    cluster, is_mine = open_cluster(parallel.cluster, parallel.workers)
    patience = work.stop.seconds + _GRACE
    stream = Stream(cluster, work, retries, patience, ahead)
    if tell is not None:
        stream.tell = tell
    try:
        for done in stream.over(instances):
            yield _outcome(done)
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


def _outcome(done: PieceResult) -> OneOfMany:
    """What the caller hears of an instance."""
    error = done.error
    if error is None:
        return OneOfMany(done.number, done.outcome, done.fault, done.attempts)
    fault = str(error) if isinstance(error, ColgenError) else f"{type(error).__name__}: {error}"
    return OneOfMany(done.number, None, fault, done.attempts)

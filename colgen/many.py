"""Solve many instances in many processes, on this machine or a cluster, with results in order."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Never

from colgen.core.errors import ColgenError, InputError
from colgen.core.numbers import integer
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
"""Seconds beyond its time limit after which an instance is given up; they cover transfer and loading of kernels."""


@dataclass(frozen=True)
class OneOfMany:
    """The outcome of one instance.

    Attributes
    ----------
    number
        Index of the instance, from 0.
    result
        Its result, without a pool; None if there is none.
    fault
        Why there is no result: the error that was raised, the loss of every worker that had it, or a time-out.
    attempts
        Number of times it was sent to a worker; more than 1 if a worker was lost.
    """

    number: int
    result: Result | None = field(repr=False)
    fault: str = ""
    attempts: int = 1

    @property
    def is_optimal(self) -> bool:
        """Whether the answer is proved optimal."""
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

    Each result is the one that :func:`solve` returns, whichever worker solves the instance. If a worker is lost, its
    instance is sent again. An instance that loses its worker repeatedly, raises an error, or does not end is yielded
    with its fault; the others continue. Instances are read as needed, so they may come from a file that does not fit
    into memory.

    Parameters
    ----------
    instances
        Problems; or, with ``problem``, its arguments. They are sent by ``pickle``.
    problem
        Makes the problem of an instance, on the worker: a class such as ``CuttingStock``, or a module-level function.
    stop, relaxation, method
        As in :func:`solve`, for each instance.
    time_limit
        Seconds per instance.
    parallel
        The workers. Its cluster is a ``distributed.Client`` of Dask, a scheduler's address (``"tcp://host:8786"``),
        ``"local"`` for Dask on this machine, or any :class:`~colgen.parallel.clusters.Cluster`. The default is
        ``"processes"``: ``workers`` processes of this machine, one per processor unless given. A script must then call
        this function below ``if __name__ == "__main__":``. With ``node_batch``, each instance evaluates that many
        nodes at once.
    retries
        An instance is given up when its worker is lost more often than this.
    ahead
        Maximum number of instances that are running, or finished but waiting for an earlier one; by default four per
        worker.
    tell
        Called from time to time with the numbers of finished and running instances.

    Yields
    ------
    OneOfMany
        One per instance in order, as soon as it and all before it have ended.

    Raises
    ------
    InputError
        Before any work, if an option is invalid; when the first result is requested, if the scheduler does not answer
        at its address.

    Examples
    --------
    >>> from colgen.problems import cutting_stock
    >>> instances = [cutting_stock.uniform(10, seed=seed) for seed in range(2)]
    >>> [result.is_optimal for result in solve_many(instances, problem=cutting_stock.CuttingStock)]
    [True, True]
    """
    refuse_old(solve_many, old)
    integer(retries, "retries")
    if ahead is not None:
        integer(ahead, "ahead", low=1)
    if problem is not None and not callable(problem):
        hint = "expected a callable that makes a problem from an instance, such as a class"
        raise InputError(f"problem: {hint}, not {describe(problem)}")
    options = Options(stop=stop, time_limit=time_limit, relaxation=relaxation, method=method)
    if not isinstance(parallel, Parallel):
        raise InputError(f"parallel: expected a Parallel, such as Parallel(), not {describe(parallel)}")
    if parallel.free_running:
        raise InputError("free_running: not available in solve_many, which solves each instance on one worker")
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
    """The task of a worker: solve one instance."""

    problem: Callable[[Any], Problem] | None
    settings: dict[str, Any]
    stop: AnyOf

    def __call__(self, instance: Any) -> Result:
        problem = instance if self.problem is None else self.problem(instance)
        result = solve(problem, stop=self.stop, **self.settings)
        return dataclasses.replace(result, pool=None)  # most of the bytes, and rarely used


def _outcome(done: PieceResult) -> OneOfMany:
    """Convert the outcome of a stream for the caller."""
    error = done.error
    if error is None:
        return OneOfMany(done.number, done.outcome, done.fault, done.attempts)
    fault = str(error) if isinstance(error, ColgenError) else f"{type(error).__name__}: {error}"
    return OneOfMany(done.number, None, fault, done.attempts)

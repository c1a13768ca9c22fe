"""``colgen bench workers``: the worth of a second processor and of a cluster, and of what is kept between runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import BenchOptions, Say
from benchmarks.runs.pools import measure_kept_work
from colgen import ColumnGeneration, IterationLimit, Method, NodeLimit, Parallel, Result, TimeLimit, WarmStart, solve
from colgen.cli.template import Figure
from colgen.core.errors import InputError
from colgen.many import solve_many
from colgen.parallel.clusters import Cluster, open_cluster
from colgen.parallel.streams import Stream
from colgen.problems.assignment.instance import AssignmentInstance, random
from colgen.problems.assignment.template import Assignment

_MINUTES = 9.0
_MACHINES = 20
_PRICED_TASKS = 800
_ROUNDS = 12
_BATCH = 8
"""Open nodes at once, for any number of workers."""

_TASK_SECONDS = 0.1
"""Of a task on a cluster."""


@dataclass(frozen=True)
class Speedup:
    """What one processor takes, and two: the least of several times, taken in turn.

    Attributes
    ----------
    seconds
        By the number of workers.
    identical
        How many runs said the same as the first one to the last bit, of so many.
    """

    seconds: Mapping[int, float]
    identical: int
    runs: int

    @property
    def speedup(self) -> float:
        """Of the second processor."""
        return self.seconds[1] / self.seconds[2]


def bench_workers(options: BenchOptions) -> Sequence[Figure]:
    """One processor and two, tasks of 100 ms on a cluster, runs that are killed, and pools from day to day."""
    share = 0.1 if options.quick else min(options.share(_MINUTES), 1.0)
    repeats = max(round(7 * share), 1)
    say = options.say
    kept = measure_kept_work(share, say)  # before there are threads: runs are forked
    solve(Assignment(random(3, 10, 0)))  # loads the kernels
    pricing = _compare(repeats, _priced, say, "pricing")
    tree = _compare(repeats, _searched, say, "tree")
    corpus = _corpus(max(int(60 * share), 8), say)
    efficiency, by, tasks = _efficiency(max(int(150 * share), 20), say)
    shared = _subtrees(max(round(3 * share), 1), say)
    same = pricing.identical + tree.identical + corpus.identical + shared.identical
    runs = pricing.runs + tree.runs + corpus.runs + shared.runs
    return [
        Figure("pricing_speedup_2", pricing.speedup, "x", repeats, f"one oracle, {_MACHINES} machines"),
        Figure("corpus_speedup_2", corpus.speedup, "x", corpus.runs, "instances, two processes against one"),
        Figure("tree_speedup_2", tree.speedup, "x", repeats, f"{_BATCH} open nodes at once on one thread and on two"),
        Figure("subtrees_speedup_2", shared.speedup, "x", shared.runs // 2, "one tree, two processes against one"),
        Figure("cluster_efficiency", efficiency, "", tasks, f"two processes, tasks of 100 ms: {by}"),
        Figure("identical", same / runs, "", runs, "runs that say the same to the last bit"),
        *kept,
        *(Figure(f"pricing_seconds_{n}", s, "s", repeats, f"{_ROUNDS} rounds") for n, s in pricing.seconds.items()),
        *(Figure(f"corpus_seconds_{n}", s, "s", corpus.runs) for n, s in corpus.seconds.items()),
        *(Figure(f"subtrees_seconds_{n}", s, "s", shared.runs // 2, "after set-up") for n, s in shared.seconds.items()),
        *(Figure(f"tree_seconds_{n}", s, "s", repeats, "after set-up") for n, s in tree.seconds.items()),
    ]


def _compare(repeats: int, run: Callable[[int], tuple[float, Any]], say: Say, name: str) -> Speedup:
    """Run with one worker and with two, in turn; a run returns its seconds and what it says."""
    seconds, told, identical = {1: math.inf, 2: math.inf}, None, 0
    for _ in range(repeats):
        for workers in seconds:
            taken, found = run(workers)
            seconds[workers] = min(seconds[workers], taken)
            told = found if told is None else told
            identical += found == told
        say(f"{name}: {seconds[1]:.3f} s by one worker, {seconds[2]:.3f} s by two")
    return Speedup(seconds, identical, 2 * repeats)


def _priced(workers: int) -> tuple[float, Any]:
    """Seconds of pricing, of rounds from nothing."""
    result = solve(
        Assignment(random(_MACHINES, _PRICED_TASKS, 1)),
        method=Method(bounding=ColumnGeneration()),
        relaxation=True,
        start=WarmStart(),
        stop=IterationLimit(_ROUNDS),
        parallel=Parallel(workers=workers),
    )
    return result.seconds["pricing"], _told(result)


def _searched(workers: int) -> tuple[float, Any]:
    """Seconds of a tree, without what is done before it."""
    began = time.perf_counter()
    result = solve(
        Assignment(random(10, 60, 1)), stop=NodeLimit(80), parallel=Parallel(node_batch=_BATCH, workers=workers)
    )
    return time.perf_counter() - began - result.seconds["setup"], _told(result)


def _told(result: Result) -> Any:
    """What a run says, but for its clocks."""
    rounds = [(each.node, each.objective, each.dual_bound, each.new_columns) for each in result.iterations]
    nodes = [(node.number, node.parent, node.bound, node.outcome) for node in result.nodes]
    return result.termination, result.objective, result.dual_bound, result.answer, rounds, nodes


# --- many instances --------------------------------------------------------------------------------------------------


def _drawn(count: int) -> list[AssignmentInstance]:
    return [random(5, 30, seed) for seed in range(count)]


def _corpus(count: int, say: Say) -> Speedup:
    """Seconds of many instances by one process and by two, once they have begun and have loaded the kernels."""
    instances, seconds, told = _drawn(count), {}, []
    for workers in (1, 2):
        cluster, _ = open_cluster(None, workers)
        try:
            list(solve_many(_drawn(4 * workers), problem=Assignment, parallel=Parallel(cluster=cluster)))
            began = time.perf_counter()
            many = list(
                solve_many(instances, problem=Assignment, parallel=Parallel(cluster=cluster), stop=TimeLimit(60))
            )
            seconds[workers] = time.perf_counter() - began
        finally:
            cluster.close()
        told.append([_told(one.result) if one.result is not None else one.fault for one in many])
        say(f"corpus: {count} instances in {seconds[workers]:.2f} s by {workers} processes")
    same = sum(one == two for one, two in zip(*told, strict=True))
    return Speedup(seconds, same, count)


def _subtrees(repeats: int, say: Say) -> Speedup:
    """Seconds of one tree whose subtrees go out to one process, and to two, which have loaded the kernels."""
    clusters = {workers: open_cluster(None, workers)[0] for workers in (1, 2)}

    def search(workers: int) -> tuple[float, Any]:
        began = time.perf_counter()
        result = solve(Assignment(random(10, 60, 2)), parallel=Parallel(cluster=clusters[workers]))
        return time.perf_counter() - began - result.seconds["setup"], _told(result)

    try:
        for workers, cluster in clusters.items():
            list(solve_many(_drawn(4 * workers), problem=Assignment, parallel=Parallel(cluster=cluster)))
        return _compare(repeats, search, say, "subtrees")
    finally:
        for cluster in clusters.values():
            cluster.close()


def _efficiency(count: int, say: Say) -> tuple[float, str, int]:
    """How much of the time two workers are at tasks that sleep for 100 ms each: by Dask, where it is installed."""
    try:
        cluster, _ = open_cluster("local", 2)
        by = "Dask"
    except InputError as error:
        say(str(error))
        cluster, _ = open_cluster(None, 2)
        by = "processes of the standard library"
    try:
        list(_slept(cluster, 8))
        began = time.perf_counter()
        spent = sum(_slept(cluster, count))
        whole = time.perf_counter() - began
    finally:
        cluster.close()
    say(f"cluster: {count} tasks of 100 ms in {whole:.2f} s by two processes ({by})")
    return spent / (2.0 * whole), by, count


def _slept(cluster: Cluster, count: int) -> Iterator[float]:
    return (done.outcome for done in Stream(cluster, sleep, ahead=count).over([_TASK_SECONDS] * count))


def sleep(seconds: float) -> float:
    """A task that takes so long, whoever else is at work on the machine."""
    time.sleep(seconds)
    return seconds

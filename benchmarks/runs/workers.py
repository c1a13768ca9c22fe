"""``colgen bench workers``: speedup by a second processor and a cluster, and savings by checkpoints and pools."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import BenchOptions, Say
from benchmarks.runs.pools import measure_reuse
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
"""Open nodes per batch, for any number of workers."""

_TASK_SECONDS = 0.1
"""Seconds of a task on a cluster."""


@dataclass(frozen=True)
class Speedup:
    """Seconds with one and with two workers: the shortest of several alternating runs.

    ``seconds`` are by number of workers; ``identical`` of the ``runs`` are bitwise identical to the first one.
    """

    seconds: Mapping[int, float]
    identical: int
    runs: int

    @property
    def speedup(self) -> float:
        """Return the speedup by the second worker."""
        return self.seconds[1] / self.seconds[2]


def bench_workers(options: BenchOptions) -> Sequence[Figure]:
    """Compare one and two workers, run tasks of 100 ms on a cluster, and measure checkpoints and pools."""
    share = 0.1 if options.quick else min(options.share(_MINUTES), 1.0)
    repeats = max(round(7 * share), 1)
    say = options.say
    reuse = measure_reuse(share, say)  # forks, so it must precede all threads
    solve(Assignment(random(3, 10, 0)))  # loads the kernels
    pricing = _compare(repeats, _time_pricing, say, "pricing")
    tree = _compare(repeats, _time_search, say, "tree")
    corpus = _compare_corpus(max(int(60 * share), 8), say)
    efficiency, by, tasks = _measure_efficiency(max(int(150 * share), 20), say)
    shared = _compare_subtrees(max(round(3 * share), 1), say)
    same = pricing.identical + tree.identical + corpus.identical + shared.identical
    runs = pricing.runs + tree.runs + corpus.runs + shared.runs
    return [
        Figure("pricing_speedup_2", pricing.speedup, "x", repeats, f"one oracle, {_MACHINES} machines"),
        Figure("corpus_speedup_2", corpus.speedup, "x", corpus.runs, "instances, two processes against one"),
        Figure(
            "tree_speedup_2", tree.speedup, "x", repeats, f"batches of {_BATCH} open nodes on one thread and on two"
        ),
        Figure("subtrees_speedup_2", shared.speedup, "x", shared.runs // 2, "one tree, two processes against one"),
        Figure("cluster_efficiency", efficiency, "", tasks, f"two processes, tasks of 100 ms: {by}"),
        Figure("identical", same / runs, "", runs, "bitwise identical runs"),
        *reuse,
        *(Figure(f"pricing_seconds_{n}", s, "s", repeats, f"{_ROUNDS} rounds") for n, s in pricing.seconds.items()),
        *(Figure(f"corpus_seconds_{n}", s, "s", corpus.runs) for n, s in corpus.seconds.items()),
        *(Figure(f"subtrees_seconds_{n}", s, "s", shared.runs // 2, "after setup") for n, s in shared.seconds.items()),
        *(Figure(f"tree_seconds_{n}", s, "s", repeats, "after setup") for n, s in tree.seconds.items()),
    ]


def _compare(repeats: int, run: Callable[[int], tuple[float, Any]], say: Say, name: str) -> Speedup:
    """Run alternately with one worker and with two; ``run`` returns its seconds and its fingerprint."""
    seconds, first, identical = {1: math.inf, 2: math.inf}, None, 0
    for _ in range(repeats):
        for workers in seconds:
            taken, fingerprint = run(workers)
            seconds[workers] = min(seconds[workers], taken)
            first = fingerprint if first is None else first
            identical += fingerprint == first
        say(f"{name}: {seconds[1]:.3f} s with one worker, {seconds[2]:.3f} s with two")
    return Speedup(seconds, identical, 2 * repeats)


def _time_pricing(workers: int) -> tuple[float, Any]:
    """Return the seconds of pricing in the first rounds without a warm start, and the fingerprint of the run."""
    result = solve(
        Assignment(random(_MACHINES, _PRICED_TASKS, 1)),
        method=Method(bounding=ColumnGeneration()),
        relaxation=True,
        start=WarmStart(),
        stop=IterationLimit(_ROUNDS),
        parallel=Parallel(workers=workers),
    )
    return result.seconds["pricing"], _fingerprint(result)


def _time_search(workers: int) -> tuple[float, Any]:
    """Return the seconds of a tree search without setup, and the fingerprint of the run."""
    began = time.perf_counter()
    result = solve(
        Assignment(random(10, 60, 1)), stop=NodeLimit(80), parallel=Parallel(node_batch=_BATCH, workers=workers)
    )
    return time.perf_counter() - began - result.seconds["setup"], _fingerprint(result)


def _fingerprint(result: Result) -> Any:
    """Return everything in a result that must not depend on the number of workers; times are omitted."""
    rounds = [(each.node, each.objective, each.dual_bound, each.new_columns) for each in result.iterations]
    nodes = [(node.number, node.parent, node.bound, node.outcome) for node in result.nodes]
    return result.termination, result.objective, result.dual_bound, result.answer, rounds, nodes


# --- many instances --------------------------------------------------------------------------------------------------


def _draw(count: int) -> list[AssignmentInstance]:
    return [random(5, 30, seed) for seed in range(count)]


def _compare_corpus(count: int, say: Say) -> Speedup:
    """Time many instances with one process and with two, after the processes have loaded the kernels."""
    instances, seconds, fingerprints = _draw(count), {}, []
    for workers in (1, 2):
        cluster, _ = open_cluster(None, workers)
        try:
            list(solve_many(_draw(4 * workers), problem=Assignment, parallel=Parallel(cluster=cluster)))
            began = time.perf_counter()
            many = list(
                solve_many(instances, problem=Assignment, parallel=Parallel(cluster=cluster), stop=TimeLimit(60))
            )
            seconds[workers] = time.perf_counter() - began
        finally:
            cluster.close()
        fingerprints.append([_fingerprint(one.result) if one.result is not None else one.fault for one in many])
        say(f"corpus: {count} instances in {seconds[workers]:.2f} s by {workers} processes")
    same = sum(one == two for one, two in zip(*fingerprints, strict=True))
    return Speedup(seconds, same, count)


def _compare_subtrees(repeats: int, say: Say) -> Speedup:
    """Time one tree whose subtrees are searched by one process and by two, after loading the kernels."""
    clusters = {workers: open_cluster(None, workers)[0] for workers in (1, 2)}

    def search(workers: int) -> tuple[float, Any]:
        began = time.perf_counter()
        result = solve(Assignment(random(10, 60, 2)), parallel=Parallel(cluster=clusters[workers]))
        return time.perf_counter() - began - result.seconds["setup"], _fingerprint(result)

    try:
        for workers, cluster in clusters.items():
            list(solve_many(_draw(4 * workers), problem=Assignment, parallel=Parallel(cluster=cluster)))
        return _compare(repeats, search, say, "subtrees")
    finally:
        for cluster in clusters.values():
            cluster.close()


def _measure_efficiency(count: int, say: Say) -> tuple[float, str, int]:
    """Return the share of time that two workers spend in tasks, the library (Dask if installed), and the tasks."""
    try:
        cluster, _ = open_cluster("local", 2)
        by = "Dask"
    except InputError as error:
        say(str(error))
        cluster, _ = open_cluster(None, 2)
        by = "processes of the standard library"
    try:
        list(_run_tasks(cluster, 8))
        began = time.perf_counter()
        spent = sum(_run_tasks(cluster, count))
        elapsed = time.perf_counter() - began
    finally:
        cluster.close()
    say(f"cluster: {count} tasks of 100 ms in {elapsed:.2f} s by two processes ({by})")
    return spent / (2.0 * elapsed), by, count


def _run_tasks(cluster: Cluster, count: int) -> Iterator[float]:
    return (done.outcome for done in Stream(cluster, sleep, ahead=count).over([_TASK_SECONDS] * count))


def sleep(seconds: float) -> float:
    """Sleep and return the seconds; the duration does not depend on the load of the machine."""
    time.sleep(seconds)
    return seconds

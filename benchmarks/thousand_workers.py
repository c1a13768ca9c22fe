"""Simulate a thousand workers on one branch-and-bound tree, with measured node times.

    python benchmarks/thousand_workers.py [--nodes 1000000] [--seed 1]

Measured are seconds per node (assignment, 10 machines, 60 tasks), bytes of a serialised node and column, and the
seconds to send a task through a pool and to receive its outcome.  The model assumes a tree that splits at random,
tasks that search a subtree for a given time and return its open nodes, and one supervisor that handles tasks one by
one.  No network is used; measurements of a real cluster need a cluster.
"""

from __future__ import annotations

import argparse
import heapq
import math
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from colgen import NodeLimit, Record, solve
from colgen.core.result import NodeVisit
from colgen.problems.assignment import Assignment, random

PARTS = 8
"""Open parts of a subtree after a task; each becomes a task."""

COLUMNS = 40
"""Best columns that a task returns."""

SEARCHED = (1.0, 10.0)
"""Search times of a task in seconds."""

WORKERS = (10, 100, 1000, 4000)


@dataclass(frozen=True)
class Measurements:
    """Seconds of nodes, bytes of a node and of a column, and seconds of the supervisor per task."""

    node_seconds: np.ndarray
    node_bytes: int
    column_bytes: int
    task_seconds: float


def measure() -> Measurements:
    """Measure the parameters of the simulation on this machine."""
    times, paths = [], []

    def note(visit: NodeVisit) -> None:
        times.append(visit.seconds)
        paths.append(visit.node.path)

    result = solve(Assignment(random(10, 60, 1)), stop=NodeLimit(60), record=Record(on_node=note))
    assert result.solution is not None
    columns = [column for column, _ in result.solution.columns]
    with ThreadPoolExecutor(1) as pool:  # the minimal work of any cluster library per task
        began, count = time.perf_counter(), 2000
        for _ in range(count):
            pickle.loads(pickle.dumps(columns[0]))
            pool.submit(int).result()
        task = (time.perf_counter() - began) / count
    return Measurements(
        np.maximum(np.diff(times), 1e-4),
        len(pickle.dumps(paths[-1].decisions)),
        len(pickle.dumps(columns)) // len(columns),
        task,
    )


def split_subtree(size: int, most: int, rng: np.random.Generator) -> tuple[int, list[int]]:
    """Return how many nodes of a subtree a task searches, and the sizes of the open parts."""
    done = min(size, most)
    shares = rng.dirichlet(np.ones(PARTS))
    parts = (shares * (size - done)).astype(int)
    parts[0] += size - done - int(parts.sum())
    return done, [int(part) for part in parts if part > 0]


def simulate(
    nodes: int, workers: int, searched: float, supervisor: float, measured: Measurements, seed: int
) -> tuple[float, int, float]:
    """Return the seconds to search the tree, the number of tasks, and the share of time the supervisor is busy."""
    rng = np.random.default_rng(seed)
    mean, spread = float(measured.node_seconds.mean()), float(measured.node_seconds.std())
    most = max(int(searched / mean), 1)
    waiting, free = [-nodes], workers
    events: list[tuple[float, int, list[int]]] = []
    clock = busy_until = busy = 0.0
    tasks = 0
    while waiting or events:
        if waiting and free:
            busy_until = max(busy_until, clock) + supervisor
            busy += supervisor
            done, left = split_subtree(-heapq.heappop(waiting), most, rng)  # the largest subtree splits into most tasks
            lasts = max(rng.normal(mean * done, spread * math.sqrt(done)), 0.0)
            heapq.heappush(events, (busy_until + lasts, tasks, left))
            free -= 1
            tasks += 1
            continue
        clock, _, left = heapq.heappop(events)
        for size in left:
            heapq.heappush(waiting, -size)
        free += 1
    return clock, tasks, busy / clock


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    measured = measure()
    mean = float(measured.node_seconds.mean())
    print(
        f"measured: {1e3 * mean:.1f} ms per node (median {1e3 * np.median(measured.node_seconds):.1f}), "
        f"{measured.node_bytes} bytes per node, {measured.column_bytes} per column, "
        f"{1e3 * measured.task_seconds:.2f} ms per task in a pool"
    )
    print(f"tree: {options.nodes:,} nodes, {options.nodes * mean:,.0f} seconds on one processor")
    print("| search per task | supervisor per task | workers | seconds | efficiency | supervisor busy | kB/s |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for supervisor in (measured.task_seconds, 0.01):
        for searched in SEARCHED:
            for workers in WORKERS:
                seconds, tasks, busy = simulate(options.nodes, workers, searched, supervisor, measured, options.seed)
                efficiency = options.nodes * mean / (workers * seconds)
                sent = tasks * (measured.node_bytes * (1 + PARTS) + COLUMNS * measured.column_bytes) / seconds / 1e3
                print(
                    f"| {searched:g} s | {1e3 * supervisor:.2f} ms | {workers:,} | {seconds:,.1f} | {efficiency:.2f} | "
                    f"{busy:.0%} | {sent:,.0f} |"
                )


if __name__ == "__main__":
    main()

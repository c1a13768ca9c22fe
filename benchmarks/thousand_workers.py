"""A simulation of a thousand workers on one tree, from node times that are measured here.

    python benchmarks/thousand_workers.py [--nodes 1000000] [--seed 1]

Measured: seconds of nodes (assignment, 10 machines, 60 tasks), bytes of a node and of a column as they would travel,
and what it takes one process to send a task through a pool and to take its outcome in.  Assumed: a tree that splits at
random; tasks that search a subtree for so many seconds and send back what is left open; one supervisor, which handles
one task after the other.  Nothing is sent: whoever has a cluster measures it there.
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
"""Of a subtree that a task leaves open: each is a task again."""

COLUMNS = 40
"""Columns that a task sends back: the best of those it has found."""

SEARCHED = (1.0, 10.0)
"""Seconds that a task searches a subtree for."""

WORKERS = (10, 100, 1000, 4000)


@dataclass(frozen=True)
class Measured:
    """Seconds of nodes, bytes, and seconds of the supervisor a task."""

    node_seconds: np.ndarray
    node_bytes: int
    column_bytes: int
    task_seconds: float


def measure() -> Measured:
    """What is measured on this machine."""
    times, paths = [], []

    def note(visit: NodeVisit) -> None:
        times.append(visit.seconds)
        paths.append(visit.node.path)

    result = solve(Assignment(random(10, 60, 1)), stop=NodeLimit(60), record=Record(on_node=note))
    assert result.solution is not None
    columns = [column for column, _ in result.solution.columns]
    with ThreadPoolExecutor(1) as pool:  # the least that any library of clusters does for a task
        began, count = time.perf_counter(), 2000
        for _ in range(count):
            pickle.loads(pickle.dumps(columns[0]))
            pool.submit(int).result()
        task = (time.perf_counter() - began) / count
    return Measured(
        np.maximum(np.diff(times), 1e-4),
        len(pickle.dumps(paths[-1].decisions)),
        len(pickle.dumps(columns)) // len(columns),
        task,
    )


def split_subtree(size: int, most: int, rng: np.random.Generator) -> tuple[int, list[int]]:
    """How many nodes of a subtree a task searches, and the sizes of the parts that it leaves open."""
    done = min(size, most)
    shares = rng.dirichlet(np.ones(PARTS))
    parts = (shares * (size - done)).astype(int)
    parts[0] += size - done - int(parts.sum())
    return done, [int(part) for part in parts if part > 0]


def simulate(
    nodes: int, workers: int, searched: float, supervisor: float, known: Measured, seed: int
) -> tuple[float, int, float]:
    """Seconds until the tree is done, tasks, and the share of the time that the supervisor is busy."""
    rng = np.random.default_rng(seed)
    mean, spread = float(known.node_seconds.mean()), float(known.node_seconds.std())
    most = max(int(searched / mean), 1)
    waiting, free = [-nodes], workers
    events: list[tuple[float, int, list[int]]] = []
    clock = busy_until = busy = 0.0
    tasks = 0
    while waiting or events:
        if waiting and free:
            busy_until = max(busy_until, clock) + supervisor
            busy += supervisor
            done, left = split_subtree(-heapq.heappop(waiting), most, rng)  # the largest: it feeds most workers
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
    asked = parser.parse_args()
    known = measure()
    mean = float(known.node_seconds.mean())
    print(
        f"measured: a node {1e3 * mean:.1f} ms (median {1e3 * np.median(known.node_seconds):.1f}), "
        f"{known.node_bytes} bytes a node, {known.column_bytes} a column, "
        f"a task in a pool {1e3 * known.task_seconds:.2f} ms"
    )
    print(f"tree: {asked.nodes:,} nodes, {asked.nodes * mean:,.0f} seconds on one processor")
    print("| a task searches | supervisor a task | workers | seconds | efficiency | supervisor busy | kB a second |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for supervisor in (known.task_seconds, 0.01):
        for searched in SEARCHED:
            for workers in WORKERS:
                seconds, tasks, busy = simulate(asked.nodes, workers, searched, supervisor, known, asked.seed)
                efficiency = asked.nodes * mean / (workers * seconds)
                sent = tasks * (known.node_bytes * (1 + PARTS) + COLUMNS * known.column_bytes) / seconds / 1e3
                print(
                    f"| {searched:g} s | {1e3 * supervisor:.2f} ms | {workers:,} | {seconds:,.1f} | {efficiency:.2f} | "
                    f"{busy:.0%} | {sent:,.0f} |"
                )


if __name__ == "__main__":
    main()

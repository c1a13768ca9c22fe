"""Benchmark of checkpoints of killed runs, and of column pools reused for similar instances."""

from __future__ import annotations

import dataclasses
import math
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import Say, check_agreement, measure
from benchmarks.runs.kills import TEMPLATES, kill_runs
from colgen import Checkpoint, NodeLimit, Problem, Result, solve
from colgen.checkpoint.file import read_checkpoint
from colgen.cli.template import Figure
from colgen.problems.assignment.instance import AssignmentInstance as Machines
from colgen.problems.assignment.instance import random as random_assignment
from colgen.problems.assignment.template import Assignment
from colgen.problems.cutting_stock.generators import uniform
from colgen.problems.cutting_stock.instance import CuttingStockInstance as Rolls
from colgen.problems.cutting_stock.template import CuttingStock
from colgen.problems.vehicle_routing.instance import random as random_routing
from colgen.problems.vehicle_routing.template import VehicleRouting

_KILLS, _LOST, _PAIRS, _DAYS = 34, 8, 5, 50
"""At full size: kills per template, runs to measure lost work, pairs to measure costs, successive instances."""

_EVERY = 1.0
"""Seconds between checkpoints when their cost and the lost work are measured."""

_NODES = 150
"""Nodes of the tree that is searched with and without checkpoints; about ten checkpoints are written."""


def measure_reuse(share: float, say: Say) -> list[Figure]:
    """Measure checkpoints and pools; must run before any thread starts, because runs are forked."""
    return [*_kill_figures(share, say), *_cost_figures(share, say), *_pool_figures(share, say)]


# --- checkpoints -----------------------------------------------------------------------------------------------------


def _kill_figures(share: float, say: Say) -> list[Figure]:
    kills = same = written = 0
    for seed, (name, make) in enumerate(TEMPLATES.items()):
        killed = kill_runs(partial(make, seed), max(math.ceil(_KILLS * share), 2), seed)
        kills, same, written = kills + killed.kills, same + killed.same, written + killed.written
        say(f"{name}: {killed.same} of {killed.kills} killed runs led to the same proved value")
    lost = [_measure_loss(seed) for seed in range(max(math.ceil(_LOST * share), 1))]
    say(f"a killed run loses at most {max(lost):.2f} s with checkpoints every {_EVERY:g} s")
    return [
        Figure("kill_9_resumed", same / kills, "share", kills, f"{written} left a checkpoint"),
        Figure("lost_seconds", max(lost) - _EVERY, "s", len(lost), f"maximum beyond every = {_EVERY:g} s"),
    ]


def _make_long() -> Problem:
    return Assignment(random_assignment(10, 60, 1))


def _measure_loss(seed: int) -> float:
    """Kill a run and return the seconds of work since its last checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        path, seconds = Path(folder) / "run", random.Random(seed).uniform(1.5 * _EVERY, 4.0 * _EVERY)
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            try:
                solve(_make_long(), checkpoint=Checkpoint(path, every=_EVERY))
            finally:
                os._exit(0)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        ended = time.monotonic() - began
        os.waitpid(child, 0)
        stored = read_checkpoint(path)
        return ended - (float(stored.fields["seconds"]) if stored is not None else 0.0)


def _search(saving: Mapping[str, Any]) -> Result:
    return solve(_make_long(), stop=NodeLimit(_NODES), **saving)


def _cost_figures(share: float, say: Say) -> list[Figure]:
    """Measure the cost of writing checkpoints by searching the same tree without and with them."""
    ratios = []
    for _ in range(max(round(_PAIRS * share), 1)):
        with tempfile.TemporaryDirectory() as folder:
            seconds = []
            for saving in ({}, {"checkpoint": Checkpoint(Path(folder) / "run", _EVERY)}):
                seconds.append(measure(partial(_search, saving))[1])
            ratios.append(seconds[1] / seconds[0] - 1.0)
    say(f"checkpoints every {_EVERY:g} s: {median(ratios):+.1%} time")
    return [Figure("checkpoint_cost", median(ratios), "share", len(ratios), f"every {_EVERY:g} s; median")]


# --- pools -----------------------------------------------------------------------------------------------------------


def _rolls(count: int) -> Iterator[Problem]:
    """Yield successive instances that differ in some demands."""
    rng, instance = np.random.default_rng(0), uniform(200, 1)
    for _ in range(count):
        demands = np.array(instance.demands)
        chosen = rng.integers(0, len(demands), 5)
        demands[chosen] = np.maximum(demands[chosen] + rng.integers(-3, 4, 5), 1)
        instance = Rolls(instance.roll, instance.widths, tuple(demands.tolist()))
        yield CuttingStock(instance)


def _machines(count: int) -> Iterator[Problem]:
    """Yield successive instances that differ in the costs of some tasks."""
    rng, instance = np.random.default_rng(0), random_assignment(5, 30, 1)
    for _ in range(count):
        costs = instance.costs.copy()
        costs[:, rng.integers(0, costs.shape[1], 2)] = rng.integers(10, 50, (len(costs), 2))
        instance = Machines(costs, instance.sizes, instance.capacities)
        yield Assignment(instance)


def _routes(count: int) -> Iterator[Problem]:
    """Yield successive instances that differ slightly in some demands."""
    rng, instance = np.random.default_rng(0), random_routing(3, customers=40)
    for _ in range(count):
        demands = np.array(instance.demands)
        chosen = rng.integers(1, len(demands), 3)
        demands[chosen] = np.maximum(demands[chosen] + rng.integers(-2, 3, 3), 1)
        instance = dataclasses.replace(instance, demands=tuple(demands.tolist()))
        yield VehicleRouting(instance)


_SEQUENCES: dict[str, Callable[[int], Iterator[Problem]]] = {
    "cutting_stock": _rolls,
    "assignment": _machines,
    "vehicle_routing": _routes,
}


def _pool_figures(share: float, say: Say) -> list[Figure]:
    figures, totals = [], {False: 0.0, True: 0.0}
    for name, sequence in _SEQUENCES.items():
        seconds, days = {False: 0.0, True: 0.0}, 0
        last: Result | None = None
        for problem in sequence(max(math.ceil(_DAYS * share), 3)):
            both = {warm: measure(partial(_solve_day, problem, last if warm else None)) for warm in (False, True)}
            if last is not None:  # the first instance has no pool
                days += 1
                for warm, (_, taken) in both.items():
                    seconds[warm] += taken
            cold, last = both[False][0], both[True][0]
            claims = {"from scratch": cold, "with a pool": last}
            check_agreement(name, {way: (one.objective, one.dual_bound) for way, one in claims.items()})
        say(f"{name}: {days} instances take {seconds[False]:.2f} s from scratch, {seconds[True]:.2f} s with pools")
        figures.append(Figure(f"warm_share ({name})", seconds[True] / seconds[False], "share", days))
        totals = {warm: totals[warm] + seconds[warm] for warm in totals}
    total = Figure("warm_share", totals[True] / totals[False], "share", 3 * days, "of the time from scratch, in total")
    return [total, *figures]


def _solve_day(problem: Problem, before: Result | None) -> Result:
    return solve(problem, start=None if before is None else before.pool)

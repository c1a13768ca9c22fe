"""Weighted tardiness on identical machines: a machine's schedule is a path through jobs and completion times."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import BenchOptions, Run, read_table, run_engine
from colgen import CompactModel, Method, Paths, Problem, RestrictedMIP, Rows, Sense, Solution, WarmStart, decompose
from colgen.cli.template import Figure
from colgen.solvers.paths.acyclic import States
from colgen.solvers.paths.labelling import Network
from colgen.solvers.paths.sequences import schedule

Ints = NDArray[np.int64]

_LIMIT = 300.0
"""Time limit of each instance in seconds of processor time."""

_QUICK = 3
"""Number of instances with ``--quick``."""


def read(path: Path | str) -> tuple[Ints, Ints, Ints]:
    """Return durations, weights and due dates of a file: the number of jobs, then these."""
    count, *numbers = map(int, Path(path).read_text().split())
    durations, weights, due = np.array(numbers[: 3 * count]).reshape(3, count)
    return durations, weights, due


def schedules(durations: Ints, weights: Ints, due: Ints, machines: int) -> tuple[Problem, WarmStart, States]:
    """Return the problem, a schedule to start from, and the states that paths visit."""
    n, total, p = len(durations), int(durations.sum()), np.array([0, *durations, 0])
    latest = (total + (machines - 1) * int(p.max())) // machines
    t = np.arange(latest + 1)
    tardiness = np.zeros((n + 2, latest + 1))
    tardiness[1:-1] = weights[:, None] * np.maximum(0, t - due[:, None])
    ties = 0.4 / (n * latest) * np.linspace(2.0, 1.0, n + 2)[:, None] * t
    # Two consecutive jobs are in their better order, and no machine ends after the start of another's last job.
    network = Network.complete(n)
    i, j = network.tails[:, None], network.heads[:, None]

    def paid(job: Ints, time: Ints) -> NDArray[np.float64]:
        time = np.clip(time, 0, latest)
        return tardiness[job, time] + ties[job, time]

    swapped = paid(j, t - p[i] + p[j]) + paid(i, t + p[j])
    allowed = (paid(i, t) + paid(j, t + p[j]) < swapped) & (machines * t <= total - durations.min())
    ends = machines * t <= total + (machines - 1) * p[i]
    ends &= machines * t >= total - np.sort(p)[::-1][: machines - 1].sum()
    allowed = np.where(i == 0, True, np.where(j == n + 1, ends, allowed))
    states = States.timed(network, p[network.heads], latest, costs=tardiness, allowed=allowed)

    job, arcs = states.vertices[states.heads], states.num_arcs
    inner = np.flatnonzero(job <= n)
    rows = Rows(Sense.MINIMIZE)
    flow = rows.add_variables("flow", range(arcs), cost=states.costs, upper=1.0, integer=True)
    once = rows.add_rows("once", range(1, n + 1), lower=1.0, upper=1.0)
    rows.add_entries(once[job[inner] - 1], flow[inner], 1.0)
    machine = Paths((states.tails, states.heads), flow, 0, states.num_states - 1, count=machines)
    problem = decompose(CompactModel.from_rows(rows), [machine], method="dantzig-wolfe")

    plan = schedule(durations, (tardiness + ties)[1:-1], machines, rounds=2000)
    columns = [problem.path(machine, states.path([0, *(k + 1 for k in jobs), n + 1]).tolist()) for jobs in plan]
    start = Solution(sum(column.cost for column in columns), tuple((column, 1.0) for column in columns))
    return problem, WarmStart(answers=[start]), states


def scheduling(folder: Path, options: BenchOptions) -> Sequence[Figure]:
    """Solve the instances of a folder; times are processor time, with the search for a start."""
    groups: dict[str, list[tuple[Run, float]]] = {}
    for entry in itertools.islice(read_table(folder / "best.csv"), _QUICK if options.quick else None):
        name = Path(entry["instance"]).stem
        jobs, machines = name.removeprefix("wt").split("m-")[0].split("-")
        run = _solved(folder / entry["instance"], int(machines), name)
        options.say(str(run))
        groups.setdefault(f"{jobs}_{machines}", []).append((run, float(entry["best"])))
    every = [pair for group in groups.values() for pair in group]
    equal = sum(run.proved and run.objective == best for run, best in every)
    figures = [Figure("scheduling_proved", equal, "schedules", len(every), "proved and equal to the known optimum")]
    for label, group in groups.items():
        seconds = float(np.mean([run.counted for run, _ in group]))
        figures.append(Figure(f"scheduling_seconds_{label}", seconds, "s", len(group), "mean, jobs and machines"))
    return figures


def _solved(path: Path, machines: int, name: str) -> Run:
    clock = time.process_time()
    problem, start, _ = schedules(*read(path), machines)
    left = _LIMIT - (time.process_time() - clock)
    method = Method(heuristics=(RestrictedMIP(3.0),))
    run = run_engine(problem, left, name=name, start=start, method=method)[0]
    return replace(run, seconds=run.seconds + _LIMIT - left, limit=_LIMIT)

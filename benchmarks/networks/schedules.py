"""Weighted tardiness on identical machines: a machine's schedule is a path through jobs and completion times."""

from __future__ import annotations

from pathlib import Path

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen import CompactModel, Paths, Problem, Solution, WarmStart, decompose
from colgen.solvers.paths.acyclic import States
from colgen.solvers.paths.labelling import Network
from colgen.solvers.paths.sequences import schedule

Ints = NDArray[np.int64]


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
    once = sparse.csc_array((np.ones(len(inner)), (job[inner] - 1, inner)), shape=(n, arcs))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = arcs, n
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = states.costs, np.zeros(arcs), np.ones(arcs)
    lp.row_lower_ = lp.row_upper_ = np.ones(n)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * arcs
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = once.indptr, once.indices, once.data
    machine = Paths((states.tails, states.heads), np.arange(arcs), 0, states.num_states - 1, count=machines)
    problem = decompose(CompactModel.from_highspy(lp), by=[machine])

    plan = schedule(durations, (tardiness + ties)[1:-1], machines, rounds=2000)
    columns = [problem.path(machine, states.path([0, *(k + 1 for k in jobs), n + 1]).tolist()) for jobs in plan]
    start = Solution(sum(column.cost for column in columns), tuple((column, 1.0) for column in columns))
    return problem, WarmStart(answers=[start]), states

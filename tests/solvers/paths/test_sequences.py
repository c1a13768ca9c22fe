"""Schedules by local search, against all schedules of a few jobs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.paths.sequences import schedule


def cost(sequences, durations, table):
    total = 0.0
    for jobs in sequences:
        ends = np.cumsum([durations[job] for job in jobs])
        total += sum(table[job, end] for job, end in zip(jobs, ends, strict=True))
    return total


def optimum(durations, table, machines):
    """Return the least cost of all schedules without idle times."""
    jobs, best = range(len(durations)), math.inf
    for order in itertools.permutations(jobs):
        for cuts in itertools.combinations_with_replacement(range(len(order) + 1), machines - 1):
            parts = [order[i:j] for i, j in itertools.pairwise((0, *cuts, len(order)))]
            if all(sum(durations[job] for job in part) < table.shape[1] for part in parts):
                best = min(best, cost(parts, durations, table))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_few_jobs_are_scheduled_optimally(seed):
    rng = np.random.default_rng(seed)
    machines = int(rng.integers(1, 4))
    durations = rng.integers(1, 9, 6)
    due, weights = rng.integers(0, 20, 6), rng.integers(1, 6, 6)
    table = weights[:, None] * np.maximum(0.0, np.arange(durations.sum() + 1) - due[:, None])
    found = schedule(durations, table, machines, rounds=100, seed=seed)
    assert sorted(itertools.chain(*found)) == list(range(6))
    assert len(found) == machines
    assert cost(found, durations, table) == pytest.approx(optimum(durations, table, machines))


def test_more_rounds_are_never_worse_and_the_clock_ends_them():
    rng = np.random.default_rng(1)
    durations = rng.integers(1, 50, 25)
    table = rng.integers(1, 9, 25)[:, None] * np.maximum(0.0, np.arange(700) - rng.integers(0, 300, 25)[:, None])
    none, some = (cost(schedule(durations, table, 2, rounds=k), durations, table) for k in (0, 200))
    assert some <= none
    assert cost(schedule(durations, table, 2, expired=lambda: True), durations, table) == none


def test_a_table_that_ends_too_early_is_refused():
    with pytest.raises(ArrayError, match="up to time 6"):
        schedule([3, 3], np.zeros((2, 5)), 1)

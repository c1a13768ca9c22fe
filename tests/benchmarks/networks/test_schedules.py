"""Weighted tardiness on identical machines, against all schedules of a few jobs."""

import itertools

import numpy as np
import pytest

from benchmarks.networks.schedules import read, schedules
from colgen import solve
from tests.networks.programs import partition


@pytest.mark.parametrize("seed", range(8))
def test_few_jobs_are_scheduled_optimally(seed):
    rng = np.random.default_rng(seed)
    jobs, machines = int(rng.integers(4, 7)), int(rng.integers(2, 4))
    durations, weights = rng.integers(1, 4 + 3 * (seed % 3), jobs), rng.integers(1, 4, jobs)
    due = rng.integers(0, 12, jobs)
    problem, start, states = schedules(durations, weights, due, machines)
    result = solve(problem, start=start)
    sets = []
    for size in range(1, jobs + 1):
        for order in itertools.permutations(range(jobs), size):
            late = np.maximum(0, np.cumsum(durations[list(order)]) - due[list(order)])
            sets.append((frozenset(job + 1 for job in order), float(weights[list(order)] @ late)))
    assert result.is_optimal
    assert result.objective == pytest.approx(partition(sets, jobs, machines))
    assert start.answers[0].objective >= result.objective
    done = [states.vertices[list(path.vertices)][1:-1].tolist() for path in result.answer.paths]
    assert sorted(itertools.chain(*done)) == list(range(1, jobs + 1))


def test_files_list_durations_weights_and_due_dates(tmp_path):
    (tmp_path / "small.txt").write_text("2\n3 4\n1 2\n5 6\n")
    assert [each.tolist() for each in read(tmp_path / "small.txt")] == [[3, 4], [1, 2], [5, 6]]

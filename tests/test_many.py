"""Many instances: results in order, equal to those of single runs."""

import os

import pytest

from colgen import InputError, NodeLimit, Parallel, Termination, solve, solve_many
from tests.assignment import assignment
from tests.parallel.scripted import Scripted

ASKED = [(3, 6, seed) for seed in range(6)]


def made(asked):
    """A module-level function, so that other processes can import it."""
    if asked == "broken":
        raise InputError("an instance: expected three numbers")
    if asked == "deadly":
        os._exit(9)
    return assignment(*asked)


def test_results_equal_those_of_single_runs_in_order():
    alone = [solve(made(asked)) for asked in ASKED]
    many = list(solve_many(ASKED, problem=made, parallel=Parallel(cluster=Scripted(3))))
    assert [one.number for one in many] == list(range(6))
    for one, result in zip(many, alone, strict=True):
        assert one.is_optimal
        assert (one.result.objective, one.result.dual_bound, one.result.answer) == (
            result.objective,
            result.dual_bound,
            result.answer,
        )


def test_processes_solve_the_same():
    many = list(solve_many(ASKED[:3], problem=made, parallel=Parallel(workers=2)))
    assert [one.result.objective for one in many] == [solve(made(asked)).objective for asked in ASKED[:3]]
    assert all(one.result.pool is None for one in many)


@pytest.mark.slow
def test_an_instance_that_ends_its_process_is_named_and_the_others_are_solved():
    many = list(solve_many([ASKED[0], "deadly", *ASKED[1:4]], problem=made, parallel=Parallel(workers=2), retries=1))
    assert [one.is_optimal for one in many] == [True, False, True, True, True]
    assert (many[1].result, many[1].fault) == (None, "its worker was lost 2 times")
    assert many[1].attempts >= 2
    expected = [solve(made(asked)).objective for asked in ASKED[:4]]
    assert [one.result.objective for one in many if one.result is not None] == expected


def test_a_limit_and_a_fault_hold_for_one_instance():
    many = list(
        solve_many(
            [ASKED[0], "broken", ASKED[2]], problem=made, parallel=Parallel(cluster=Scripted(1)), stop=NodeLimit(1)
        )
    )
    assert [one.result is None for one in many] == [False, True, False]
    assert many[1].fault == "an instance: expected three numbers"
    limited = list(solve_many(ASKED[:1], problem=made, parallel=Parallel(cluster=Scripted(1)), time_limit=0))
    assert limited[0].result.termination is Termination.TIME_LIMIT


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"time_limit": -1}, "time_limit: expected"),
        ({"seconds": 3}, "seconds: .*time_limit"),
        ({"retries": 1.5}, "retries: expected"),
        ({"workers": 2}, r"parallel=Parallel\(workers=...\)"),
        ({"parallel": 2}, "parallel: expected a Parallel"),
        ({"problem": 3}, "problem: expected a callable"),
        ({"progress": True}, "progress: solve_many has no such keyword"),
        ({"stop": 3}, "stop: expected"),
        ({"parallel": Parallel(cluster="processes", free_running=True)}, "free_running"),
    ],
)
def test_settings_are_refused_before_any_work(settings, complaint):
    with pytest.raises(InputError, match=complaint):
        solve_many([], **settings)


def test_invalid_clusters_are_refused():
    with pytest.raises(InputError, match="cluster: expected a client of Dask"):
        next(solve_many(ASKED, problem=made, parallel=Parallel(cluster=3)))

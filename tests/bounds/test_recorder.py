"""A node's rounds, timed and written down."""

import time

import pytest

from colgen import AnyOf, IterationLimit, Sense, Solution, Termination
from colgen.bounds.recorder import MASTER, PRICING, SEPARATION, Recorder
from colgen.bounds.run import Run
from solvers.compiling import working_clock


class Counts:
    """All that a recorder asks of a master."""

    num_columns, num_rows = 3, 2


def a_run(sense=Sense.MINIMIZE, *rules):
    run = Run(sense, AnyOf(*rules))
    run.offer(Solution(sense.sign * 10.0), None, "the test")
    return run


@pytest.mark.parametrize("sense", list(Sense))
def test_a_round_is_written_down_as_it_was(sense):
    run, master = a_run(sense), Counts()
    rounds = Recorder(run, master, 7, 2, proves=True)
    rounds.begin()
    master.num_columns, master.num_rows = 5, 3  # added by the round
    assert rounds.write(2, sense.sign * 6.0, sense.sign * 5.0, new_columns=2, misprices=1, duals="pi") is None
    (written,) = run.iterations
    assert (written.number, written.node, written.depth, written.phase) == (0, 7, 2, 2)
    assert (written.objective, written.dual_bound) == (sense.sign * 6.0, sense.sign * 5.0)
    assert (written.columns, written.rows, written.new_columns, written.new_rows) == (3, 2, 2, 1)
    assert (written.misprices, written.duals) == (1, "pi")
    assert written.incumbent == sense.sign * 10.0
    assert written.global_bound == sense.ideal  # a node that is not the root proves nothing of all answers


def test_the_roots_bound_is_one_on_all_answers():
    run = a_run()
    rounds = Recorder(run, Counts(), 0, 0, proves=True)
    rounds.write(1, 1.0, 0.5)  # violations
    rounds.write(2, 9.0, 8.0)
    assert [written.global_bound for written in run.iterations] == [-float("inf"), 8.0]
    assert run.global_bound == 8.0


def test_where_the_relaxation_is_wanted_the_bound_counts_once_it_is_solved():
    run = a_run()
    Recorder(run, Counts(), 0, 0, proves=False).write(2, 9.0, 8.0)
    assert run.global_bound == -float("inf")


def test_laps_count_towards_their_stages():
    run = a_run()
    rounds = Recorder(run, Counts(), 0, 0, proves=True)
    for stage in (MASTER, PRICING, SEPARATION, PRICING):
        time.sleep(0.002)
        rounds.lap(stage)
    rounds.write(2, 9.0, 8.0)
    (written,) = run.iterations
    assert written.master_seconds >= 0.002
    assert written.separation_seconds >= 0.002
    assert written.pricing_seconds >= 0.004
    rounds.begin()
    rounds.write(2, 9.0, 8.0)
    assert run.iterations[1].pricing_seconds == 0.0
    assert run.stage_seconds["pricing"] == written.pricing_seconds


def test_a_round_that_began_earlier():
    rounds = Recorder(run := a_run(), Counts(), 0, 0, proves=True, started=working_clock() - 5.0)
    rounds.lap(PRICING)
    rounds.write(2, 9.0, 8.0)
    assert run.iterations[0].pricing_seconds >= 5.0


def test_a_rule_ends_the_run():
    run = a_run(Sense.MINIMIZE, IterationLimit(2))
    rounds = Recorder(run, Counts(), 0, 0, proves=True)
    assert rounds.write(2, 9.0, 8.0) is None
    assert rounds.write(2, 9.0, 8.0) is Termination.ITERATION_LIMIT

"""The state of a run: incumbent, bounds, and what must not be taken in."""

from __future__ import annotations

import math
import time

import pytest

from colgen import Column, IterationLimit, Sense, Solution, Termination
from colgen.bounding.run import MASTER, PRICING, SEPARATION, Recorder, Run
from colgen.core.errors import InfeasibleAnswerError, InputError, InvalidBoundError
from colgen.core.stop import AnyOf
from colgen.solvers.compiling import working_clock


@pytest.mark.parametrize("sense", list(Sense))
def test_the_best_answer_is_kept(sense):
    run, s = Run(sense, AnyOf()), sense.sign
    assert run.objective == sense.hopeless
    assert run.offer(Solution(s * 12.0), None, "one")
    assert not run.offer(Solution(s * 12.0), None, "another that is as good")
    assert run.offer(Solution(s * 11.0), None, "a better one")
    assert run.objective == s * 11.0
    assert [answer.objective for answer in run.known] == [s * 12.0, s * 11.0]
    assert not run.is_checked  # it is not verified


@pytest.mark.parametrize("sense", list(Sense))
def test_bounds_only_get_tighter(sense):
    run, s = Run(sense, AnyOf(), 1.0), sense.sign
    run.offer(Solution(s * 12.0), None, "one")
    run.prove(s * 9.5)
    assert run.global_bound == s * 10.0  # objectives are whole
    run.prove(s * 7.0)
    assert run.global_bound == s * 10.0
    run.prove(s * 100.0)  # on answers that are better than the incumbent: there is none
    assert run.global_bound == s * 12.0
    assert run.prunes(s * 11.5)
    assert not run.prunes(s * 10.5)
    assert run.target == s * 11.0


def test_infeasible_solutions_raise_errors():
    run = Run(Sense.MINIMIZE, AnyOf(), 1.0)
    with pytest.raises(InfeasibleAnswerError, match="a row is violated"):
        run.offer(Solution(3.0), "a row is violated", "a heuristic")
    with pytest.raises(InputError, match=r"not a multiple of .*objective_step"):
        run.offer(Solution(3.5), None, "a heuristic")
    run.prove(10.0)
    with pytest.raises(InvalidBoundError, match="better than the proved bound"):
        run.offer(Solution(9.0), None, "a heuristic")


def test_the_problems_own_check_has_the_last_word():
    def check(solution):
        if solution.objective > 20.0:
            raise ValueError("too far")
        return round(solution.objective)

    run = Run(Sense.MINIMIZE, AnyOf(), check=check)
    assert run.offer(Solution(12.0 + 1e-9), None, "one")
    assert run.objective == 12.0
    assert run.is_checked
    with pytest.raises(InfeasibleAnswerError, match="computes 11 for it"):
        run.offer(Solution(11.3), None, "one")
    with pytest.raises(InfeasibleAnswerError, match="too far"):
        Run(Sense.MAXIMIZE, AnyOf(), check=check).offer(Solution(21.0), None, "one")


def test_objectives_that_hide_steps_by_rounding_are_accepted():
    run = Run(Sense.MINIMIZE, AnyOf(), 0.1)
    assert run.offer(Solution(30_000_000_000.123456), None, "one whose rounding is more than a millionth of a step")
    with pytest.raises(InputError, match="objective_step"):
        run.offer(Solution(12.35), None, "one that is no multiple")


def test_nested_stages_are_not_counted_twice():
    run = Run(Sense.MINIMIZE, AnyOf())
    with run.stage("outer"), run.stage("inner"):
        run.stage_seconds["pricing"] += 1000.0
    assert run.stage_seconds["outer"] < 1.0
    assert run.stage_seconds["inner"] < 1.0
    assert math.isinf(run.seconds_left)
    assert not run.expired


@pytest.mark.parametrize("sense", list(Sense))
def test_a_constant_hides_no_difference(sense):
    s = sense.sign
    run = Run(sense, AnyOf(), offset=100.0)
    assert run.offer(Solution(100.0 + s * 2.5588235296e-4), None, "one")
    bound = 100.0 + s * 2.5586206898e-4
    assert not run.prunes(bound)
    assert not run.meets(bound, run.objective)
    assert run.offer(Solution(bound), None, "a better one")
    assert run.prunes(bound + s * 1e-14)
    assert Run(sense, AnyOf()).meets(bound, 100.0 + s * 2.5588235296e-4)  # all of an objective counts


def test_rounding_errors_of_costs_that_cancel_out_are_accepted():
    columns = ((Column(3e6, {}, "one"), 1.0), (Column(-3e6, {}, "other"), 1.0))
    run = Run(Sense.MINIMIZE, AnyOf(), check=lambda solution: -2e-10)
    assert run.offer(Solution(0.0, columns), None, "rounding")
    assert run.objective == -2e-10
    with pytest.raises(InfeasibleAnswerError, match=r"computes -0\.0001"):
        Run(Sense.MINIMIZE, AnyOf(), check=lambda solution: -1e-4).offer(Solution(0.0, columns), None, "rounding")


@pytest.mark.parametrize("sense", list(Sense))
def test_a_bound_proves_no_nearer_than_the_answers_terms_are_rounded(sense):
    s = sense.sign
    columns = ((Column(-s * 2.0000002, {}, "one"), 1.0), (Column(s * 1.9999999, {}, "other"), 1.0))
    objective = sum(column.cost for column, _ in columns)
    run = Run(sense, AnyOf())
    assert run.offer(Solution(objective, columns), None, "terms that cancel out")
    assert run.prunes(objective - s * 1e-15)
    assert run.meets(objective - s * 1e-12, objective)
    assert not run.prunes(objective - s * 1e-13)
    assert run.offer(Solution(objective - s * 1e-15), None, "a better one, which is kept")


def test_differences_below_the_rounding_error_do_not_count():
    """An optimum of zero has no size of its own: costs whose terms cancel out leave 1e-15 of it."""
    run = Run(Sense.MINIMIZE, AnyOf(), check=lambda solution: 1e-15, rounding=1e-14)
    assert run.offer(Solution(0.0), None, "one")
    assert run.meets(-5e-15, run.objective)
    assert not run.meets(-5e-14, run.objective)
    assert not run.contradicts(1e-15, run.objective)


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

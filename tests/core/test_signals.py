"""Signals wait until somebody looks."""

import os
import signal
import threading

import pytest

from colgen.core.budget import Budget
from colgen.core.result import Termination
from colgen.core.signals import ended_by, exit_code, handling_signals, holding_signals, raising_signals, was_interrupted


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_a_second_interrupt_is_raised():
    with holding_signals():
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_nobody_who_waits_for_input_has_to_press_twice():
    with holding_signals(), pytest.raises(KeyboardInterrupt), raising_signals():
        interrupt()


def test_an_interrupt_that_came_before_the_wait_is_raised_there():
    with holding_signals():
        interrupt()
        with pytest.raises(KeyboardInterrupt), raising_signals():
            pytest.fail("nobody waits after an interrupt")


def test_an_interrupt_that_no_run_has_seen_ends_the_next_one():
    """A loop over runs too short to look at the clock could not be ended."""
    with holding_signals():
        interrupt()
    with pytest.raises(KeyboardInterrupt), holding_signals():
        pytest.fail("nothing begins after an interrupt that nobody knows of")
    with holding_signals():
        assert not Budget().interrupted


def test_an_interrupt_that_a_run_has_told_of_ends_no_other():
    with holding_signals():
        budget = Budget()
        interrupt()
        assert budget.interrupted
    with holding_signals():
        assert not Budget().interrupted


def test_no_run_of_a_command_begins_after_a_signal():
    """Whoever reads no termination, a bench or a training, solves one instance after the other."""
    with handling_signals():
        with holding_signals():
            budget = Budget()
            os.kill(os.getpid(), signal.SIGTERM)
            assert budget.interrupted
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt), holding_signals():
                pytest.fail("a command goes on after a signal")
    with holding_signals():
        assert not Budget().interrupted


def test_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with holding_signals(), holding_signals():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_somebody_else_s_handler_stays():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with holding_signals():
            interrupt()
            assert not Budget().interrupted
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]


def test_a_command_ends_with_128_and_the_signal():
    with handling_signals(), holding_signals():
        assert not was_interrupted()
        os.kill(os.getpid(), signal.SIGTERM)
        assert was_interrupted()
        assert exit_code() == 128 + signal.SIGTERM
        assert ended_by() == "Terminated by SIGTERM."
    with holding_signals():
        assert ended_by() == "Interrupted by the user."  # of the signal before nothing is left


@pytest.mark.parametrize(("number", "reason"), [(signal.SIGINT, "INTERRUPTED"), (signal.SIGTERM, "TERMINATED")])
def test_a_budget_says_which_signal_has_ended_it(number, reason):
    with handling_signals(), holding_signals():
        budget = Budget()
        os.kill(os.getpid(), number)
        assert budget.reason is Termination[reason]
        assert budget.reason.is_interrupt


def test_threads_leave_signals_alone():
    before, found = signal.getsignal(signal.SIGINT), []

    def work():
        with holding_signals(), handling_signals():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before]

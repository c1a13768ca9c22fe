"""Signals are recorded until a budget is checked."""

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


def test_one_interrupt_ends_a_wait_for_input():
    with holding_signals(), pytest.raises(KeyboardInterrupt), raising_signals():
        interrupt()


def test_an_earlier_interrupt_is_raised_at_a_wait_for_input():
    with holding_signals():
        interrupt()
        with pytest.raises(KeyboardInterrupt), raising_signals():
            pytest.fail("nobody waits after an interrupt")


def test_an_unhandled_interrupt_ends_the_next_run():
    """Otherwise a loop over runs too short to check the clock could not be ended."""
    with holding_signals():
        interrupt()
    with pytest.raises(KeyboardInterrupt), holding_signals():
        pytest.fail("nothing begins after an interrupt that nobody knows of")
    with holding_signals():
        assert not Budget().interrupted


def test_a_reported_interrupt_does_not_end_later_runs():
    with holding_signals():
        budget = Budget()
        interrupt()
        assert budget.interrupted
    with holding_signals():
        assert not Budget().interrupted


def test_no_run_of_a_command_begins_after_a_signal():
    """A benchmark or training that ignores terminations would otherwise continue."""
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


def test_the_handler_is_restored():
    before = signal.getsignal(signal.SIGINT)
    with holding_signals(), holding_signals():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_a_foreign_handler_stays():
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
        assert ended_by() == "Interrupted by the user."  # the earlier signal is cleared


@pytest.mark.parametrize(("number", "reason"), [(signal.SIGINT, "INTERRUPTED"), (signal.SIGTERM, "TERMINATED")])
def test_a_budget_reports_the_signal_that_ended_it(number, reason):
    with handling_signals(), holding_signals():
        budget = Budget()
        os.kill(os.getpid(), number)
        assert budget.reason is Termination[reason]
        assert budget.reason.is_interrupt


def test_threads_do_not_handle_signals():
    before, found = signal.getsignal(signal.SIGINT), []

    def work():
        with holding_signals(), handling_signals():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before]

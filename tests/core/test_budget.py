"""What a run may spend, and signals that wait until somebody looks."""

import math
import os
import signal
import threading

import pytest

from colgen import Termination
from colgen.core.budget import (
    Budget,
    OutOfBudget,
    exit_code,
    handling_signals,
    holding_signals,
    raising_signals,
    was_interrupted,
)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_a_budget_without_limits_never_ends():
    budget = Budget()
    assert budget.reason is None
    assert budget.seconds_left == math.inf
    assert not budget.expired
    budget.require()


def test_time_that_is_used_up():
    budget = Budget(0.0)
    assert budget.reason is Termination.TIME_LIMIT
    assert budget.seconds_left == 0.0
    with pytest.raises(OutOfBudget) as raised:
        budget.require()
    assert raised.value.reason is Termination.TIME_LIMIT


def test_a_run_may_have_begun_before_its_budget():
    begun = Budget().started - 100.0
    assert Budget(50.0, started=begun).expired
    assert Budget(50.0, started=begun).seconds >= 100.0
    assert not Budget(500.0, started=begun).expired


def test_memory_that_is_used_up():
    assert Budget(memory=1.0).reason is Termination.MEMORY_LIMIT


def test_a_part_gets_no_more_than_is_left():
    assert Budget(5.0).capped(100.0).seconds_left <= 5.0
    assert Budget(100.0).capped(5.0).seconds_left <= 5.0
    assert Budget(memory=1.0).capped(5.0).reason is Termination.MEMORY_LIMIT


def test_an_interrupt_waits_until_a_budget_looks():
    with holding_signals():
        before = Budget()
        part = before.capped(10.0)
        interrupt()
        assert before.reason is Termination.INTERRUPTED
        assert before.seconds_left == 0.0
        assert part.interrupted
        assert part.capped(1.0).interrupted
    assert not Budget().interrupted  # a run that begins afterwards knows nothing of it


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


def test_threads_leave_signals_alone():
    before, found = signal.getsignal(signal.SIGINT), []

    def work():
        with holding_signals(), handling_signals():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before]

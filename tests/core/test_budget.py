"""Limits of a run, and signals recorded until a budget is checked."""

import math
import os
import signal

import numpy as np
import pytest

from colgen import Termination
from colgen.core.budget import Budget, OutOfBudget, begin_peak, peak_bytes, resident_bytes
from colgen.core.signals import holding_signals


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_a_budget_without_limits_never_ends():
    budget = Budget()
    assert budget.reason is None
    assert budget.seconds_left == math.inf
    assert not budget.expired
    budget.require()


def test_an_expired_time_limit():
    budget = Budget(0.0)
    assert budget.reason is Termination.TIME_LIMIT
    assert budget.seconds_left == 0.0
    with pytest.raises(OutOfBudget) as raised:
        budget.require()
    assert raised.value.reason is Termination.TIME_LIMIT


def test_a_budget_may_start_in_the_past():
    begun = Budget().started - 100.0
    assert Budget(50.0, started=begun).expired
    assert Budget(50.0, started=begun).seconds >= 100.0
    assert not Budget(500.0, started=begun).expired


def test_an_exceeded_memory_limit():
    assert Budget(memory=1.0).reason is Termination.MEMORY_LIMIT


def test_a_part_gets_at_most_the_remaining_budget():
    assert Budget(5.0).cap(100.0).seconds_left <= 5.0
    assert Budget(100.0).cap(5.0).seconds_left <= 5.0
    assert Budget(memory=1.0).cap(5.0).reason is Termination.MEMORY_LIMIT


def test_an_interrupt_is_recorded_until_a_budget_is_checked():
    with holding_signals():
        before = Budget()
        part = before.cap(10.0)
        interrupt()
        assert before.reason is Termination.INTERRUPTED
        assert before.seconds_left == 0.0
        assert part.interrupted
        assert part.cap(1.0).interrupted
    assert not Budget().interrupted  # later runs are not affected


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="a peak is for good here")
def test_the_peak_can_be_reset():
    held = np.ones(30_000_000)
    before = peak_bytes()
    assert before >= held.nbytes
    del held
    begun = begin_peak()
    assert begun == pytest.approx(resident_bytes(), rel=0.1)
    assert 0.9 * begun < peak_bytes() < before - 150e6
    held = np.ones(20_000_000)
    assert peak_bytes() - begun > 0.9 * held.nbytes

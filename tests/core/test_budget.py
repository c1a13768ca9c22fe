"""What a run may spend, and signals that wait until somebody looks."""

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


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="a peak is for good here")
def test_a_peak_begins_anew():
    held = np.ones(30_000_000)
    before = peak_bytes()
    assert before >= held.nbytes
    del held
    begun = begin_peak()
    assert begun == pytest.approx(resident_bytes(), rel=0.1)
    assert 0.9 * begun < peak_bytes() < before - 150e6
    held = np.ones(20_000_000)
    assert peak_bytes() - begun > 0.9 * held.nbytes

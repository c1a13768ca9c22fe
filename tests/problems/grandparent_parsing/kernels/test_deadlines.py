"""Kernels stop at deadlines, and signal handlers run inside kernels."""

import signal
import time

import pytest
from numba import njit

from colgen.problems.grandparent_parsing.kernels.deadlines import STEPS, expired, watching
from tests.amounts import BUSY


@njit
def counted(most):
    """Count time checks, and stop early if time is up."""
    total, looks, steps = 0.0, 0, 0
    while looks < most:
        total += 1e-9 * total
        steps += 1
        if steps > STEPS:
            steps = 0
            looks += 1
            if expired():
                return looks
    return looks


def test_nothing_expires_outside_of_watching():
    assert counted(3) == 3
    assert not expired()


def test_a_kernel_stops_at_its_next_check():
    counted(1)
    end = time.monotonic() + 0.1
    with watching(lambda: time.monotonic() >= end):
        looks = counted(100_000)
    assert looks < 100_000
    assert time.monotonic() < end + BUSY
    assert counted(2) == 2


def test_watching_can_be_nested():
    with watching(lambda: True):
        with watching(lambda: False):
            assert not expired()
        assert expired()


@pytest.fixture
def alarm():
    before = signal.getsignal(signal.SIGALRM)
    yield lambda handler: (signal.signal(signal.SIGALRM, handler), signal.setitimer(signal.ITIMER_REAL, 0.1))
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def test_handlers_of_signals_run_inside_a_kernel(alarm):
    counted(1)
    seen = []
    alarm(lambda *_: seen.append(True))
    with watching(lambda: bool(seen)):
        assert counted(100_000) < 100_000


def test_exceptions_of_handlers_are_raised(alarm):
    counted(1)

    def interrupt(*_):
        raise KeyboardInterrupt

    alarm(interrupt)
    with pytest.raises(KeyboardInterrupt), watching(lambda: False):
        counted(100_000)

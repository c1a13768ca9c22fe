"""Shares of the work in processes of their own."""

import ctypes
import math
import os
from contextlib import closing

import pytest

from benchmarks.truth.bench import CrashError, _Task, _Workers


def test_a_process_that_crashes_takes_its_share_with_it_and_no_other():
    """Whose code it crashed in is said: in the solver that knows the truth that is no fault of the engine's."""
    with closing(_Workers()) as workers:
        assert workers.run(_Task(math.gcd, (12, 18))) == 6
        with pytest.raises(CrashError, match=r"ctypes/__init__\.py:\d+$"):
            workers.run(_Task(ctypes.string_at, (0,)))
        with pytest.raises(CrashError, match=r"^$"):
            workers.run(_Task(os._exit, (1,)))
        assert workers.run(_Task(math.gcd, (12, 18))) == 6

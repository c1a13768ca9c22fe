"""Tasks run in separate processes."""

import ctypes
import math
import os
from contextlib import closing
from functools import partial

import pytest

from benchmarks.truth.bench import CrashError, _Workers


def test_a_crash_loses_only_the_task_of_its_process():
    """The error names the file of the crash, because a crash of the reference solver is not the engine's fault."""
    with closing(_Workers()) as workers:
        assert workers.run(partial(math.gcd, 12, 18)) == 6
        with pytest.raises(CrashError, match=r"ctypes/__init__\.py:\d+$"):
            workers.run(partial(ctypes.string_at, 0))
        with pytest.raises(CrashError, match=r"^$"):
            workers.run(partial(os._exit, 1))
        assert workers.run(partial(math.gcd, 12, 18)) == 6

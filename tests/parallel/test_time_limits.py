import math
import os
import time

import pytest

from colgen.parallel.time_limits import bounded


def test_it_returns_what_the_function_returns():
    found, seconds = bounded(60.0, sorted, [1, 3, 2], reverse=True)
    assert found == [3, 2, 1]
    assert 0.0 < seconds < 60.0


def test_it_ends_what_does_not_end_by_itself():
    started = time.monotonic()
    assert bounded(0.2, time.sleep, 600.0) == (None, 0.2)
    assert time.monotonic() - started < 100.0


def test_it_raises_what_the_function_raises():
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        bounded(60.0, math.sqrt, -1.0)
    with pytest.raises(RuntimeError, match=r"_exit.*exit code 3"):
        bounded(60.0, os._exit, 3)

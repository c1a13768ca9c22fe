"""Shares of the work in processes of their own."""

import math
import os
from concurrent.futures import BrokenExecutor
from contextlib import closing

import pytest

from problems.truth.bench import _Task, _Workers


def test_a_process_that_crashes_takes_its_share_with_it_and_no_other():
    with closing(_Workers()) as workers:
        assert workers.run(_Task(math.gcd, (12, 18))) == 6
        with pytest.raises(BrokenExecutor):
            workers.run(_Task(os._exit, (1,)))
        assert workers.run(_Task(math.gcd, (12, 18))) == 6

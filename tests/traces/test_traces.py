"""Runs repeat their recorded traces: counts exactly, values to 1e-9.

After a change that is meant to alter runs, record them again (``python -m tests.traces.traces``) and states why.
"""

import json
import time

import pytest

from tests.traces.runs import runs
from tests.traces.traces import RECORDED, record, slow_clock

RUNS = runs()
TRACES = json.loads(RECORDED.read_text(encoding="utf-8"))

VALUES = ("objective", "dual_bound", "root_bound", "objectives", "bounds", "node_bounds")


def test_every_run_is_recorded():
    assert set(RUNS) == set(TRACES)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_what_was_recorded(name):
    traced, recorded = record(RUNS[name]), TRACES[name]
    for part in recorded.keys() - set(VALUES):
        assert traced[part] == recorded[part], part
    for part in VALUES:
        assert numbers(traced[part]) == pytest.approx(numbers(recorded[part]), rel=1e-9, abs=1e-9), part


def numbers(values):
    return [float(value) for value in (values if isinstance(values, list) else [values])]


def test_a_slow_clock_hardly_moves():
    with slow_clock():
        began = time.monotonic()
        time.sleep(0.05)
        passed = time.monotonic() - began
    assert 0 < passed < 0.01

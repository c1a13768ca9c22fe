"""The benchmark of the demo counts the rows in which brute force is faster."""

import dataclasses

import pytest

from benchmarks.harness import BenchOptions
from benchmarks.runs import demo as bench
from colgen.cli.demonstration import _heading, _row
from tests.cli.stub import STUB, demo


def test_rows_in_which_brute_force_is_faster_are_counted(monkeypatch):
    lines = (demo(), demo(brute_force_seconds=0.001), demo(brute_force_seconds=None))
    monkeypatch.setattr(bench, "template_names", lambda: ["one", "two"])
    monkeypatch.setattr(bench, "load_template", lambda name: dataclasses.replace(STUB, demo=lines))
    monkeypatch.setattr(bench, "first_row_seconds", lambda: 7.5)
    said = []
    first, slower = bench.bench_demo(BenchOptions(None, False, said.append))
    assert (first.name, first.value) == ("demo_first_row_seconds", 7.5)
    assert (slower.name, slower.value, slower.n) == ("demo_slower", 2, 6)
    assert len(said) == 7
    assert bench.bench_demo(BenchOptions(None, True, said.append))[1].n == 2


def test_the_first_row_is_the_first_line_that_compares_times():
    assert not bench.is_row("Small instances by column generation, compared with brute force. Proved optimal\n")
    assert not bench.is_row(_heading("stub", "all of them")[-1] + "\n")
    for seconds in (0.5, 0.001):
        assert bench.is_row(_row(demo(brute_force_seconds=seconds)())[-1] + "\n")


@pytest.mark.slow
def test_the_demo_starts_without_compiled_kernels():
    assert bench.first_row_seconds() > 1.0

"""The measurement of columns runs and counts every column."""

from benchmarks.engine.columns import column_figures
from benchmarks.harness import BenchOptions


def test_every_way_is_measured():
    lines = []
    figures = {figure.name: figure for figure in column_figures(BenchOptions(quick=True, say=lines.append))}
    assert set(figures) == {"microseconds_per_column", "microseconds_per_single_column", "bytes_per_column"}
    assert figures["bytes_per_column"].n == 3000
    assert 0 < figures["bytes_per_column"].value <= 300
    assert all(figure.value > 0 for figure in figures.values())
    assert len(lines) == 1

"""The benchmark of bounding methods returns its figures."""

import types

import pytest

from benchmarks.cutting_stock import bounding
from benchmarks.engine.covering import covers
from colgen import ColumnGeneration
from colgen.bounding.volume import Volume


@pytest.mark.parametrize("worth", [498.1, 0.0, -498.1])
def test_bounds_may_exceed_the_optimum_only_by_rounding(monkeypatch, worth):
    monkeypatch.setattr(bounding, "solve", lambda problem, **how: types.SimpleNamespace(dual_bound=worth))
    assert bounding.time_to_bound(None, ColumnGeneration())[1] == worth  # its own bound is none that it beats
    assert bounding.time_to_bound(None, Volume(1), worth)[1] == worth
    with pytest.raises(AssertionError, match="known optimum has a solution"):
        bounding.time_to_bound(None, Volume(1), worth - 0.1)


@pytest.mark.slow
def test_figures_of_small_instances(monkeypatch):
    monkeypatch.setattr(bounding, "covers", lambda rows, columns, seed: covers(30, 1000, seed))
    options = types.SimpleNamespace(quick=True, say=lambda text: None)
    figures = {figure.name: figure.value for figure in bounding.bench_bounding(options)}
    assert {"volume_vs_simplex", "bundle_vs_simplex", "volume_vs_simplex_assignment"} <= figures.keys()
    assert all(value >= 0.0 for value in figures.values())

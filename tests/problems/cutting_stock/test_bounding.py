"""The benchmark of boundings has the figures that are promised of it."""

import types

import pytest

from problems.cutting_stock import bounding
from problems.cutting_stock.covering import covers


@pytest.mark.slow
def test_figures_of_small_instances(monkeypatch):
    monkeypatch.setattr(bounding, "covers", lambda rows, columns, seed: covers(30, 1000, seed))
    options = types.SimpleNamespace(quick=True, say=lambda text: None)
    figures = {figure.name: figure.value for figure in bounding.bench_bounding(options)}
    assert {"volume_vs_simplex", "bundle_vs_simplex", "volume_vs_simplex_assignment"} <= figures.keys()
    assert all(value >= 0.0 for value in figures.values())

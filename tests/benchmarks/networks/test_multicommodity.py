"""The benchmark of multicommodity flow on a small network of its own."""

import numpy as np
import pytest

from benchmarks.harness import BenchOptions
from benchmarks.networks import multicommodity
from tests.networks.flow_programs import network


@pytest.fixture
def folder(tmp_path):
    """Return a folder with one network and its optimum."""
    made = network(2, commodities=5)
    lines = [str(made.vertices), str(len(made.tails)), str(len(made.demands))]
    capacities = np.where(np.isfinite(made.capacities), made.capacities, -1)
    for row in zip(made.tails + 1, made.heads + 1, made.costs, capacities, strict=True):
        lines.append(" ".join(map(str, row)))
    for row in zip(made.origins + 1, made.destinations + 1, made.demands, strict=True):
        lines.append(" ".join(map(str, row)))
    (tmp_path / "grid1").write_text("\n".join(lines))
    (tmp_path / "optima.csv").write_text(f"instance,optimum\ngrid1,{made.optimum():.3f}\n")
    return tmp_path


def test_figures_of_a_small_network(folder, monkeypatch):
    monkeypatch.setattr(multicommodity, "_UNSPLITTABLE", ("grid1",))
    monkeypatch.setattr(multicommodity, "_COMPARED", ("grid1",))
    monkeypatch.setattr(multicommodity, "_GROWING", "grid1")
    monkeypatch.setattr(multicommodity, "_PARTS", (2, 1))
    lines = []
    figures = multicommodity.multicommodity(folder, BenchOptions(say=lines.append))
    values = {figure.name: figure.value for figure in figures}
    assert values["multicommodity_equal"] == 1
    assert values["multicommodity_grid1_vs_highs"] > 0
    assert np.isfinite(values["multicommodity_unsplittable_grid1_seconds"])
    assert "multicommodity_growth" in values

"""The benchmark of learning on its smallest instances."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.learning import accuracy, bench, estimators
from benchmarks.learning.overhead import overhead_figures
from benchmarks.learning.reference import labellings, nearest_mean, trees

DATA = Path(__file__).parents[4] / "shared" / "data"


def values(figures):
    return {figure.name: figure.value for figure in figures}


def test_means_and_marginals_are_those_of_the_references():
    found = values([*bench._compare_with_reference(0.1), *bench._compare_with_enumeration(0.1)])
    assert found["sparsemap_vs_reference"] <= 1e-6
    assert found["marginals"] <= 1e-9


def test_references_list_every_structure():
    assert len(list(labellings(3, 2))) == 8
    assert len(list(trees(4))) == 5**3  # Cayley's formula for rooted trees
    assert len(list(trees(4, single_root=True))) == 4 * 4**2
    assert len(list(trees(3, projective=True))) == 12
    assert nearest_mean(np.eye(2), np.array([1.5, 1.0])) == pytest.approx([0.75, 0.25])


def test_modularity_of_graphs_is_optimal(monkeypatch):
    pytest.importorskip("sklearn", reason="the extra 'learning' is not installed")
    few = {name: estimators._BUILT_IN[name] for name in ("karate", "florentine families")}
    monkeypatch.setattr(estimators, "_BUILT_IN", few)
    lines = []
    assert values(estimators.modularity_figures(None, lines.append)) == {"modularity_graphs_optimal": 2.0}
    assert len(lines) == 4  # two graphs, and two files that are missing


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the corpora are not beside the project")
@pytest.mark.parametrize("part", [accuracy.tagging_figures, accuracy.parsing_figures, accuracy.second_order_figures])
def test_every_trainer_learns_something(part):
    found = values(part(DATA, 0.05, lambda line: None))
    assert min(value for name, value in found.items() if name.startswith("accuracy")) > 20.0


def test_the_overhead_of_the_parser_has_one_row_for_each_kind_of_trees():
    worst, *each = overhead_figures(0.01)
    assert [figure.name.partition(" ")[0] for figure in (worst, *each)] == ["parse_batch_overhead"] * 5
    assert worst.value == max(figure.value for figure in each)

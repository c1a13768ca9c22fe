"""Pruning by bounds on neighbours, against all labellings."""

import numpy as np
import pytest

from colgen.problems.chain_map.kernels import tree_pruning
from colgen.problems.chain_map.kernels.tree_labels import best_labels
from colgen.problems.chain_map.kernels.tree_pruning import fill_below, prune_by_bounds
from tests.solvers.small_forests import draw, labellings, rows
from tests.sweeps import seeds


@pytest.mark.parametrize("slack", [0.0, 0.7])
@pytest.mark.parametrize("seed", seeds(30))
def test_pruning_keeps_labellings_within_the_slack(seed, slack):
    forest, scores, tables = draw(seed)
    domains = prune_by_bounds(forest, scores, tables, slack)
    fill_below(forest, scores, rows(tables), domains)
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    for tree in range(2):
        found = labellings(forest, scores, tables, tree)
        assert values[tree] == pytest.approx(found[0][0])
        for score, chosen in found:
            if score > found[0][0] - slack + 1e-9:
                for i, x in enumerate(chosen):
                    node = forest.starts[tree] + i
                    assert x in domains.labels[slice(*domains.starts[node : node + 2])]


@pytest.mark.parametrize("seed", range(10))
def test_pruning_in_pieces_equals_one_call(seed, monkeypatch):
    forest, scores, tables = draw(seed)
    whole, looks = prune_by_bounds(forest, scores, tables), []
    monkeypatch.setattr(tree_pruning, "_SCORES_PER_CHECK", 1)
    pieces = prune_by_bounds(forest, scores, tables, require=lambda: looks.append(1))
    assert len(looks) == forest.num_nodes
    assert (pieces.starts.tolist(), pieces.labels.tolist()) == (whole.starts.tolist(), whole.labels.tolist())

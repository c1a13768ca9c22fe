"""Best changes of one label, compared with enumeration; best labellings are tested with the domains."""

import numpy as np
import pytest

from colgen.problems.chain_map.kernels import tree_labels
from colgen.problems.chain_map.kernels.tree_labels import best_flips, best_labels, runner_up, score_labels, scores_match
from colgen.solvers.chains.tree_domains import exchange, sweep
from tests.solvers.small_forests import draw, labellings, rows
from tests.sweeps import seeds


@pytest.mark.parametrize("seed", seeds(30))
def test_flips_equal_the_best_change_of_one_label(seed):
    forest, scores, tables = draw(seed)
    domains = sweep(forest, scores, rows(tables), exchange(tables))
    labels, values, lost = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    best_flips(forest, scores, rows(tables), labels, values, lost)
    for tree in range(2):
        mine = tuple(labels[slice(*forest.starts[tree : tree + 2])].tolist())
        near = [
            values[tree] - score
            for score, other in labellings(forest, scores, tables, tree)
            if sum(a != b for a, b in zip(mine, other, strict=True)) == 1
        ]
        assert lost[tree] == pytest.approx(min(near, default=np.inf))


@pytest.mark.parametrize("seed", seeds(10))
def test_stated_scores_are_recomputed(seed):
    """Exactly, and for valid labels only; a tree without a labelling does not match."""
    forest, scores, tables = draw(seed)
    domains = sweep(forest, scores, rows(tables), exchange(tables))
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    there = bool((labels >= 0).all())
    score_labels(forest, scores, rows(tables), labels, values)  # summed as exactly
    assert scores_match(forest, scores, rows(tables), labels, values) == there
    for tree in range(2):
        other = values.copy()
        other[tree] = np.nextafter(values[tree], np.inf) if there else 0.0
        assert not scores_match(forest, scores, rows(tables), labels, other)
    for node, label in ((0, -1), (len(labels) - 1, scores.shape[1])):
        wrong = labels.copy()
        wrong[node] = label
        assert not scores_match(forest, scores, rows(tables), wrong, values)


@pytest.mark.parametrize("seed", seeds(30))
def test_values_of_best_and_second_best_labellings_equal_their_scores(seed):
    """Exactly: labels summed in another order have another score, which a bound need not equal."""
    rng = np.random.default_rng(seed)
    forest, scores, tables = draw(seed)
    scores = 1e5 * rng.normal(size=scores.shape)
    domains = sweep(forest, scores, rows(tables), exchange(tables), np.full(2, np.inf))
    labels, values, again = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    score_labels(forest, scores, rows(tables), labels, again)
    np.testing.assert_array_equal(values, again)
    others, second = runner_up(forest, scores, rows(tables), domains)
    score_labels(forest, scores, rows(tables), others, again)
    np.testing.assert_array_equal(second, again)


class OverError(Exception):
    pass


@pytest.mark.parametrize("seed", range(10))
def test_the_clock_is_checked_between_pieces_without_changing_results(seed, monkeypatch):
    forest, scores, tables = draw(seed)
    domains = sweep(forest, scores, rows(tables), exchange(tables), np.full(2, 100.0))
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)

    def both(require):
        lost = np.empty(2)
        best_flips(forest, scores, rows(tables), labels, values, lost, require)
        return [lost.tolist(), *(a.tolist() for a in runner_up(forest, scores, rows(tables), domains, require))]

    whole, looks = both(lambda: None), []
    monkeypatch.setattr(tree_labels, "_SCORES_PER_CHECK", 1)
    assert both(lambda: looks.append(1)) == whole
    assert len(looks) == 2 * forest.num_nodes + 1

    def late():
        looks.pop()
        if not looks:
            raise OverError

    with pytest.raises(OverError):
        both(late)

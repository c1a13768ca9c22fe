"""Domains of trees after a sweep, against all labellings."""

import itertools

import numpy as np
import pytest

from colgen.problems.chain_map.kernels.tree_labels import best_labels, runner_up
from colgen.solvers.chains import tree_domains
from colgen.solvers.chains.forest import chains
from colgen.solvers.chains.tree_domains import count_pairs, exchange, sweep
from colgen.solvers.chains.viterbi import viterbi
from colgen.solvers.vectors import padded
from tests.solvers.small_forests import draw, labellings, rows
from tests.sweeps import seeds


def test_exchange_checks_the_time(monkeypatch):
    tables = np.random.default_rng(0).normal(size=(2, 5, 5))
    tables[1, 2, 3] = -np.inf
    whole, asked = exchange(tables), []
    monkeypatch.setattr(tree_domains, "_CHUNK", 50)
    assert (exchange(tables, lambda: asked.append(1)) == whole).all()
    assert len(asked) == 6  # two rows at a time

    def spent():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        exchange(tables, spent)


@pytest.mark.parametrize("seed", range(10))
def test_exchange_is_the_greatest_gain(seed):
    rng = np.random.default_rng(seed)
    num = int(rng.integers(1, 20))
    tables = rng.normal(size=(2, num, num))
    if seed % 2:
        tables[rng.random(tables.shape) < 0.3] = -np.inf
    found = exchange(tables)
    assert found.shape == (2 * num, padded(num))
    assert (found[:, num:] == -np.inf).all()
    for k, x, other in itertools.product(range(2), range(num), range(num)):
        gains = [
            tables[k, other, y] - tables[k, x, y] if tables[k, x, y] > -np.inf else np.inf
            for y in range(num)
            if tables[k, other, y] > -np.inf
        ]
        expected = -np.inf if x == other else max(gains, default=-np.inf)
        assert found[k * num + x, other] == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [np.float32, float])
@pytest.mark.parametrize("slack", [0.0, 0.7, 100.0])
@pytest.mark.parametrize("seed", seeds(40))
def test_sweep_keeps_labels_within_the_slack(seed, slack, dtype):
    forest, scores, tables = draw(seed, dtype)
    domains = sweep(forest, scores, rows(tables), exchange(tables), np.full(2, slack))
    kept = [set(domains.labels[slice(*domains.starts[i : i + 2])].tolist()) for i in range(forest.num_nodes)]
    assert all(len(mine) == size for mine, size in zip(kept, np.diff(domains.starts), strict=True))
    labels, values = np.empty(forest.num_nodes, dtype=np.int32), np.empty(2)
    best_labels(forest, scores, rows(tables), domains, np.arange(2), labels, values)
    others, second = runner_up(forest, scores, rows(tables), domains)
    for tree in range(2):
        first, end = forest.starts[tree : tree + 2]
        found = labellings(forest, scores, tables, tree)
        assert values[tree] == pytest.approx(found[0][0], abs=1e-5)
        for score, chosen in found:
            if score > found[0][0] - slack + 1e-5:
                assert all(x in kept[first + i] for i, x in enumerate(chosen))
        if len(found) > 1 and found[1][0] > found[0][0] - slack + 1e-5:
            assert second[tree] == pytest.approx(found[1][0], abs=1e-5)
            assert {c: s for s, c in found}[tuple(others[first:end].tolist())] == pytest.approx(second[tree], abs=1e-5)


def test_a_labelling_that_loses_exactly_the_slack_is_kept_despite_penalties():
    # The second best labelling is (1, 0): the rounding errors of numbers near zero vanish relative to its score.
    tables = np.array([[[0.0, 0.0], [1.0, 0.0]]])
    scores = np.array([[0.0, -1e12], [0.0, -1e12]])
    domains = sweep(chains(np.array([2])), scores, rows(tables), exchange(tables), np.array([1e12 - 1.0]))
    assert sorted(domains.labels[: domains.starts[1]].tolist()) == [0, 1]


def test_pairs_are_counted():
    forest = chains(np.array([3, 1]))
    assert count_pairs(forest, np.array([0, 2, 5, 6, 10])) == 2 * 3 + 3 * 1 + 4


@pytest.mark.parametrize(("labels", "strength"), [(5, 0.3), (5, 0.5), (17, 0.2), (17, 0.5), (20, 0.1)])
def test_both_labels_of_a_child_are_considered(labels, strength):
    """Many chains; in some, removing a label because of one of the two labels below it would be wrong."""
    rng, count, length = np.random.default_rng(1), 400, 8
    scores = (2.0 * rng.normal(size=(count * length, labels))).astype(np.float32)
    tables = (strength * rng.normal(size=(labels, labels))).astype(np.float32)
    best, _ = viterbi(scores, length * np.arange(count + 1), tables)
    domains = sweep(chains(np.full(count, length)), scores, tables, exchange(tables[None]))
    owners = np.repeat(np.arange(len(scores)), np.diff(domains.starts))
    kept = np.zeros(scores.shape, dtype=bool)
    kept[owners, domains.labels] = True
    assert kept[np.arange(len(best)), best].all()
    assert (np.diff(domains.starts) == 2).mean() > 0.05

"""Quadratic optimisation over subsets against all subsets and all packings."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import colgen.solvers.clusters.subset as kernel
from colgen.solvers.clusters.subset import ascend, promising, search
from tests.sweeps import seeds

SEEDS = seeds(90)
SCALES = [1e-6, 1.0, 1.0, 1e6]
LEAST = 1e-9


def draw(seed, most=7):
    """Scores and profits of any sign; a scale."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    scores = [
        rng.integers(-2, 3, (n, n)).astype(float),  # ties
        rng.normal(size=(n, n)),
        rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.5),
    ][seed % 3]
    scores = np.triu(scores, 1)
    scores = scores + scores.T
    profits = [
        rng.integers(-3, 3, n).astype(float),
        rng.normal(size=n),
        -0.5 * np.maximum(scores, 0.0).sum(axis=1),  # as at the end of column generation
        -np.abs(rng.normal(size=n)),
    ][seed // 3 % 4]
    scale = SCALES[seed // 12 % 4]
    return scale * scores, scale * profits, scale


def worth(scores, profits, members):
    chosen = np.flatnonzero(members).tolist()
    pairs = sum(scores[i, j] for i in chosen for j in chosen if i < j)
    return float(pairs + sum(profits[i] for i in chosen))


def subsets(n):
    return [np.array([k >> i & 1 for i in range(n)], dtype=bool) for k in range(1, 2**n)]


def satisfies_facts(scores, profits, members):
    """Facts 1 and 2, from their definitions."""
    chosen = np.flatnonzero(members)
    slack = -1e-12 * max(np.abs(scores).max(), np.abs(profits).max())
    if any(scores[i, chosen].sum() + profits[i] < slack for i in chosen):
        return False
    return connected_components(scores[np.ix_(chosen, chosen)] > 0.0, directed=False)[0] == 1


def best_packing(scores, profits):
    """Return the largest value of disjoint subsets, by recursion on the subset of the first item."""
    n = len(profits)
    value = {k: worth(scores, profits, [k >> i & 1 for i in range(n)]) for k in range(2**n)}
    best = [0.0] * 2**n
    for k in range(1, 2**n):
        first = k & -k
        rest = part = k ^ first
        best[k] = best[rest]
        while True:
            best[k] = max(best[k], value[part | first] + best[rest ^ part])
            if not part:
                break
            part = (part - 1) & rest
    return best[-1]


def check_found(scores, profits, found, least, scale):
    assert found.members.shape == (len(found.values), len(profits))
    for members, value in zip(found.members, found.values, strict=True):
        assert value == pytest.approx(worth(scores, profits, members), rel=1e-9, abs=1e-12 * scale)
        assert value > least
    assert (np.diff(found.values) <= 0.0).all()


def check_bounds(scores, profits, found, scale):
    values = [worth(scores, profits, m) for m in subsets(len(profits)) if satisfies_facts(scores, profits, m)]
    slack = 1e-10 * scale
    assert found.best >= max(values, default=0.0) - slack
    assert found.total >= max(worth(scores, profits, m) for m in subsets(len(profits))) - slack
    assert found.total >= best_packing(scores, profits) - slack


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_exact_search(seed):
    scores, profits, scale = draw(seed)
    found = search(scores, profits, least=LEAST)
    assert found.complete
    check_found(scores, profits, found, LEAST, scale)
    check_bounds(scores, profits, found, scale)
    # The bound is reached: by the subset that is best, or by none of any worth.
    assert found.best == pytest.approx(max([LEAST, *found.values]))
    every = max(worth(scores, profits, m) for m in subsets(len(profits)))
    assert found.best <= max(every, LEAST) + 1e-10 * scale
    if every > LEAST and satisfies_facts(scores, profits, max(subsets(len(profits)), key=lambda m: m.sum())):
        assert len(found.values)


@pytest.mark.parametrize("levels", [0, 1, 3, 40])
@pytest.mark.parametrize("chunk", [1, 2, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_naive_resumed_search(seed, chunk, levels, monkeypatch):
    """After the first few nodes the search looks for the best shares, on a given number of levels."""
    monkeypatch.setattr(kernel, "SHORT", chunk)
    monkeypatch.setattr(kernel, "_SHARING_CHUNK", chunk)
    monkeypatch.setattr(kernel, "_LEVELS", levels)
    scores, profits, scale = draw(seed)
    found = search(scores, profits, least=LEAST)
    assert found.complete
    check_found(scores, profits, found, LEAST, scale)
    check_bounds(scores, profits, found, scale)


LIMITS = [{"expired": lambda: True}, {"enough": 1}, {"enough": 4}, {"most": 1}, {"most": 5}, {"enough": 3, "most": 6}]


@pytest.mark.parametrize("limit", LIMITS, ids="-".join)
@pytest.mark.parametrize("seed", SEEDS)
def test_naive_stopped_search(seed, limit, monkeypatch):
    monkeypatch.setattr(kernel, "SHORT", 2)
    monkeypatch.setattr(kernel, "_SHARING_CHUNK", 2)
    scores, profits, scale = draw(seed)
    found = search(scores, profits, least=LEAST, **limit)
    check_found(scores, profits, found, LEAST, scale)
    check_bounds(scores, profits, found, scale)
    if "enough" in limit and "most" not in limit:
        assert found.complete or len(found.values)


def test_a_search_continues_until_the_target_is_found(monkeypatch):
    monkeypatch.setattr(kernel, "SHORT", 2)
    monkeypatch.setattr(kernel, "_SHARING_CHUNK", 2)
    scores, profits, scale = draw(SEEDS[0])
    assert not search(scores, profits, least=LEAST, enough=1).complete
    assert search(scores, profits, least=LEAST, enough=1, wanted=1e3 * scale * len(profits) ** 2).complete


def test_a_stopped_search_is_not_complete():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.normal(size=(30, 30)), 1)
    scores = upper + upper.T
    found = search(scores, np.zeros(30), most=1)
    assert not found.complete
    assert found.nodes <= 2
    whole = search(scores, np.zeros(30))
    assert whole.complete
    assert found.best >= whole.best - 1e-9
    assert found.total >= whole.best - 1e-9
    assert whole.nodes > found.nodes


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_ascent(seed):
    scores, profits, scale = draw(seed)
    n = len(profits)
    items = np.flatnonzero(np.random.default_rng(seed).random(n) < 0.7)
    found = ascend(scores, profits, items, least=LEAST)
    check_found(scores, profits, found, LEAST, scale)
    assert len({members.tobytes() for members in found.members}) == len(found.members)
    assert (found.best, found.total, found.complete) == (np.inf, np.inf, False)
    for item in items:  # at least as good as the best pair, which is a chain of one flip, and as the item itself
        alone = np.arange(n) == item
        pair = max(worth(scores, profits, alone | (np.arange(n) == k)) for k in range(n))
        if pair > LEAST + 1e-9 * scale:
            assert found.members[:, item].any()
            assert found.values[0] >= pair - 1e-9 * scale
    # Each is a local optimum: no other item but the one that had to stay gains by a flip.
    for members, value in zip(found.members, found.values, strict=True):
        gains = [worth(scores, profits, members ^ (np.arange(n) == k)) - value for k in range(n)]
        assert sum(gain > 1e-9 * scale for gain in gains) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_naive_promising_items(seed):
    scores, profits, scale = draw(seed)
    left = promising(scores, profits)
    best = max(
        (worth(scores, profits, m) for m in subsets(len(profits)) if satisfies_facts(scores, profits, m)), default=0.0
    )
    # Dropped items are in no subset that satisfies fact 1, or do not change its value.
    inside = [worth(scores, profits, m) for m in subsets(len(profits)) if not (m & ~left).any()]
    assert max([0.0, *inside]) >= best - 1e-10 * scale


@given(st.integers(0, 10**6), st.sampled_from([1, 3, 1 << 20]))
def test_bounds_hold_however_it_is_cut(seed, chunk):
    scores, profits, scale = draw(seed, most=6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "SHORT", chunk)
        found = search(scores, profits, least=LEAST)
    check_found(scores, profits, found, LEAST, scale)
    check_bounds(scores, profits, found, scale)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_optimum_is_proved_at_every_scale(scale):
    """Planted clusters priced at half of what their items score: no subset has a positive value."""
    member = np.arange(30) % 3
    scores = scale * np.where(member[:, None] == member, 1.0, -1.0)
    np.fill_diagonal(scores, 0.0)
    profits = -0.5 * np.maximum(scores, 0.0).sum(axis=1)
    found = search(scores, profits, least=1e-10 * scale)
    assert found.complete
    assert not len(found.values)
    assert 0.0 <= found.total <= 1e-8 * scale


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("seed", range(5))
def test_best_shares_at_every_scale(seed, scale, monkeypatch):
    """The same search with and without them: the same subset, and a bound that holds."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.choice([-1.0, 1.0], (18, 18)), 1)
    scores = scale * (upper + upper.T)
    profits = -0.45 * np.maximum(scores, 0.0).sum(axis=1) + scale * 0.2 * rng.random(18)
    plain = search(scores, profits, least=1e-9 * scale)
    monkeypatch.setattr(kernel, "SHORT", 1)
    shared = search(scores, profits, least=1e-9 * scale)
    assert plain.complete
    assert shared.complete
    assert shared.best == pytest.approx(plain.best, rel=1e-9)
    for found in (plain, shared):
        check_found(scores, profits, found, 1e-9 * scale, scale)
    stopped = search(scores, profits, least=1e-9 * scale, most=1)
    assert stopped.total >= plain.best * (1 - 1e-9)


def test_trivial_instances():
    nothing = search(np.empty((0, 0)), np.empty(0))
    assert (len(nothing.values), nothing.total, nothing.complete) == (0, 0.0, True)
    assert nothing.members.shape == (0, 0)
    alone = search(np.zeros((1, 1)), np.array([2.0]))
    assert (alone.members.tolist(), alone.values.tolist(), alone.best) == ([[True]], [2.0], 2.0)
    assert alone.total == pytest.approx(2.0)
    for profits in (np.zeros(4), -np.ones(4)):
        worthless = search(-np.ones((4, 4)) + np.eye(4), profits)
        assert not len(worthless.values)
        assert worthless.total == 0.0
        assert not promising(np.zeros((4, 4)), profits).any()
        assert not len(ascend(np.zeros((4, 4)), profits, np.arange(4)).values)
    separate = search(np.zeros((3, 3)), np.array([1.0, -1.0, 2.0]))  # two subsets, not one
    assert sorted(separate.values.tolist()) == [1.0, 2.0]
    assert separate.total == pytest.approx(3.0)
    none = ascend(np.ones((3, 3)) - np.eye(3), np.ones(3), np.arange(0))
    assert none.members.shape == (0, 3)


def test_equal_scores():
    scores = np.ones((12, 12)) - np.eye(12)
    found = search(scores, np.full(12, -5.0))  # 66 - 60
    assert found.values[0] == pytest.approx(6.0)
    assert found.members[0].all()
    assert found.best == pytest.approx(6.0)


def test_rounding_errors_do_not_make_a_chain_endless():
    rng = np.random.default_rng(1)
    upper = np.triu(rng.normal(size=(25, 25)), 1) * 1e15
    scores = upper + upper.T
    for _ in range(20):
        profits = -0.3 * rng.random(25) * np.abs(scores).sum(axis=1)
        found = ascend(scores, profits, np.arange(25))
        for members, value in zip(found.members, found.values, strict=True):
            assert value == pytest.approx(worth(scores, profits, members), rel=1e-9)


@pytest.mark.slow
def test_without_compilation():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-k", "naive", __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

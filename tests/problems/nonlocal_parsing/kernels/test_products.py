"""Products of arcs: bounds from both sides, subgradients, simplification."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.nonlocal_parsing.kernels.products import (
    absorb,
    descend,
    gaps,
    grouped_tilt,
    project_shares,
    simplify,
    slope,
    start_at,
    tighten_below,
    tilt,
    value,
)
from colgen.solvers.linear.simplex_projection import project
from tests.problems.nonlocal_parsing.trees import answers, instances


def arrays(instance):
    factors = instance.nonlocal_factors
    return factors.start.copy(), factors.arcs.copy(), factors.scores.copy()


def random_shares(start, rng):
    p = np.empty(start[-1])
    for first, end in itertools.pairwise(start):
        p[first:end] = project(rng.normal(size=end - first))
    return p


def linear(start, arcs, scores, p, size, heads, lower):
    total = np.zeros(size * size)
    constant = tilt(start, arcs, scores, p, lower, total)
    return constant + sum(total[h * size + m] for m, h in enumerate(heads, 1))


@given(instance=instances(orders=(1,)), seed=st.integers(0, 100))
def test_the_products_lie_between_their_bounds(instance, seed):
    start, arcs, scores = arrays(instance)
    p = random_shares(start, np.random.default_rng(seed))
    size = instance.parts.size
    for heads in answers(instance)[:30]:
        tree = np.array([-1, *heads])
        exact = value(start, arcs, scores, tree)
        held = [all(heads[a % size - 1] == a // size for a in arcs[s:e]) for s, e in itertools.pairwise(start)]
        assert exact == pytest.approx(sum(score for score, all_held in zip(scores, held, strict=True) if all_held))
        upper = linear(start, arcs, scores, p, size, heads, lower=False)
        assert upper >= exact - 1e-9
        assert linear(start, arcs, scores, p, size, heads, lower=True) <= exact + 1e-9
        gap = np.empty(len(scores))
        assert gaps(start, arcs, scores, p, tree, gap) == pytest.approx(upper - exact, abs=1e-9)
        assert (gap >= -1e-9).all()


@given(instance=instances(orders=(1,)), seed=st.integers(0, 100))
def test_the_lower_bound_can_be_made_tight(instance, seed):
    start, arcs, scores = arrays(instance)
    p = random_shares(start, np.random.default_rng(seed))
    for heads in answers(instance)[:10]:
        tree = np.array([-1, *heads])
        tighten_below(start, arcs, scores, p, tree)
        below = linear(start, arcs, scores, p, instance.parts.size, heads, lower=True)
        assert below == pytest.approx(value(start, arcs, scores, tree), abs=1e-9)


@given(instance=instances(orders=(1,)), seed=st.integers(0, 100), scaled=st.booleans(), length=st.floats(1e-4, 10.0))
def test_steps_bring_the_bound_down_at_their_tree(instance, seed, scaled, length):
    start, arcs, scores = arrays(instance)
    p = random_shares(start, np.random.default_rng(seed))
    for heads in answers(instance)[:5]:
        tree = np.array([-1, *heads])
        before = linear(start, arcs, scores, p, instance.parts.size, heads, lower=False)
        norm = slope(start, arcs, scores, p, tree, scaled)
        moved = p.copy()
        descend(start, arcs, scores, moved, tree, length, scaled)
        after = linear(start, arcs, scores, moved, instance.parts.size, heads, lower=False)
        assert after <= before + 1e-9
        for c, (first, end) in enumerate(itertools.pairwise(start)):
            assert moved[first:end].min() >= -1e-12
            if scores[c] > 0.0:
                assert moved[first:end].sum() == pytest.approx(1.0)
            else:
                assert moved[first] <= 1.0
        if norm == 0.0:
            assert after == pytest.approx(before, abs=1e-9)


@given(instance=instances(orders=(1,)))
def test_simplification_keeps_every_tree_s_score(instance):
    start, arcs, scores = arrays(instance)
    size = instance.parts.size
    arc = np.where(instance.usable, instance.parts.arcs, -1e30)
    p = np.empty(len(arcs))
    start_at(start, scores, p)
    number, before = np.arange(len(scores)), scores.copy()
    kept, constant = simplify(start, arcs, scores, p, number, len(scores), arc)
    start, arcs, scores = start[: kept + 1], arcs[: start[kept]], scores[:kept]
    assert (np.diff(number[:kept]) > 0).all()
    assert (before[number[:kept]] == scores).all()
    assert (np.diff(start) >= 2).all()
    for heads in answers(instance):
        tree = np.array([-1, *heads])
        now = constant + sum(arc[h, m] for m, h in enumerate(heads, 1)) + value(start, arcs, scores, tree)
        assert now == pytest.approx(instance.objective(heads), abs=1e-9)
    if len(answers(instance)):
        undecided = arc[arcs // size, arcs % size]
        assert (undecided > -1e29).all()


@given(instance=instances(orders=(1,)), seed=st.integers(0, 100))
def test_shares_move_to_arcs_with_more_room(instance, seed):
    start, arcs, scores = arrays(instance)
    rng = np.random.default_rng(seed)
    p = random_shares(start, rng)
    size = instance.parts.size
    slack = rng.exponential(size=size * size)
    before, moved, left = np.zeros(size * size), p.copy(), slack.copy()
    tilt(start, arcs, np.maximum(scores, 0.0), p, False, before)
    absorb(start, arcs, scores, moved, left)
    after = np.zeros(size * size)
    tilt(start, arcs, np.maximum(scores, 0.0), moved, False, after)
    assert left == pytest.approx(slack - (after - before), abs=1e-9)
    assert (left >= np.minimum(slack, 0.0) - 1e-9).all()  # no arc gets more than its slack
    assert left.min(initial=np.inf) >= slack.min(initial=np.inf) - 1e-9
    for c, (first, end) in enumerate(itertools.pairwise(start)):
        assert (moved[first:end] >= 0.0).all()
        assert moved[first:end].sum() == pytest.approx(p[first:end].sum())
        if scores[c] <= 0.0:
            assert (moved[first:end] == p[first:end]).all()


@given(instance=instances(orders=(1,)), seed=st.integers(0, 100))
def test_grouped_scores_bound_every_tree_and_are_no_more_than_their_sums(instance, seed):
    start, arcs, scores = arrays(instance)
    p = random_shares(start, np.random.default_rng(seed))
    project_shares(start, scores, p)
    size = instance.parts.size
    plain, grouped = np.zeros((size, size)), np.zeros((size, size))
    constant = tilt(start, arcs, scores, p, False, plain.reshape(-1))
    assert grouped_tilt(start, arcs, scores, p, grouped.reshape(-1)) == constant
    assert (grouped <= plain + 1e-12).all()
    for heads in answers(instance):
        tree = np.array([-1, *heads])
        total = constant + grouped[tree[1:], np.arange(1, size)].sum()
        assert total >= value(start, arcs, scores, tree) - 1e-9


def test_siblings_and_grandchildren_of_an_arc_count_once_for_each_word():
    def given(products):
        start = np.arange(0, 2 * len(products) + 1, 2)
        arcs = np.array([h * 4 + m for *pair, _ in products for h, m in pair])
        total = np.zeros(16)
        p = np.tile([1.0, 0.0], len(products))
        assert grouped_tilt(start, arcs, np.array([score for *_, score in products]), p, total) == 0.0
        assert total.sum() == total[2]  # all of it to the arc from the root to word 2
        return total[2]

    sibling, grandchild = [(0, 2), (0, 3), 2.0], [(0, 2), (2, 3), 5.0]
    assert given([sibling, grandchild]) == 5.0  # no tree has both
    assert given([sibling, grandchild, [(0, 2), (2, 1), 1.0]]) == 6.0  # to another word
    assert given([sibling, grandchild, [(0, 2), (2, 3), 1.0]]) == 6.0  # a second one of the same arcs
    assert given([sibling, grandchild, [(0, 2), (1, 3), 4.0]]) == 9.0  # neither sibling nor grandchild

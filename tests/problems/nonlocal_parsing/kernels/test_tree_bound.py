"""Bounds of a node compared with enumeration, by every method and backbone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.nonlocal_parsing import random
from colgen.problems.nonlocal_parsing.kernels.products import start_at, tighten_below
from colgen.problems.nonlocal_parsing.kernels.tree_bound import (
    CLOSED,
    EMPTY,
    FIXING,
    LIMIT,
    OPEN,
    POLYAK,
    SUBGRADIENT,
    NodeScores,
    Stage,
    bound_at,
    bound_node,
    drop_arcs,
    meets,
)
from colgen.problems.nonlocal_parsing.kernels.tree_starts import margins
from colgen.solvers.trees.backbone import NonProjective, Projective, TreeTimeError
from colgen.solvers.trees.eisner_items import NEG
from tests.problems.nonlocal_parsing.trees import answers, instances, scores_of_all
from tests.solvers.projective import all_trees

METHODS = [SUBGRADIENT, POLYAK, FIXING]


def scores_of(instance):
    factors = instance.nonlocal_factors
    p = np.empty(len(factors.arcs))
    start_at(factors.start, factors.scores, p)
    arc = np.where(instance.usable, instance.parts.arcs, NEG)
    return NodeScores.of(arc, factors.start.copy(), factors.arcs.copy(), factors.scores.copy(), p)


@pytest.mark.parametrize("method", METHODS)
@given(instance=instances(), patience=st.integers(1, 8), data=st.data())
def test_the_bound_holds_for_all_trees_that_beat_the_cut(method, instance, patience, data):
    values = scores_of_all(instance)
    cut = data.draw(st.sampled_from([-math.inf, *values[:3], *values[-1:]]))
    backbone = Projective(instance.parts, instance.single_root)
    found = bound_node(
        scores_of(instance),
        backbone,
        cut=cut,
        grid=instance.step or 0.0,
        method=method,
        patience=patience,
    )
    if not values:
        assert found.outcome == EMPTY
        return
    if values[0] > cut + 1e-6 * max(1.0, abs(cut)):
        assert max(found.bound, found.value) >= values[0] - 1e-6  # the tree found raises the cut
        assert found.outcome != EMPTY
    if found.outcome == CLOSED and values[0] > cut + 1e-6:
        assert found.value == pytest.approx(values[0])
    if found.heads is not None:
        assert instance.objective(found.heads[1:]) == pytest.approx(found.value)
        assert tuple(found.heads[1:].tolist()) in answers(instance)
    if found.outcome == OPEN:
        assert found.gap.sum() > -1e-9


@given(instance=instances())
def test_evaluation_gives_a_bound_and_its_tree(instance):
    values = scores_of_all(instance)
    size = instance.parts.size
    backbone = Projective(instance.parts, instance.single_root)
    scores, heads = scores_of(instance), np.empty(size, dtype=np.int64)
    upper = scores.evaluate(backbone, np.empty((size, size)), heads)
    if not values:
        assert upper == NEG
        return
    assert upper >= values[0] - 1e-9
    assert upper - scores.gaps(heads).sum() == pytest.approx(instance.objective(heads[1:]))
    known = instance.objective(heads[1:])
    tighten_below(scores.start, scores.arcs, scores.score, scores.p, heads)
    below = scores.evaluate(backbone, np.empty((size, size)), heads, lower=True)
    assert known - 1e-9 <= below <= instance.objective(heads[1:]) + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_limits_keep_a_valid_bound(method):
    instance = next(i for i in map(hard, range(100)) if len(i.nonlocal_factors) > 50)
    best = scores_of_all(instance)[0]
    for backbone, limits in (
        (Projective(instance.parts), {"most_calls": 1}),
        (Projective(instance.parts, expired=lambda: True), {}),
    ):
        found = bound_node(scores_of(instance), backbone, cut=-math.inf, method=method, **limits)
        assert found.outcome in (LIMIT, CLOSED)
        assert found.calls <= 2
        assert found.bound >= best - 1e-9


def test_a_long_dynamic_program_is_cut_off():
    """After the time limit, no dynamic program continues: chart, outside pass, or k best trees."""
    parts, left = random(40, 0, order=4, num_factors=0).parts, [1]

    def expired():
        left[0] -= 1
        return left[0] < 0

    backbone, arc = Projective(parts, expired=expired), np.where(parts.allowed(), parts.arcs, NEG)
    heads, marginal = np.empty(41, dtype=np.int64), np.empty((41, 41))
    with pytest.raises(TreeTimeError):
        backbone.best(arc, heads)
    left[0] = 10**6
    value = backbone.best(arc, heads)
    assert value == pytest.approx(parts.score(heads))
    backbone.marginals(arc, marginal)
    assert marginal[heads[1:], np.arange(1, 41)] == pytest.approx(np.full(40, value))
    assert marginal.max() == pytest.approx(value)
    values, _ = backbone.k_best(arc, 3000)
    assert values[0] == pytest.approx(value)
    assert len(values) == 3000
    left[0] = len(backbone._inside) + 1
    with pytest.raises(TreeTimeError):
        backbone.k_best(arc, 3000)
    with pytest.raises(TreeTimeError):
        backbone.marginals(arc, marginal)


def hard(seed):
    from colgen.problems.nonlocal_parsing import random

    return random(5, seed, num_factors=80, strength=3.0)


def test_bounds_meet_values_within_rounding():
    assert meets(1.0 + 1e-12, 1.0, 0.0)
    assert not meets(1.01, 1.0, 0.0)
    assert meets(1.99, 1.0, 1.0)
    assert not meets(2.0 - 1e-9, 1.0, 1.0)
    assert not meets(5.0, -math.inf, 0.0)


def test_arcs_that_cannot_win_are_dropped():
    arc = np.zeros((3, 3))
    marginal = np.array([[NEG, 3.0, 5.0], [NEG, NEG, 4.0], [NEG, 4.5, NEG]])
    assert drop_arcs(arc, marginal, 1.0, 5.0, 0.0) == 4  # (0, 1), (1, 2) and the diagonal
    assert (arc[:, 1] > -1.0).tolist() == [False, False, True]
    assert (arc[:, 2] > -1.0).tolist() == [True, False, False]
    arc = np.zeros((3, 3))
    assert drop_arcs(arc, marginal, 1.0, 5.0, 1.0) == 5  # 4.5 + 1 rounds down to 5


def test_margins_are_zero_for_the_best_head():
    arc = np.array([[0.0, 2.0], [0.0, 5.0]])
    assert margins(arc).tolist() == [[0.0, -3.0], [0.0, 0.0]]


# --- arborescences ---------------------------------------------------------------------------------------------------


@given(
    n=st.integers(1, 4),
    seed=st.integers(0, 10_000),
    whole=st.booleans(),
    single_root=st.booleans(),
    share=st.sampled_from([1.0, 0.7]),
    k=st.integers(1, 30),
)
def test_non_projective_backbone(n, seed, whole, single_root, share, k):
    rng = np.random.default_rng(seed)
    size = n + 1
    arc = rng.integers(-2, 3, (size, size)).astype(float) if whole else rng.normal(size=(size, size))
    arc[rng.random((size, size)) > share] = NEG
    np.fill_diagonal(arc, NEG)
    arc[:, 0] = NEG
    trees = all_trees(n, projective=False, single_root=single_root)
    scores = arc[trees[:, 1:], np.arange(1, size)].sum(axis=1)
    possible = scores > 0.5 * NEG
    trees, scores = trees[possible], scores[possible]
    backbone = NonProjective(size, single_root)
    heads = np.empty(size, dtype=np.int64)
    value = backbone.best(arc, heads)
    values, listed = backbone.k_best(arc, k)
    if not len(trees):
        assert value < 0.5 * NEG
        assert not len(values)
        return
    assert value == pytest.approx(scores.max())
    assert values == pytest.approx(np.sort(scores)[::-1][:k])
    assert len({tuple(tree) for tree in listed.tolist()}) == len(listed) == min(k, len(trees))
    bound = np.empty((size, size))
    backbone.marginals(arc, bound)
    for tree, score in zip(trees, scores, strict=True):
        assert (bound[tree[1:], np.arange(1, size)] >= score - 1e-9).all()
    assert bound[heads[1:], np.arange(1, size)] == pytest.approx(np.full(n, value))


@pytest.mark.parametrize("words", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_any_shares_bound_all_trees(words, order, seed):
    """The bound is valid for any p, also negative or too small; dropped arcs depend only on p."""
    rng = np.random.default_rng(seed)
    instance = random(words, seed, order=order, num_factors=4 * words, strength=2.0, whole=seed == 1)
    values = scores_of_all(instance)
    backbone = Projective(instance.parts)
    for cut in (-math.inf, values[0], values[len(values) // 2]):
        scores = scores_of(instance)
        stages = [
            Stage(rng.normal(size=len(scores.p)), cut, bool(rng.integers(2))) for _ in range(1 + 2 * (cut > -math.inf))
        ]
        bound, heads = bound_at(scores, backbone, stages)
        assert max(bound, cut if len(stages) > 1 else -math.inf) >= values[0] - 1e-9
        if heads is not None:
            assert bound >= instance.objective(heads[1:].tolist()) - 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_the_stages_of_an_ascent_are_verified(seed):
    instance = random(3 + seed % 4, seed, order=1 + seed % 4, num_factors=40, strength=2.0)
    backbone = Projective(instance.parts)
    found = bound_node(scores_of(instance), backbone, cut=-math.inf)
    bound, _ = bound_at(scores_of(instance), backbone, found.stages)
    best = scores_of_all(instance)[0]
    proved = max([bound, *(stage.cut for stage in found.stages[:-1])])
    assert best - 1e-9 <= proved <= max(found.bound, found.value) + 1e-9

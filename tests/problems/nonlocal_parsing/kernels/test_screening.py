"""Nodes with many arcs, compared with enumeration and with bounds without screening."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen import TimeLimit, solve
from colgen.problems.nonlocal_parsing import NonlocalParsing, random
from colgen.problems.nonlocal_parsing.kernels import screening
from colgen.problems.nonlocal_parsing.kernels.products import project_shares
from colgen.problems.nonlocal_parsing.kernels.screening import bound_many
from colgen.problems.nonlocal_parsing.kernels.tree_bound import CLOSED, EMPTY, LIMIT, OPEN, bound_at
from colgen.problems.nonlocal_parsing.kernels.tree_starts import (
    EXCLUDED,
    KEPT,
    ONLY,
    assign_shares,
    clear_excluded,
    widen_shares,
)
from colgen.solvers.trees.backbone import NonProjective, Projective, TreeTimeError
from tests.problems.nonlocal_parsing.kernels.test_tree_bound import scores_of
from tests.problems.nonlocal_parsing.trees import answers, instances, scores_of_all


@pytest.fixture(scope="module", autouse=True)
def screen_short_sentences():
    """Screen short sentences too, down to the last arc."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "MANY", 0)
        patch.setattr(screening, "_NUM_FEW", 2)
        patch.setattr(screening, "_NUM_ENOUGH", 0)
        yield


def compare_with_enumeration(instance, backbone, cut, raising):
    values = scores_of_all(instance)
    grid = instance.step or 0.0
    found = bound_many(scores_of(instance), backbone, cut=cut, raising=raising, grid=grid)
    if not values:
        assert found.outcome == EMPTY
        assert found.heads is None
        return
    best, slack = values[0], 1e-6 * max(1.0, abs(values[0]))
    if best > cut + slack:
        assert max(found.bound, found.value) >= best - slack
    if found.outcome in (CLOSED, EMPTY) and best > cut + slack and raising:
        assert found.value == pytest.approx(best)
    if found.heads is not None:
        assert instance.objective(found.heads[1:]) == pytest.approx(found.value)
        assert tuple(found.heads[1:].tolist()) in answers(instance)
        assert found.value > cut
    # The stages verify the same bound.
    bound, _ = bound_at(scores_of(instance), backbone, found.stages, grid=grid)
    proved = max([bound, *(stage.cut for stage in found.stages[:-1])])
    assert max(proved, cut) >= best - slack
    if found.outcome == CLOSED:
        assert proved <= max(found.value, cut) + slack + (1.0 if grid else 0.0)


@given(instance=instances(), data=st.data())
@settings(deadline=None)
def test_screening_keeps_trees_that_beat_the_cut(instance, data):
    values = scores_of_all(instance)
    cut = data.draw(st.sampled_from([-math.inf, *values[:3], *values[-1:]]))
    compare_with_enumeration(instance, Projective(instance.parts, instance.single_root), cut, data.draw(st.booleans()))


@given(instance=instances(orders=(1,), projective=False), data=st.data())
@settings(deadline=None)
def test_screening_keeps_non_projective_trees(instance, data):
    values = scores_of_all(instance)
    cut = data.draw(st.sampled_from([-math.inf, *values[:3], *values[-1:]]))
    backbone = NonProjective(instance.parts.size, instance.single_root)
    compare_with_enumeration(instance, backbone, cut, data.draw(st.booleans()))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_strong_factors_of_longer_sentences(order, seed):
    instance = random(6, seed, order=order, num_factors=150, strength=2.0)
    compare_with_enumeration(instance, Projective(instance.parts), -math.inf, True)


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_does_not_depend_on_screening(seed):
    instance = random(16, seed, order=1 + seed, num_factors=400, strength=0.6)
    own = solve(NonlocalParsing(instance), stop=TimeLimit(60))
    other = solve(NonlocalParsing(instance, method="subgradient"), stop=TimeLimit(60))
    assert own.is_optimal
    assert other.is_optimal
    assert own.objective == pytest.approx(other.objective)


@pytest.mark.parametrize("after", range(1, 40, 3))
def test_results_are_valid_after_the_time_limit(after):
    instance = random(9, 3, order=3, num_factors=300, strength=1.5)
    looks = iter(range(after))
    backbone = Projective(instance.parts, expired=lambda: next(looks, None) is None)
    backbone._inside = backbone._outside = tuple((w, w + 1) for w in range(1, 10))
    found = bound_many(scores_of(instance), backbone, cut=-math.inf)
    reached = solve(NonlocalParsing(instance)).objective
    assert found.outcome in (LIMIT, CLOSED, OPEN, EMPTY)
    assert max(found.bound, found.value) >= reached - 1e-6
    with pytest.raises(TreeTimeError):
        backbone.require()


@given(instance=instances(orders=(1,)), seed=st.integers(0, 100))
def test_shares_are_widened_to_ones_that_bound_products(instance, seed):
    """Remaining products have the shares of the search; others at most one remaining arc."""
    rng = np.random.default_rng(seed)
    scores = scores_of(instance)
    scores.simplify()
    few = scores.copy()
    few.number = np.arange(len(few.score))
    size = instance.parts.size
    few.arc[rng.random((size, size)) < 0.4] = -1e30
    few.simplify()
    left = few.arc > -1e29
    status = left.astype(np.int8)
    status[left & (left.sum(axis=0) == 1)] = ONLY
    flat = status.reshape(-1)
    p = rng.random(len(scores.p))
    widen_shares(scores.start, scores.arcs, scores.score, p, flat, few.number, few.start, few.arcs, few.p)
    kept = p.copy()
    clear_excluded(scores.start, scores.arcs, scores.score, p, flat)
    assert (p == kept).all()  # they had no shares
    assign_shares(scores.start, scores.arcs, scores.score, p, flat, rng.random(size * size) + 1e-3)
    projected = p.copy()
    project_shares(scores.start, scores.score, projected)
    assert projected == pytest.approx(p)
    for c, score in enumerate(scores.score):
        span = slice(scores.start[c], scores.start[c + 1])
        states = flat[scores.arcs[span]]
        if (states == EXCLUDED).any():
            assert p[span].sum() == (1.0 if score >= 0.0 else 0.0)
        elif c not in few.number:
            assert (states == KEPT).sum() <= 1

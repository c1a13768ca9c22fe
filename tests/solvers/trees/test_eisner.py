"""The projective parsers against enumeration of all trees."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colgen.solvers.trees.backbone import Projective
from colgen.solvers.trees.eisner import Parts, best_tree, max_marginals
from colgen.solvers.trees.eisner_items import NEG
from tests.solvers.projective import all_trees, random_parts
from tests.twins.trees import is_projective, is_tree

ORDERS = [1, 2, 3, 4]
every_order = pytest.mark.parametrize("order", ORDERS)

cases = st.fixed_dictionaries(
    {
        "n": st.integers(1, 5),
        "seed": st.integers(0, 2**20),
        "whole": st.booleans(),
        "single_root": st.booleans(),
        "share": st.sampled_from([1.0, 1.0, 0.7, 0.4]),
    }
)


def k_best_trees(parts, k, allowed=None, single_root=True):
    arc = np.where(parts.allowed(allowed), parts.arcs, NEG)
    return Projective(parts, single_root).k_best(arc, k)


def setting(order, case):
    rng = np.random.default_rng(case["seed"])
    parts = random_parts(order, case["n"], rng, case["whole"])
    allowed = rng.random((parts.size, parts.size)) < case["share"]
    trees = all_trees(case["n"], single_root=case["single_root"])
    trees = trees[[all(allowed[h, m] for m, h in enumerate(tree) if m) for tree in trees]]
    return parts, trees, {"allowed": allowed, "single_root": case["single_root"]}


@pytest.mark.parametrize(("n", "single", "several"), [(1, 1, 1), (2, 2, 3), (3, 7, 12), (4, 30, 55), (5, 143, 273)])
def test_the_enumeration_has_known_counts(n, single, several):
    """Projective trees of n words: 1, 3, 12, 55, 273 (Yuret, 1998)."""
    assert len(all_trees(n)) == single
    assert len(all_trees(n, single_root=False)) == several


@every_order
@given(case=cases)
def test_best_tree(order, case):
    parts, trees, how = setting(order, case)
    found = best_tree(parts, **how)
    if not len(trees):
        assert found is None
        return
    value, heads = found
    assert value == pytest.approx(max(map(parts.score, trees)))
    assert parts.score(heads) == pytest.approx(value)
    assert heads.tolist() in trees.tolist()


@every_order
@given(case=cases, k=st.integers(1, 40))
def test_k_best_trees(order, case, k):
    parts, trees, how = setting(order, case)
    values, every = k_best_trees(parts, k, **how)
    scores = sorted(map(parts.score, trees), reverse=True)[:k]
    assert values == pytest.approx(np.array(scores))
    assert [parts.score(heads) for heads in every] == pytest.approx(scores)
    listed = [tuple(heads) for heads in every.tolist()]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(map(tuple, trees.tolist()))


@every_order
@given(case=cases)
def test_max_marginals(order, case):
    parts, trees, how = setting(order, case)
    expected = np.full((parts.size, parts.size), -np.inf)
    for tree in trees:
        score = parts.score(tree)
        for m in range(1, parts.size):
            expected[tree[m], m] = max(expected[tree[m], m], score)
    assert max_marginals(parts, **how) == pytest.approx(expected)


@pytest.mark.slow
@every_order
@pytest.mark.parametrize("single_root", [True, False])
def test_all_of_it_with_six_words(order, single_root):
    rng = np.random.default_rng(order)
    trees = all_trees(6, single_root=single_root)
    for _ in range(3):
        parts = random_parts(order, 6, rng)
        scores = np.array([parts.score(tree) for tree in trees])
        values, _ = k_best_trees(parts, 60, single_root=single_root)
        assert values == pytest.approx(np.sort(scores)[::-1][:60])
        marginals = max_marginals(parts, single_root=single_root)
        for m in range(1, 7):
            for h in range(7):
                has = trees[:, m] == h
                assert marginals[h, m] == (pytest.approx(scores[has].max()) if has.any() else -np.inf)


@every_order
def test_long_sentences_give_projective_trees(order):
    rng = np.random.default_rng(5)
    n = 24 if order < 4 else 14
    parts = random_parts(order, n, rng)
    value, heads = best_tree(parts)
    assert is_tree(heads.tolist())
    assert is_projective(heads.tolist())
    assert (heads[1:] == 0).sum() == 1
    assert parts.score(heads) == pytest.approx(value)
    marginals = max_marginals(parts)
    assert np.array([marginals[heads[m], m] for m in range(1, n + 1)]) == pytest.approx(np.full(n, value))
    assert marginals.max() == pytest.approx(value)


@every_order
def test_required_and_forbidden_arcs(order):
    parts = random_parts(order, 5, np.random.default_rng(2))
    _, heads = best_tree(parts)
    allowed = np.ones((6, 6), dtype=bool)
    allowed[heads[3], 3] = False
    value, without = best_tree(parts, allowed=allowed)
    assert without[3] != heads[3]
    required = np.ones((6, 6), dtype=bool)
    required[:, 3] = np.arange(6) == without[3]
    assert best_tree(parts, allowed=required)[0] == pytest.approx(value)


def test_without_crossing_arcs_the_best_tree_is_the_best_arborescence():
    """Where the best arborescence is projective, it is the best projective tree."""
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(60):
        scores = rng.normal(size=(6, 6))
        graph = nx.DiGraph()
        graph.add_weighted_edges_from((h, m, scores[h, m]) for h in range(6) for m in range(1, 6) if h != m)
        heads = [-1] * 6
        for h, m in nx.maximum_spanning_arborescence(graph, preserve_attrs=False).edges:
            heads[m] = h
        if is_projective(heads):
            compared += 1
            assert best_tree(Parts(scores), single_root=False)[1].tolist() == heads
    assert compared > 5


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_higher_orders_hold_the_lower(seed):
    parts = random_parts(2, 6, np.random.default_rng(seed))
    value = best_tree(parts)[0]
    zeros = np.zeros((7, 7, 7))
    assert best_tree(Parts(parts.arcs, parts.siblings, outermost=zeros))[0] == pytest.approx(value)
    assert best_tree(Parts(parts.arcs, parts.siblings, grandchildren=zeros))[0] == pytest.approx(value)
    bare = best_tree(Parts(parts.arcs))[0]
    assert best_tree(Parts(parts.arcs, zeros))[0] == pytest.approx(bare)
    assert best_tree(Parts(parts.arcs, outermost=zeros))[0] == pytest.approx(bare)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"arcs": np.zeros((3, 4))}, "positions, positions"),
        ({"arcs": np.zeros((1, 1))}, "two positions"),
        ({"arcs": np.full((4, 4), np.nan)}, "finite"),
        ({"siblings": np.zeros((4, 4))}, "shape"),
        ({"siblings": np.zeros((3, 4, 4))}, "shape"),
        ({"arcs": np.full((4, 4), 1e30)}, "within"),
        ({"arcs": np.zeros((4, 4)) * 1j}, "complex"),
        ({"triples": np.zeros((2, 2, 3, 3, 3, 3)), "kinds": np.full(4, 0.5)}, "kinds: expected indices, got 0.5"),
        ({"outermost": np.full((4, 4, 4), np.inf)}, "finite"),
        ({"outermost": np.zeros((4, 4, 4)), "grandchildren": np.zeros((4, 4, 4))}, "no parser"),
        ({"kinds": np.zeros(4)}, "together"),
        ({"triples": np.zeros((2, 2, 3, 3, 3, 3)), "kinds": np.full(4, 2)}, "kinds"),
        ({"triples": np.zeros((2, 3, 3, 3, 3)), "kinds": np.zeros(4)}, "triples"),
        ({"triples": np.zeros((2, 2, 3, 3, 3, 4)), "kinds": np.zeros(4)}, "triples"),
    ],
)
def test_bad_parts_are_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Parts(**{"arcs": np.zeros((4, 4)), **change})


def test_bad_questions_are_refused():
    parts = Parts(np.zeros((4, 4)))
    with pytest.raises(ValueError, match="allowed"):
        best_tree(parts, allowed=np.ones((3, 3)))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_ranks_of_arcs_use_bounds_on_their_other_parts(order):
    parts = random_parts(order, 5, np.random.default_rng(order), False)
    arc = np.where(parts.allowed(), parts.arcs, NEG)
    rank = np.empty_like(arc)
    backbone = Projective(parts)
    backbone.likely(arc, rank)
    found = max_marginals(parts)
    there = found > -np.inf
    if order == 1:
        assert rank[there] == pytest.approx(found[there])
    else:  # no tree has better parts than those
        assert (rank[there] >= found[there] - 1e-9).all()

"""Exact solvers as oracles: against enumeration, with forbidden parts; means and losses."""

import numpy as np
import pytest

from benchmarks.learning.reference import nearest_mean, partitions, trees
from colgen.core.errors import InputError
from colgen.learning import ProjectiveTrees, best_structure, fenchel_young, k_best, sparsemap
from colgen.learning.batches import batch_of
from colgen.problems.grandparent_parsing import parse
from colgen.problems.learning_oracles import Clusterings, SecondOrderTrees
from colgen.solvers.clusters import small_partition
from colgen.solvers.trees import small_trees
from tests.sweeps import seeds
from tests.twins.trees import all_trees, sibling_parts


@pytest.fixture(params=["subsets", "engine"])
def way(request, monkeypatch):
    """Solve by a dynamic program over subsets, or by the engine as larger instances are."""
    if request.param == "engine":
        monkeypatch.setattr(small_trees, "LARGEST", 0)
        monkeypatch.setattr(small_partition, "LARGEST", 0)


KINDS = [(), ("siblings",), ("grandchildren",), ("grandchildren", "siblings")]


def value(places, scores):
    return sum(float(theta.ravel()[own].sum()) for theta, own in zip(scores, places, strict=True))


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.parametrize("parts", KINDS)
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.usefixtures("way")
def test_trees_are_the_best_of_all(parts, single_root, seed):
    rng = np.random.default_rng(seed)
    model = SecondOrderTrees(*parts, single_root=single_root)
    scores = [rng.normal(size=(5,) * (2 if k == 0 else 3)) for k in range(1 + len(parts))]
    if seed % 2:
        for theta in scores:
            theta[rng.random(theta.shape) < 0.25] = -np.inf
    everything = [value(model.structure(np.array(tree)), scores) for tree in trees(4, single_root=single_root)]
    if max(everything) == -np.inf:
        with pytest.raises(InputError, match="every structure is forbidden"):
            best_structure(model, scores)
    else:
        assert best_structure(model, scores).score(scores) == pytest.approx(max(everything))


@pytest.mark.parametrize("parts", KINDS)
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_k_best_trees_are_the_best_of_all(parts, single_root, forbidden):
    model = SecondOrderTrees(*parts, single_root=single_root)
    every = [model.structure(np.array(tree)) for tree in trees(3, single_root=single_root)]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scores = [rng.normal(size=(4,) * (2 if k == 0 else 3)) for k in range(1 + len(parts))]
        for theta in scores:
            theta[rng.random(theta.shape) < forbidden] = -np.inf
        values = np.array([value(structure, scores) for structure in every])
        order = np.sort(values[values > -np.inf])[::-1]
        for k in (1, 4, 30):
            found = k_best(model, k, scores)
            assert [one.score(scores) for one in found] == pytest.approx(order[:k], abs=1e-9)
            assert len({one.key for one in found}) == len(found)
    with pytest.raises(InputError, match="k: expected an integer of at least 1"):
        k_best(model, 0, scores)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("parts", KINDS[1:])
def test_the_parser_and_the_losses_have_one_order_of_axes(parts, projective, single_root):
    """Arrays of a batch, with padding and forbidden parts: the oracles' best trees, sentence by sentence."""
    rng = np.random.default_rng(len(parts))
    oracle = (ProjectiveTrees if projective else SecondOrderTrees)(*parts, single_root=single_root)
    arcs, *others = (rng.normal(size=(3, *(6,) * (2 if k == 0 else 3))) for k in range(1 + len(parts)))
    others[0][rng.random(others[0].shape) < 0.1] = -np.inf
    given = dict(zip(parts, others, strict=True))
    found = parse(arcs, **given, lengths=[5, 4, 1], projective=projective, single_root=single_root)
    for k, n in enumerate((5, 4, 1)):
        own = [theta[k][(slice(n + 1),) * (theta.ndim - 1)] for theta in (arcs, *others)]
        every = (np.array(tree) for tree in trees(n, projective=projective, single_root=single_root))
        best = max(value(oracle.structure(tree), own) for tree in every)
        assert found[k].score == pytest.approx(best)
        assert value(oracle.structure(np.array([-1, *found[k].heads])), own) == pytest.approx(best)
        alone = parse(own[0], **dict(zip(parts, own[1:], strict=True)), projective=projective, single_root=single_root)
        assert alone == found[k]
        listed = parse(own[0], **dict(zip(parts, own[1:], strict=True)), projective=projective, k=2)
        assert listed[0].score >= found[k].score - 1e-9  # with any number of roots


@pytest.mark.parametrize("items", [1, 2, 5])
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
@pytest.mark.usefixtures("way")
def test_k_best_clusterings_are_the_best_of_all(items, forbidden):
    every = [Clusterings.structure(np.array(labels)) for labels in partitions(items)]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(items, items))  # not symmetric
        if seed > 1:
            scores = np.round(scores)  # many ties
        scores[rng.random(scores.shape) < forbidden] = -np.inf
        values = np.array([value(structure, [scores]) for structure in every])
        order = np.sort(values[values > -np.inf])[::-1]
        for k in (1, 5, 100):
            found = k_best(Clusterings(), k, [scores])
            assert [s.score((scores,)) for s in found] == pytest.approx(order[:k], abs=1e-9)
            assert len({s.key for s in found}) == len(found)
            for one in found:
                Clusterings.labels(one, items)  # the pairs of a clustering


def test_k_best_clusterings_of_more_items_than_subsets_allow():
    scores = np.random.default_rng(0).normal(size=(14, 14))
    found = k_best(Clusterings(), 3, [scores])
    assert found[0].key == best_structure(Clusterings(), [scores]).key
    values = [s.score((scores,)) for s in found]
    assert values == sorted(values, reverse=True)
    assert len({s.key for s in found}) == 3
    first = Clusterings.labels(found[0], 14)
    for item in range(14):  # no clustering that moves one item is better than the second best
        for other in range(int(first.max()) + 2):
            moved = first.copy()
            moved[item] = other
            places = Clusterings.structure(moved)
            if not np.array_equal(places[0], found[0].parts[0][0]):
                assert value(places, [scores]) <= values[1] + 1e-9
    with pytest.raises(InputError, match="k: expected"):
        k_best(Clusterings(), 0, [scores])


def test_sibling_parts_are_head_sibling_modifier():
    for kind in (SecondOrderTrees, ProjectiveTrees):
        oracle = kind("siblings")
        rows, there = sibling_parts(4, False)
        for tree, own, real in zip(all_trees(4), rows, there, strict=True):
            expected = sorted((h, s, m) for h, s, m in own[real].tolist() if m != h)  # the ends of a side have no score
            assert sorted(zip(*np.unravel_index(oracle.structure(tree)[1], (5, 5, 5)), strict=True)) == expected


def test_parts_agree_with_projective_trees():
    tree = np.array([-1, 3, 1, 0, 3])
    for own, other in zip(
        SecondOrderTrees("siblings", "grandchildren").structure(tree),
        ProjectiveTrees("siblings", "grandchildren").structure(tree),
        strict=True,
    ):
        assert own.tolist() == other.tolist()


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.usefixtures("way")
def test_clusterings_are_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(5, 5))  # each order of a pair has its own score
    if seed % 2:
        scores[rng.random((5, 5)) < 0.2] = -np.inf
    best = max(value(Clusterings.structure(np.array(labels)), [scores]) for labels in partitions(5))
    assert best_structure(Clusterings(), [scores]).score([scores]) == pytest.approx(best)


@pytest.mark.parametrize("seed", seeds(4))
@pytest.mark.usefixtures("way")
def test_means_are_nearest_points(seed):
    rng = np.random.default_rng(seed)
    cases = [
        (Clusterings(), [(5, 5)], [Clusterings.structure(np.array(labels)) for labels in partitions(5)]),
        (
            SecondOrderTrees("grandchildren"),
            [(4, 4), (4, 4, 4)],
            [SecondOrderTrees("grandchildren").structure(np.array(tree)) for tree in trees(3)],
        ),
    ]
    for oracle, shapes, structures in cases:
        scores = [rng.normal(size=shape) for shape in shapes]
        matrices = [np.zeros((int(np.prod(shape)), len(structures))) for shape in shapes]
        for k, structure in enumerate(structures):
            for matrix, places in zip(matrices, structure, strict=True):
                matrix[places, k] = 1.0
        linear = np.asarray(sum(m.T @ theta.ravel() for m, theta in zip(matrices, scores, strict=True)))
        found = sparsemap(oracle, *scores)
        assert found.is_exact
        assert found.marginals.ravel() == pytest.approx(matrices[0] @ nearest_mean(matrices[0], linear), abs=1e-6)


def test_beliefs_without_pair_scores_equal_the_likelihood():
    rng = np.random.default_rng(4)
    model, scores = SecondOrderTrees("grandchildren"), [rng.normal(size=(5, 5)), np.zeros((5, 5, 5))]
    tree = np.array([-1, 3, 4, 0, 3])  # arcs 4 → 2 and 3 → 1 cross
    everything = np.array([value(model.structure(np.array(other)), scores) for other in trees(4)])
    found = fenchel_young(model, model.structure(tree), *scores, regularization="beliefs")
    right = value(model.structure(tree), scores)
    assert found.value == pytest.approx(np.logaddexp.reduce(everything) - right)
    with pytest.raises(InputError, match=r"beliefs: expected trees whose parts are \('grandchildren',\), got"):
        SecondOrderTrees("siblings").beliefs(*scores)


def test_batches_are_cropped():
    arrays = [np.zeros((2, 4, 4)), np.zeros((2, 4, 4, 4))]
    batch = batch_of(SecondOrderTrees("grandchildren"), arrays, lengths=[3, 2])
    assert [theta.shape for theta in batch.instance(1)] == [(3, 3), (3, 3, 3)]
    assert batch_of(Clusterings(), arrays[:1], lengths=[4, 2]).instance(1)[0].shape == (2, 2)
    with pytest.raises(InputError, match=r"lengths: expected .*from 1 to 3, got 4"):
        batch_of(SecondOrderTrees("grandchildren"), arrays, lengths=[3, 4])


def test_masks_of_batches_may_have_holes():
    mask = [[0, 1, 1], [1, 0, 1]]
    arrays = [np.arange(2 * 16.0).reshape(2, 4, 4), np.arange(2 * 64.0).reshape(2, 4, 4, 4)]
    batch = batch_of(SecondOrderTrees("grandchildren"), arrays, mask=mask)
    for k, true in enumerate(([0, 2, 3], [0, 1, 3])):
        for found, theta in zip(batch.instance(k), arrays, strict=True):
            assert np.array_equal(found, theta[k][np.ix_(*(true,) * (theta.ndim - 1))])
    pairs = batch_of(Clusterings(), [arrays[0][:, :3, :3]], mask=mask)
    assert np.array_equal(pairs.instance(1)[0], arrays[0][1][np.ix_([0, 2], [0, 2])])
    assert Clusterings.labels(pairs.gold(1, [5, 9, 5]), 2).tolist() == [0, 0]


def test_labels_of_clusterings_are_the_inverse_of_structures():
    for labels in partitions(4):
        assert Clusterings.labels(Clusterings.structure(np.array(labels)), 4).tolist() == list(labels)
    for wrong in ([1], [16]):  # a pair in one order alone; a place beyond the pairs
        with pytest.raises(InputError, match="positions: expected"):
            Clusterings.labels(wrong, 4)

"""Segmentations, constituents, alignments, matchings and monotone chains compared with lists of all structures."""

import itertools

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import (
    Alignments,
    Chains,
    Constituents,
    EnumeratedStructures,
    Matchings,
    MonotoneChains,
    ProjectiveTrees,
    Segmentations,
    Trees,
    best_structure,
    fenchel_young,
    k_best,
    marginals,
    sparsemap,
)
from colgen.learning.batches import batch_of, batch_sums
from colgen.learning.derivations import derived
from colgen.learning.oracles import structure_from


def cuts(tokens, longest):
    """Return all lists of (first token, length)."""
    if tokens == 0:
        return [[]]
    return [[*rest, (tokens - d, d)] for d in range(1, min(tokens, longest) + 1) for rest in cuts(tokens - d, longest)]


def segmentations(tokens, longest, labels):
    return [
        Segmentations.structure([(*s, y) for s, y in zip(cut, own, strict=True)], longest, labels)
        for cut in cuts(tokens, longest)
        for own in itertools.product(range(labels), repeat=len(cut))
    ]


def bracketings(i, j):
    if i == j:
        return [[(i, i)]]
    return [
        [(i, j), *left, *right] for k in range(i, j) for left in bracketings(i, k) for right in bracketings(k + 1, j)
    ]


def constituents(words, labels):
    return [
        Constituents.structure([(*s, y) for s, y in zip(spans, own, strict=True)], words, labels)
        for spans in bracketings(0, words - 1)
        for own in itertools.product(range(labels), repeat=len(spans))
    ]


def alignments(rows, columns):
    paths = [
        steps for n in range(rows + columns + 1) for steps in itertools.product(range(3), repeat=n)
        if sum(s != 2 for s in steps) == rows and sum(s != 1 for s in steps) == columns
    ]  # fmt: skip
    return [Alignments.structure(steps, rows, columns) for steps in paths]


def trees(words, single_root):
    """Return all projective trees: each word between two ends of an arc descends from its head."""
    found = []
    for above in itertools.product(range(words + 1), repeat=words):
        heads = np.array([0, *above])
        lines = [[m] for m in range(words + 1)]
        for line in lines:
            while line[-1] and len(line) <= words + 1:
                line.append(int(heads[line[-1]]))
        rooted = all(line[-1] == 0 for line in lines) and (not single_root or above.count(0) == 1)
        if rooted and all(heads[m] in lines[k] for m in range(1, words + 1) for k in range(*sorted((m, heads[m])))[1:]):
            found.append(ProjectiveTrees().structure(heads))
    return found


def chains(frames, states):
    found = []
    for chain in itertools.product(range(states), repeat=frames):
        steps = np.diff([-1, *chain, states])
        if steps.min() >= 0 and steps.max() <= 2 and steps[0] and steps[-1]:
            found.append(MonotoneChains.structure(chain, states))
    return found


def matchings(rows, columns):
    return [Matchings.structure(np.array(x), columns) for x in itertools.permutations(range(columns), rows)]


CASES = {
    "segmentations": (Segmentations(), [(4, 3, 2), (2, 2)], segmentations(4, 3, 2)),
    "longer than the chain": (Segmentations(), [(3, 5, 2), (2, 2)], segmentations(3, 5, 2)),
    "one token": (Segmentations(), [(1, 1, 3), (3, 3)], segmentations(1, 1, 3)),
    "constituents": (Constituents(), [(5, 5)], constituents(5, 1)),
    "labelled constituents": (Constituents(), [(3, 3, 2)], constituents(3, 2)),
    "one word": (Constituents(), [(1, 1)], constituents(1, 1)),
    "one label": (Constituents(), [(4, 4, 1)], constituents(4, 1)),
    "alignments": (Alignments(), [(4, 3, 3)], alignments(3, 2)),
    "no rows": (Alignments(), [(1, 3, 3)], alignments(0, 2)),
    "nothing to align": (Alignments(), [(1, 1, 3)], alignments(0, 0)),
    "projective trees": (derived(ProjectiveTrees()), [(5, 5)], trees(4, False)),
    "one root": (derived(ProjectiveTrees(single_root=True)), [(5, 5)], trees(4, True)),
    "one word with a head": (derived(ProjectiveTrees()), [(2, 2)], trees(1, False)),
    "monotone chains": (MonotoneChains(), [(5, 4), (5, 3)], chains(5, 4)),
    "fewer frames than states": (MonotoneChains(), [(3, 5), (6, 3)], chains(3, 5)),
    "matchings": (Matchings(), [(4, 4)], matchings(4, 4)),
    "more columns than rows": (Matchings(), [(3, 5)], matchings(3, 5)),
    "one row": (Matchings(), [(1, 3)], matchings(1, 3)),
    "one pair": (Matchings(), [(1, 1)], matchings(1, 1)),
    "one state": (MonotoneChains(), [(3, 1), (2, 3)], chains(3, 1)),
}


def matrix(shapes, structures):
    """Return how often each part (row) occurs in each structure."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    result = np.zeros((sum(sizes), len(structures)))
    for k, structure in enumerate(structures):
        for offset, places in zip(np.cumsum([0, *sizes]), structure, strict=False):
            np.add.at(result[:, k], offset + places, 1.0)
    return result


def drawn(shapes, seed, forbidden=0.0):
    rng = np.random.default_rng(seed)
    return [np.where(rng.random(s) < forbidden, -np.inf, rng.normal(size=s)) for s in shapes]


def flat(arrays):
    return np.concatenate([np.ravel(a) for a in arrays])


def column(structure, shapes):
    return flat([structure.array(k, shape) for k, shape in enumerate(shapes)])


@pytest.mark.parametrize("forbidden", [0.0, 0.15])
@pytest.mark.parametrize("name", CASES)
def test_everything_agrees_with_a_list_of_all_structures(name, forbidden):
    model, shapes, structures = CASES[name]
    columns = matrix(shapes, structures)
    for seed in range(4):
        scores = drawn(shapes, seed, forbidden)
        values = np.array([flat(scores)[a > 0.0] @ a[a > 0.0] for a in columns.T])
        if values.max() == -np.inf:
            with pytest.raises(InputError, match="every structure is forbidden"):
                marginals(model, *scores)
            with pytest.raises(InputError, match="every structure is forbidden"):
                best_structure(model, scores)
            assert model.k_best(3, *scores) == []
            continue
        total = np.logaddexp.reduce(values)
        p = np.exp(values - total)
        found = marginals(model, *scores)
        assert found.log_partition == pytest.approx(total, abs=1e-9)
        assert flat(found.means) == pytest.approx(columns @ p, abs=1e-9)
        assert found.entropy == pytest.approx(-(p[p > 0.0] @ np.log(p[p > 0.0])), abs=1e-9)
        assert best_structure(model, scores).score(scores) == pytest.approx(values.max(), abs=1e-9)

        along = drawn(shapes, seed + 100)
        mean = columns @ p
        expected = columns @ (p * (columns.T @ flat(along))) - mean * (mean @ flat(along))
        assert flat(found.gradient(*along)) == pytest.approx(expected, abs=1e-9)

        order = np.sort(values[values > -np.inf])[::-1]
        for k in (1, 4, len(structures) + 3):
            ranked = [structure_from(s, scores) for s in model.k_best(k, *scores)]
            assert [s.score(scores) for s in ranked] == pytest.approx(order[:k], abs=1e-9)
            assert len({s.key for s in ranked}) == len(ranked)


@pytest.mark.parametrize("name", CASES)
def test_samples_have_the_distribution(name):
    model, shapes, structures = CASES[name]
    scores = drawn(shapes, 1)
    found = marginals(model, *scores)
    rng = np.random.default_rng(2)
    columns = {tuple(a): k for k, a in enumerate(matrix(shapes, structures).T)}
    counts = np.zeros(len(columns))
    for _ in range(1000):
        counts[columns[tuple(column(found.sample(rng), shapes))]] += 1  # a sample is one of the structures
    values = np.array([flat(scores)[np.array(a) > 0.0] @ np.array(a)[np.array(a) > 0.0] for a in columns])
    p = np.exp(values - found.log_partition)
    assert np.abs(counts / 1000 - p).max() < 5.0 * np.sqrt(0.25 / 1000)


@pytest.mark.parametrize("scale", [1e3, 1e290, 1e306])
@pytest.mark.parametrize("name", CASES)
def test_marginals_of_large_scores_are_probabilities(name, scale):
    """Differences of sums around 1e290 are rounded to 1e274, whose exponential is infinite."""
    model, shapes, _ = CASES[name]
    scores = [scale * theta for theta in drawn(shapes, 3)]
    found = marginals(model, *scores)
    best = best_structure(model, scores)
    assert flat(found.means) == pytest.approx(column(best, shapes), abs=1e-9)
    assert np.isfinite(flat(found.gradient(*drawn(shapes, 4)))).all()


def test_ties_share_their_probability():
    found = marginals(Constituents(), np.full((3, 3), 2.0**960))
    assert found.marginals[0, 1] == found.marginals[1, 2] == 0.5
    found = marginals(Constituents(), np.zeros((6, 6)))
    assert found.log_partition == pytest.approx(np.log(42.0))  # Catalan number
    assert found.entropy == pytest.approx(np.log(42.0))


def test_alignments_count_edits():
    """The score of a best alignment is minus the edit distance."""

    def scores(a, b):
        theta = np.full((len(a) + 1, len(b) + 1, 3), -1.0)
        theta[1:, 1:, 0] += np.array(list(a))[:, np.newaxis] == np.array(list(b))
        return theta

    theta = scores("kitten", "sitting")
    assert best_structure(Alignments(), [theta]).score((theta,)) == -3.0
    theta = scores("intention", "execution")
    assert best_structure(Alignments(), [theta]).score((theta,)) == -5.0


def test_matchings_with_equal_scores_are_found_once_each():
    for shape, count in (((4, 4), 24), ((2, 4), 12)):
        found = k_best(Matchings(), 100, [np.zeros(shape)])
        assert len({s.key for s in found}) == len(found) == count
        assert marginals(Matchings(), np.zeros(shape)).log_partition == pytest.approx(np.log(count), abs=1e-12)


def test_rows_stay_alone_in_columns_of_their_own():
    scores, alone = drawn([(3, 3), (3,)], 0)
    own = np.where(np.eye(3, dtype=bool), alone[:, np.newaxis], -np.inf)
    values = [
        sum(alone[i] if x is None else scores[i, x] for i, x in enumerate(chosen))
        for chosen in itertools.product([None, 0, 1, 2], repeat=3)
        if len(set(used := [x for x in chosen if x is not None])) == len(used)
    ]
    found = marginals(Matchings(), np.hstack([scores, own]))
    assert found.log_partition == pytest.approx(np.logaddexp.reduce(values), abs=1e-9)


def test_large_matchings_are_decoded_but_not_summed():
    scores = drawn([(40, 40)], 0)[0]
    ranked = k_best(Matchings(), 5, [scores.T[:, ::-1]])  # not contiguous
    values = [s.score((np.ascontiguousarray(scores.T[:, ::-1]),)) for s in ranked]
    assert values == sorted(values, reverse=True)
    assert best_structure(Matchings(), [scores]).score((scores,)) == pytest.approx(values[0], abs=1e-9)
    assert sparsemap(Matchings(), scores).marginals.sum(axis=1) == pytest.approx(np.ones(40))
    for call in (
        lambda: marginals(Matchings(), scores),
        lambda: batch_sums(batch_of(Matchings(), [scores[np.newaxis]])),
        lambda: fenchel_young(Matchings(), np.arange(40), scores, regularization="gibbs"),
    ):
        with pytest.raises(InputError, match=r"sums over matchings of 40 rows and 40 columns .*18 rows and columns"):
            call()
    assert marginals(Matchings(), np.zeros((4, 58))).entropy == pytest.approx(np.log(58 * 57 * 56 * 55))


def test_penalties_hide_no_scores():
    """Rows and columns that may not meet often have scores such as -1e30 instead of -inf."""
    for seed in range(20):
        (scores,) = drawn([(5, 5)], seed, 0.3)
        best = Matchings().best(scores)
        if best is not None:
            masked = np.where(np.isneginf(scores), -1e30, scores)
            for found in k_best(Matchings(), 1, [masked]):
                assert found.score((masked,)) == pytest.approx(structure_from(best, [scores]).score((scores,)))


def test_columns_invert_structures():
    scores = drawn([(3, 5)], 0)[0]
    found = Matchings.columns(best_structure(Matchings(), [scores]), 5)
    assert scores[range(3), found].sum() == max(scores[range(3), x].sum() for x in itertools.permutations(range(5), 3))
    assert Matchings.columns(Matchings().from_labels([4, 0, 1], scores), 5).tolist() == [4, 0, 1]


@pytest.mark.parametrize("labels", [[1, 2], [1, 1], [2], []])
def test_transcripts_have_the_paths_that_collapse_to_them(labels):
    scores = drawn([(5, 3)], 0)[0]
    states, moves = MonotoneChains.transcript(labels)
    values = []
    for path in itertools.product(range(3), repeat=5):
        if [y for y, _ in itertools.groupby(path) if y] == labels:
            values.append(scores[range(5), path].sum())
    found = marginals(MonotoneChains(), scores[:, states], moves)
    assert found.log_partition == pytest.approx(np.logaddexp.reduce(values), abs=1e-9)


def test_losses_and_sparse_means_accept_these_oracles():
    for model, shapes, structures in CASES.values():
        scores = drawn(shapes, 5)
        right = structures[0]
        loss = fenchel_young(model, right, *scores, regularization="gibbs")
        found = marginals(model, *scores)
        score = structure_from(right, scores).score(scores)
        assert loss.value == pytest.approx(found.log_partition - score, abs=1e-9)
        assert fenchel_young(model, right, *scores).value >= -1e-9
        assert sparsemap(model, *scores).marginals.shape == shapes[0]


@pytest.mark.parametrize(
    ("model", "scores", "message"),
    [
        (Segmentations(), [np.zeros((3, 2)), np.zeros((2, 2))], r"expected the shape \(tokens, longest, labels\)"),
        (Segmentations(), [np.zeros((3, 2, 2)), np.zeros((3, 3))], r"transitions: expected the shape \(2, 2\)"),
        (Constituents(), [np.zeros((3, 2))], r"expected the shape \(words, words\)"),
        (Constituents(), [np.zeros((0, 0))], r"expected the shape \(words, words\)"),
        (Alignments(), [np.zeros((3, 2, 2))], r"expected the shape \(rows \+ 1, columns \+ 1, 3\)"),
        (MonotoneChains(), [np.zeros((3, 2)), np.zeros((2, 3))], r"moves: expected the shape \(3, 3\)"),
        (MonotoneChains(), [np.zeros((3, 2))], "expected an array for each of scores, moves"),
        (Matchings(), [np.zeros((3, 2))], r"expected the shape \(rows, columns\)"),
        (Matchings(), [np.zeros((0, 2))], r"expected the shape \(rows, columns\)"),
        (Matchings(), [np.zeros((2, 2)), np.zeros(2)], "expected an array for each of scores"),
        (Matchings(), [np.full((4, 4), 1e308)], "scores: expected numbers of at most"),
        (Constituents(), [np.full((4, 4), 1e308)], "scores: expected numbers of at most"),
        (Constituents(), [np.full((4, 4), np.nan)], "scores"),
    ],
)
def test_wrong_scores_are_refused(model, scores, message):
    with pytest.raises(InputError, match=message):
        marginals(model, *scores)
    with pytest.raises(InputError, match=message):
        best_structure(model, scores)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Segmentations.structure([(0, 1, 0), (2, 1, 0)], 2, 2), "segments: expected rows"),
        (lambda: Segmentations.structure([(0, 3, 0)], 2, 2), "lengths from 1 to 2"),
        (lambda: Segmentations.structure([(0, 1, 2)], 2, 2), "labels from 0 to 1"),
        (lambda: Constituents.structure([(0, 1, 0), (0, 0, 0)], 2), "spans: expected rows"),
        (lambda: Constituents.structure([(0, 2, 0), (0, 1, 0), (1, 2, 0), (0, 0, 0), (1, 1, 0)], 3), "binary tree"),
        (lambda: Alignments.structure([0, 0], 2, 1), "lead to"),
        (lambda: MonotoneChains.structure([0, 3], 4), "advance by at most 2"),
        (lambda: Matchings().from_labels([0, 0], np.zeros((2, 3))), "a different column for each row"),
        (lambda: Matchings().from_labels([0, 3], np.zeros((2, 3))), "gold: expected 2 numbers from 0 to 2"),
        (lambda: Matchings.columns(np.array([0, 1]), 3), "positions: expected the places"),
        (lambda: Matchings().k_best(0, np.zeros((2, 2))), "k: expected"),
        (lambda: Alignments().k_best(0, np.zeros((2, 2, 3))), "k: expected"),
    ],
)
def test_invalid_structures_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("lengths", [None, [3, 1, 3], [2, 3, 1]])
@pytest.mark.parametrize(
    "name", ["segmentations", "constituents", "labelled constituents", "alignments", "matchings", "one state"]
)
def test_batches_are_their_instances(name, lengths):
    model, shapes, _ = CASES[name]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(3, *shapes[0])), *(rng.normal(size=s) for s in shapes[1:])]
    batch = batch_of(model, arrays, lengths=lengths)
    sums = batch_sums(batch)
    directions = [rng.normal(size=mean.shape) for mean in sums.means]
    tangent = sums.tangent(*directions)
    for k in range(3):
        one = marginals(model, *batch.instance(k))
        assert sums.log_partition[k] == pytest.approx(one.log_partition)
        size = [slice(length) for length in one.means[0].shape]
        own = [d[k] for d in directions]
        gradient = one.gradient(own[0][tuple(size)], *own[1:])
        for found, expected in zip((sums.means, tangent), (one.means, gradient), strict=True):
            for j, (a, b) in enumerate(zip(found, expected, strict=True)):
                assert a[k][tuple(size) if j == 0 else ...] == pytest.approx(b, abs=1e-9)
        assert sums.means[0][k].sum() == pytest.approx(one.means[0].sum())  # zero beyond the lengths
    scores = np.where(np.arange(3).reshape(3, *[1] * len(shapes[0])) == 1, -np.inf, arrays[0])
    with pytest.raises(InputError, match="instance 1 of the batch: every structure is forbidden"):
        batch_sums(batch_of(model, [scores, *arrays[1:]], lengths=lengths))


@pytest.mark.parametrize("forbidden", [0.0, 0.3])
@pytest.mark.parametrize("shapes", [[(4, 3), (3, 3)], [(4, 3), (4, 3, 3)], [(1, 2), (2, 2)]])
def test_k_best_labellings(shapes, forbidden):
    tokens, labels = shapes[0]
    every = itertools.product(range(labels), repeat=tokens)
    columns = matrix(shapes, [Chains.structure(np.array(x), labels, len(shapes[1]) == 3) for x in every])
    for seed in range(4):
        scores = drawn(shapes, seed, forbidden)
        values = np.array([flat(scores)[a > 0.0] @ a[a > 0.0] for a in columns.T])
        order = np.sort(values[values > -np.inf])[::-1]
        for k in (1, 5, 1000):
            found = k_best(Chains(), k, scores)
            assert [s.score(scores) for s in found] == pytest.approx(order[:k], abs=1e-9)
            assert len({s.key for s in found}) == len(found)


def test_k_best_begins_with_the_best():
    scores = drawn([(6, 6)], 0)
    first, second = k_best(ProjectiveTrees(single_root=True), 2, scores)
    assert first.key == best_structure(ProjectiveTrees(single_root=True), scores).key
    assert second.score(scores) < first.score(scores)


def test_k_best_refuses_other_oracles():
    with pytest.raises(InputError, match=r"an oracle with a method k_best\(k, \*scores\), not EnumeratedStructures"):
        k_best(EnumeratedStructures([np.ones(2)]), 2, drawn([(2,)], 0))
    for oracle, shapes in (
        (Chains(), [(2, 2), (2, 2)]),
        (Trees(), [(3, 3)]),
        (Matchings(), [(2, 2)]),
        (ProjectiveTrees("siblings"), [(3, 3), (3, 3, 3)]),
    ):
        with pytest.raises(InputError, match="k: expected"):
            k_best(oracle, 0, drawn(shapes, 0))


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
def test_k_best_trees(single_root, forbidden):
    """All maps of words to heads without cycles, arcs may cross."""
    every = []
    for heads in itertools.product(range(5), repeat=4):
        above = np.array([0, *heads])
        reached = above[above[above[above]]]
        if not reached.any() and (not single_root or heads.count(0) == 1):
            every.append(np.array([-1, *heads]))
    assert len(every) == (64 if single_root else 125)
    for seed in range(6):
        scores = drawn([(5, 5)], seed, forbidden)
        if seed > 2:
            scores = [np.round(scores[0])]  # many ties
        values = np.array([scores[0][heads[1:], range(1, 5)].sum() for heads in every])
        order = np.sort(values[values > -np.inf])[::-1]
        for k in (1, 6, 1000):
            found = k_best(Trees(single_root=single_root), k, scores)
            assert [s.score(scores) for s in found] == pytest.approx(order[:k], abs=1e-9)
            assert len({s.key for s in found}) == len(found)
            kinds = {tuple(Trees.heads(s)) for s in found}
            assert kinds <= {tuple(heads) for heads in every}


@pytest.mark.parametrize("parts", [("siblings",), ("grandchildren", "siblings")])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_k_best_projective_trees_with_parts(parts, single_root, forbidden):
    oracle = ProjectiveTrees(*parts, single_root=single_root)
    shapes = [(5, 5), *[(5, 5, 5)] * len(parts)]
    every = [oracle.structure(Trees.heads(found)) for found in trees(4, single_root)]
    columns = matrix(shapes, every)
    for seed in range(4):
        scores = drawn(shapes, seed, forbidden)
        if seed > 1:
            scores = [np.round(theta) for theta in scores]  # many ties
        values = np.array([flat(scores)[a > 0.0] @ a[a > 0.0] for a in columns.T])
        order = np.sort(values[values > -np.inf])[::-1]
        for k in (1, 5, 1000):
            found = k_best(oracle, k, scores)
            assert [s.score(scores) for s in found] == pytest.approx(order[:k], abs=1e-9)
            assert len({s.key for s in found}) == len(found)

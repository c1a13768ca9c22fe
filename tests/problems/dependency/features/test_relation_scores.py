"""The best relations of arcs against sums in Python, with and without cached sums."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colgen.learning.weights import FeatureWeights
from colgen.problems.dependency.features.label_scores import HEAD, PLACES, SIDES, Templates, key_of_pair
from colgen.problems.dependency.features.relation_scores import best_relations, relation_index

SIZES = np.array([1, 3, 5, 9, 4])
JOINED = np.array(
    [
        *([0, 0, PLACES, HEAD], [1, 0, SIDES, HEAD], [0, 3, SIDES, HEAD], [3, 0, SIDES, HEAD]),
        *([1, 2, PLACES, HEAD], [2, 1, SIDES, HEAD], [3, 4, SIDES, HEAD], [1, 3, PLACES, HEAD], [3, 3, SIDES, HEAD]),
    ]
)
COUNTS = SIZES[JOINED[:, 0]] * SIZES[JOINED[:, 1]] * JOINED[:, 2]
TEMPLATES = Templates(JOINED, SIZES[JOINED[:, 1]], np.cumsum(COUNTS) - COUNTS)
KIND = 1, 2
RELATIONS = 11


def random_features(rng, share):
    """Weights of some relations for 40% of all possible keys."""
    keys = np.flatnonzero(rng.random(COUNTS.sum()) < 0.4)
    which = [np.flatnonzero(rng.random(RELATIONS) < share) for _ in keys]
    which = [own if len(own) else rng.integers(0, RELATIONS, 1) for own in which]
    starts = np.cumsum([0, *map(len, which)])
    weights = rng.normal(size=starts[-1]).astype(np.float32)
    return FeatureWeights(keys, starts, np.concatenate(which).astype(np.int32), weights, RELATIONS)


def random_codes(rng):
    n = int(rng.integers(1, 16))
    codes = np.stack([rng.integers(-1, size, n + 3) for size in SIZES]).astype(np.int32)
    codes[0] = 0
    return codes


def naive_scores(features, codes, h, m):
    rows = {
        int(key): slice(*ends) for key, ends in zip(features.keys, itertools.pairwise(features.starts), strict=True)
    }
    scores = np.zeros(RELATIONS)
    for t in range(len(JOINED)):
        row = rows.get(int(key_of_pair(codes, TEMPLATES, t, h, m)))
        if row is not None:
            scores[features.labels[row]] += features.weights[row]
    return scores


@given(
    seed=st.integers(0, 10_000),
    share=st.sampled_from([0.1, 0.4, 1.0]),  # lists, lists and rows, rows
    kinds=st.integers(0, 30),
    pairs=st.integers(0, 300),
    kind=st.booleans(),
)
def test_best_relations_match_sums(seed, share, kinds, pairs, kind):
    """With space for all token kinds, some, or none; bitwise equal."""
    rng = np.random.default_rng(seed)
    features = random_features(rng, share)
    conjunctions = KIND if kind else ()
    used = relation_index(TEMPLATES, SIZES, features, conjunctions, kinds=kinds, pairs=pairs)
    for _ in range(3):
        codes = random_codes(rng)
        n = codes.shape[1] - 3
        best, which = best_relations(codes, used)
        for h, m in itertools.product(range(n + 1), range(n + 1)):
            if h == m or m == 0:
                assert best[h, m] == which[h, m] == 0
                continue
            scores = naive_scores(features, codes, h, m)
            np.testing.assert_allclose(best[h, m], scores.max(), atol=1e-4)
            np.testing.assert_allclose(scores[which[h, m]], scores.max(), atol=1e-4)
        fresh = relation_index(TEMPLATES, SIZES, features, conjunctions)
        for again in (best_relations(codes, fresh), best_relations(codes, used)):
            np.testing.assert_array_equal(again[0], best)
            np.testing.assert_array_equal(again[1], which)
    assert used.kinds.counts[0] <= kinds
    assert used.kinds.counts[1] <= pairs


def test_ties_are_broken_by_the_first_relation():
    codes = np.zeros((len(SIZES), 5), dtype=np.int32)
    starts = np.array([0, RELATIONS])
    weights = np.zeros(RELATIONS, dtype=np.float32)
    weights[[4, 7]] = 1.0
    place = int(key_of_pair(codes, TEMPLATES, 0, 0, 1))
    features = FeatureWeights(np.array([place]), starts, np.arange(RELATIONS, dtype=np.int32), weights, RELATIONS)
    best, which = best_relations(codes, relation_index(TEMPLATES, SIZES, features, KIND))
    assert (best[0, 1], which[0, 1]) == (1.0, 4)
    assert (best[2, 1], which[2, 1]) == (0.0, 0)

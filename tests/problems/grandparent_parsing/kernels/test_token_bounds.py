"""Bounds by single tokens are never below those by pairs, which equal the scorer's."""

import numpy as np
import pytest

from colgen.problems.dependency import Vocabulary, Weights
from colgen.problems.dependency.features.score_bounds import score_bounds
from colgen.problems.grandparent_parsing.kernels.token_bounds import loose_bounds, pair_bound, token_bounds
from tests.problems.dependency.treebank import random_weights, sentences


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_ordered(seed):
    text = sentences(15, seed)
    weights = random_weights(text[:10], seed)  # the last five contain unseen words
    pairs = weights.bounds["parent_child"]
    tokens = token_bounds(pairs)
    for sentence in text:
        codes = weights.vocabulary.encode(sentence).codes
        tight = score_bounds(codes, pairs, 0, 0)
        loose = loose_bounds(codes, tokens)
        assert (loose >= tight - 1e-6).all()
        assert (np.diag(loose) == 0.0).all()
        n = len(sentence)
        for p in range(n + 1):
            for c in range(1, n + 1):
                if p != c:
                    assert pair_bound(codes, pairs, p, c) == pytest.approx(tight[p, c])


def test_maxima_are_those_of_the_table():
    text = sentences(10, 0)
    weights = random_weights(text, 0)
    pairs = weights.bounds["parent_child"]
    tokens = token_bounds(pairs)
    held = np.flatnonzero(pairs.keys >= 0)
    largest = {}
    for key, weight in zip(pairs.keys[held].tolist(), pairs.values[held, 0].tolist(), strict=True):
        t = int(np.searchsorted(pairs.offsets, key, side="right")) - 1
        rest = key - int(pairs.offsets[t])
        first, rest = divmod(rest, int(pairs.strides[t, 0]))
        second, relation = divmod(rest, int(pairs.strides[t, 1]))
        for k, code in enumerate((first, second)):
            largest[k, t, code, relation] = max(largest.get((k, t, code, relation), 0.0), weight)
    for (k, t, code, relation), weight in largest.items():
        array = (tokens.first, tokens.second)[k]
        assert array[tokens.offsets[t, k] + 2 * code + relation] == pytest.approx(weight)


def test_a_table_without_weights():
    text = sentences(3, 0)
    weights = Weights.zero(Vocabulary.of(text))
    tokens = token_bounds(weights.bounds["parent_child"])
    assert not loose_bounds(weights.vocabulary.encode(text[0]).codes, tokens).any()

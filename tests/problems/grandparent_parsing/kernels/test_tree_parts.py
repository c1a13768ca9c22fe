"""Parts are scored on request."""

import numpy as np
import pytest

from colgen.problems.grandparent_parsing.kernels.tree_parts import all_parts, automata_of, given_parts, lazy_parts
from tests.problems.dependency.treebank import random_weights, sentence, sentences
from tests.problems.grandparent_parsing.kernels.test_automata_dual import scores


def test_only_requested_parts_count_as_scored():
    _, grandparents, siblings = scores(0, 5)
    arcs = np.full((6, 6), -np.inf)
    arcs[np.arange(5), np.arange(1, 6)] = 1.0
    parts = given_parts(6, grandparents, siblings)
    automata_of(arcs > -np.inf, arcs, parts)
    assert parts.scored[0] == 4  # a chain has one grandparent for each token but the first


@pytest.mark.parametrize("seed", range(4))
def test_stored_and_recomputed_parts_agree(seed):
    weights = random_weights(sentences(12, 0), 0)
    rng = np.random.default_rng(seed)
    encoded = weights.vocabulary.encode(sentence(rng, 9))
    size = len(encoded) + 1
    candidates = rng.random((size, size)) < 0.4
    candidates[:, 0] = candidates[np.arange(size), np.arange(size)] = False
    arcs = np.where(candidates, rng.normal(size=(size, size)), -np.inf)
    tables = weights.grandparents, weights.siblings
    every, most, most_siblings, last = all_parts(encoded.codes, *weights.lists)
    found = [
        automata_of(candidates, arcs, parts)
        for parts in (lazy_parts(encoded.codes, *tables), lazy_parts(encoded.codes, *tables, keep=False), every)
    ]
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)
    assert np.isfinite(found[0].siblings).sum() > 10
    assert np.isfinite(found[0].grandparents).sum() > 10
    heads, modifiers = found[0].heads, found[0].modifiers
    scorer = weights.encoded_scorer(encoded)
    for g, p in zip(heads.tolist(), modifiers.tolist(), strict=True):
        for c in modifiers[heads == p].tolist():
            if c != g:
                (score,) = scorer.grandparents([(g, p, c)])
                assert score <= most[p, c] + 1e-6
    for h, m in zip(heads.tolist(), modifiers.tolist(), strict=True):
        first, end = scorer.siblings([(h, h, m), (h, m, h)])
        assert first <= most_siblings[h, m] + 1e-6
        assert end == pytest.approx(last[h, m], abs=1e-6)

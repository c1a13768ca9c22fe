"""All triples of a sentence by lists against triples one by one."""

import numpy as np
import pytest

from colgen.problems.dependency.features.factored_scores import RELATIONS, empty_table, score_triples, table_of
from colgen.problems.dependency.features.triple_lists import all_grandparents, all_siblings, lists_of
from colgen.problems.dependency.features.vocabulary import CONJUNCTIONS, GRANDPARENT_TEMPLATES, SIBLING_TEMPLATES
from tests.problems.dependency.treebank import random_weights, sentence, sentences


@pytest.fixture(scope="module")
def model():
    return random_weights(sentences(12, 0), 0)


def dense_model(seed, kind, *, share):
    """Few codes, with weights for most possible features and for impossible ones."""
    rng = np.random.default_rng(seed)
    templates = np.array(SIBLING_TEMPLATES if kind else GRANDPARENT_TEMPLATES)
    sizes = np.full(len(CONJUNCTIONS), 3)
    sizes[0] = 1
    table = empty_table(templates, sizes, weights=1, relations=RELATIONS)
    every = [
        table.offsets[t] + RELATIONS * np.arange(np.prod(sizes[templates[t]]))[:, None] + np.arange(RELATIONS)
        for t in range(len(templates))
    ]
    keys = np.concatenate([keys.ravel() for keys in every])
    keys = keys[rng.random(len(keys)) < share]
    return table_of(table, keys, rng.normal(size=(len(keys), 1)).astype(np.float32))


def dense_codes(rng, n):
    codes = rng.integers(-1, 3, size=(len(CONJUNCTIONS), n + 3)).astype(np.int32)
    codes[0] = 0
    return codes


def check_grandparents(codes, table):
    n = codes.shape[1] - 3
    scores, most = np.full((n + 1,) * 3, np.nan), np.full((n + 1,) * 2, np.nan)
    all_grandparents(codes, lists_of(table, 0), scores, most)
    for p in range(n + 1):
        for c in range(n + 1):
            others = [g for g in range(n + 1) if g not in (p, c)]
            if 0 in (p, c) or p == c:
                assert most[p, c] == 0.0
                assert np.isnan(scores[p, :, c]).all()
                continue
            expected = score_triples(codes, table, 0, np.array([(g, p, c) for g in others]))
            np.testing.assert_allclose(scores[p, others, c], expected, atol=1e-6)
            assert most[p, c] == scores[p, others, c].max()
    return scores[np.isfinite(scores)]


def check_siblings(codes, table):
    n = codes.shape[1] - 3
    scores = np.full((n + 1,) * 3, np.nan)
    most, last = np.full((2, n + 1, n + 1), np.nan)
    all_siblings(codes, lists_of(table, 1), scores, most, last)
    for h in range(n + 1):
        for m in range(n + 1):
            if m in (0, h):
                assert most[h, m] == last[h, m] == 0.0
                continue
            before = [h, *range(min(h, m) + 1, max(h, m))]
            triples = [(h, s, m) for s in before] + [(h, m, h)]
            expected = score_triples(codes, table, 1, np.array(triples))
            np.testing.assert_allclose(scores[h, m, [*before, m]], expected, atol=1e-6)
            assert last[h, m] == scores[h, m, m]
            assert most[h, m] == scores[h, m, before].max()
    return scores[np.isfinite(scores)]


@pytest.mark.parametrize(("seed", "n"), [(1, 9), (2, 5), (3, 3), (4, 2), (5, 1)])
def test_all_triples_of_a_model(model, seed, n):
    codes = model.vocabulary.encode(sentence(np.random.default_rng(seed), n)).codes
    own = check_grandparents(codes, model.grandparents), check_siblings(codes, model.siblings)
    assert n < 5 or all(scores.any() for scores in own)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("seed", "n"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 14)])
def test_all_triples_of_dense_tables(seed, n, share):
    rng = np.random.default_rng(seed)
    codes = dense_codes(rng, n)
    check_grandparents(codes, dense_model(seed, 0, share=share))
    check_siblings(codes, dense_model(seed, 1, share=share))


@pytest.mark.parametrize("kind", [0, 1])
def test_lists_contain_the_table(model, kind):
    """Lists contain all table entries, except those of impossible relations."""
    table = model.siblings if kind else model.grandparents
    lists = lists_of(table, kind)
    held = table.values[table.keys >= 0, 0]
    np.testing.assert_array_equal(np.sort(lists.weights), np.sort(held))
    used = lists.ends[lists.keys >= 0]
    assert (used[:, 0] < used[:, 1]).all()
    assert (used[:, 1] - used[:, 0]).sum() == len(held)

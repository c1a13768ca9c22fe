"""Arc scores against sums over all templates in Python, with and without cached sums."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.dependency.features.arc_scores import arc_index, score_arcs
from colgen.problems.dependency.features.factored_scores import ROW, distance_bin, empty_table, table_of
from tests.problems.dependency.treebank import random_weights, sentence, sentences

SIZES = np.array([1, 3, 5, 9, 4])
TEMPLATES = np.array([[0, 0], [1, 0], [0, 2], [3, 0], [0, 3], [1, 2], [2, 1], [2, 2], [1, 3], [3, 4], [4, 1], [3, 3]])
KIND = 1, 2
TAGS = 3


def random_table(rng, share=0.4):
    """Weights for a share of all possible keys."""
    empty = empty_table(TEMPLATES, SIZES, weights=ROW, relations=2)
    every = int(empty.offsets[-1] + SIZES[3] * SIZES[3] * 2)
    keys = np.flatnonzero(rng.random(every) < share)
    return table_of(empty, keys, rng.normal(size=(len(keys), ROW)).astype(np.float32))


def random_sentence(rng):
    """Codes, some unknown, and tags."""
    n = int(rng.integers(1, 26))
    codes = np.stack([rng.integers(-1, size, n + 3) for size in SIZES]).astype(np.int32)
    codes[0] = 0
    return codes, rng.integers(0, TAGS, n + 3)


def naive_scores(table, codes, tags, between):
    n = codes.shape[1] - 3
    rows = {int(key): row.astype(float) for key, row in zip(table.keys, table.values, strict=True) if key >= 0}
    scores = np.full((n + 1, n + 1), -np.inf)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h == m:
                continue
            total = 0.0
            for (a, b), offset, strides in zip(TEMPLATES, table.offsets, table.strides, strict=True):
                if codes[a, h] >= 0 and codes[b, m] >= 0:
                    row = rows.get(int(offset + codes[a, h] * strides[0] + codes[b, m] * strides[1] + (h > m)))
                    total += 0.0 if row is None else row[0] + row[1 + distance_bin(h, m)]
            inside = {int(tags[k]) for k in range(min(h, m) + 1, max(h, m))}
            scores[h, m] = total + sum(float(between[tags[h], tags[m], int(h > m), k]) for k in inside)
    return scores


def random_between(rng):
    return rng.normal(size=(TAGS, TAGS, 2, TAGS)).astype(np.float32)


@given(seed=st.integers(0, 10_000), kinds=st.integers(0, 30), pairs=st.integers(0, 300), kind=st.booleans())
def test_scores_are_sums_over_all_templates(seed, kinds, pairs, kind):
    """With space for all token kinds, some, or none; bitwise equal."""
    rng = np.random.default_rng(seed)
    table, between = random_table(rng), random_between(rng)
    used = arc_index(table, KIND if kind else (), kinds=kinds, pairs=pairs)
    for _ in range(4):
        codes, tags = random_sentence(rng)
        found = score_arcs(codes, used, tags, between)
        np.testing.assert_allclose(found, naive_scores(table, codes, tags, between), atol=1e-5)
        fresh = arc_index(table, KIND if kind else ())
        np.testing.assert_array_equal(score_arcs(codes, fresh, tags, between), found)
        np.testing.assert_array_equal(score_arcs(codes, used, tags, between), found)
    assert used.kinds.counts[0] <= kinds
    assert used.kinds.counts[1] <= pairs


def test_two_models_at_once():
    rng = np.random.default_rng(0)
    tables, between = [random_table(rng) for _ in range(2)], random_between(rng)
    indices = [arc_index(table, KIND) for table in tables]
    for _ in range(10):
        codes, tags = random_sentence(rng)
        for table, index in zip(tables, indices, strict=True):
            expected = naive_scores(table, codes, tags, between)
            np.testing.assert_allclose(score_arcs(codes, index, tags, between), expected, atol=1e-5)


def test_no_weights():
    empty = empty_table(TEMPLATES, SIZES, weights=ROW, relations=2)
    codes, tags = random_sentence(np.random.default_rng(0))
    scores = score_arcs(codes, arc_index(empty, KIND), tags, np.zeros((TAGS, TAGS, 2, TAGS), dtype=np.float32))
    assert not scores[np.isfinite(scores)].any()


@pytest.mark.parametrize("seed", range(3))
def test_caches_are_per_model(seed):
    text = sentences(12, seed)
    model = random_weights(text, seed)
    given = sentence(np.random.default_rng(seed), 8)
    before = model.scorer(given).arcs
    halved = dataclasses.replace(
        model, arcs=model.arcs._replace(values=model.arcs.values / 2), between=model.between / 2
    )
    np.testing.assert_allclose(2 * halved.scorer(given).arcs, before, rtol=1e-6)
    np.testing.assert_array_equal(model.scorer(given).arcs, before)

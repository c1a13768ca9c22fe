"""Scores against a naive sum over templates, and bounds against all parts."""

import itertools

import numpy as np
import pytest

from colgen.problems.dependency import Vocabulary, Weights
from colgen.problems.dependency.features.vocabulary import ARC_TEMPLATES, GRANDPARENT_TEMPLATES, SIBLING_TEMPLATES
from tests.problems.dependency.treebank import random_weights, sentence, sentences


@pytest.fixture(scope="module")
def model():
    return random_weights(sentences(12, 0), 0)


@pytest.fixture(scope="module", params=[1, 2, 3])
def scorer(model, request):
    return model.scorer(sentence(np.random.default_rng(request.param), 7))


def lookup(table, template, codes, relation):
    key = table.offsets[template] + relation
    for position, code in enumerate(codes):
        if code < 0:
            return None
        key += code * table.strides[template, position]
    (slots,) = np.nonzero(table.keys == key)
    return table.values[slots[0]] if len(slots) else None


def distance(h, m):
    return int(np.searchsorted([1, 2, 3, 5, 9, 19], abs(h - m)))


def test_arcs_are_sums_over_templates(model, scorer):
    codes, tags, n = scorer.encoded.codes, scorer.encoded.tags, len(scorer)
    assert np.isneginf(scorer.arcs[:, 0]).all()
    assert np.isneginf(np.diag(scorer.arcs)).all()
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h == m:
                continue
            total = 0.0
            for t, (first, second) in enumerate(ARC_TEMPLATES):
                row = lookup(model.arcs, t, (codes[first, h], codes[second, m]), int(h > m))
                if row is not None:
                    total += row[0] + row[1 + distance(h, m)]
            between = {int(tags[k]) for k in range(min(h, m) + 1, max(h, m))}
            total += sum(model.between[tags[h], tags[m], int(h > m), k] for k in between)
            assert scorer.arcs[h, m] == pytest.approx(total, abs=1e-4)


def naive_triple(model, scorer, kind, i, j, k):
    n, codes = len(scorer), scorer.encoded.codes
    if kind == 0:
        table, templates, columns = model.grandparents, GRANDPARENT_TEMPLATES, (i, j, k)
        relation = 4 * (i > j) + 2 * (i > k) + (j > k)
    else:
        table, templates = model.siblings, SIBLING_TEMPLATES
        columns = (i, n + 1 if j == i else j, n + 2 if k == i else k)
        outer = j if k == i else k
        gap = abs(outer - i) if k == i else abs(k - j)
        relation = 2 * int(np.searchsorted([1, 2, 5], gap)) + (i > outer)
    found = [
        lookup(table, t, [codes[c, column] for c, column in zip(template, columns, strict=True)], int(relation))
        for t, template in enumerate(templates)
    ]
    return sum(float(row[0]) for row in found if row is not None)


def grandparent_parts(n):
    return [(g, p, c) for g, p, c in itertools.permutations(range(n + 1), 3) if p and c]


def sibling_parts(n):
    parts = []
    for h in range(n + 1):
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1)):
            for k, m in enumerate(side):
                parts += [(h, h, m), (h, m, h), *((h, s, m) for s in list(side)[:k])]
    return parts


@pytest.mark.parametrize("kind", [0, 1])
def test_triples_are_sums_over_templates(model, scorer, kind):
    parts = (grandparent_parts, sibling_parts)[kind](len(scorer))
    scores = (scorer.grandparents, scorer.siblings)[kind](parts)
    assert np.abs(scores).max() > 0.1
    for part, score in zip(parts, scores.tolist(), strict=True):
        assert score == pytest.approx(naive_triple(model, scorer, kind, *part), abs=1e-5)


def test_only_requested_parts_are_scored(model):
    scorer = model.scorer(sentence(np.random.default_rng(5), 6))
    scorer.grandparents([(0, 1, 2), (2, 1, 3)])
    scorer.siblings([(2, 2, 3)])
    assert scorer.scored == [2, 1]


def test_bounds_hold_for_all_parts(scorer):
    n = len(scorer)
    for part, score in zip(grandparent_parts(n), scorer.grandparents(grandparent_parts(n)), strict=True):
        g, p, c = part
        assert score <= scorer.parent_child_bounds[p, c] + 1e-5
        assert score <= scorer.grandparent_parent_bounds[g, p] + 1e-5
    for part, score in zip(sibling_parts(n), scorer.siblings(sibling_parts(n)), strict=True):
        h, s, m = part
        assert m == h or score <= scorer.head_modifier_bounds[h, m] + 1e-5
        assert s == h or score <= scorer.head_sibling_bounds[h, s] + 1e-5


def test_models_survive_a_round_trip(model, scorer, tmp_path):
    model.save(tmp_path / "model")
    again = Weights.load(tmp_path / "model")
    text = sentence(np.random.default_rng(9), 6)
    assert np.array_equal(again.scorer(text).arcs, model.scorer(text).arcs)
    parts = grandparent_parts(6)
    assert np.array_equal(again.scorer(text).grandparents(parts), model.scorer(text).grandparents(parts))
    assert again.single_root == model.single_root
    assert again.parts == model.parts


def test_unknown_words_have_no_code():
    text = sentences(4, 0)
    vocabulary = Vocabulary.of(text)
    assert (vocabulary.encode(text[0]).codes >= 0).all()
    strange = vocabulary.encode(text[0].__class__(("xyz",), coarse=("Q",)))
    assert (strange.codes[1:, 1] < 0).all()
    assert strange.codes[0, 1] == 0
    assert (strange.tags >= 0).all()

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import InputError
from colgen.problems.title_path.language import BEGIN, END, UNKNOWN, discounts, estimate

TEXT = [
    ["the", "tree", "is", "a", "tree"],
    ["a", "binary", "tree", "is", "a", "tree"],
    ["the", "heap", "is", "a", "binary", "heap"],
    ["sort", "the", "heap"],
    ["the", "list", "is", "sorted"],
]


def test_seen_bigrams_are_discounted_and_others_back_off():
    model = estimate(TEXT)
    p = dict(zip(model.vocabulary, model.distribution("a"), strict=True))
    assert p["tree"] < 2 / 4  # two of four
    assert p["tree"] > p["binary"] * 0.99
    assert p["list"] > 0
    ratio = p["list"] / p["sort"]
    unigram = dict(zip(model.vocabulary, model.unigrams, strict=True))
    assert ratio == pytest.approx(unigram["list"] / unigram["sort"])


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8), min_size=1, max_size=12))
def test_probabilities_sum_to_one(sentences):
    model = estimate(sentences)
    assert model.unigrams.sum() == pytest.approx(1.0)
    assert model.unigrams[model.vocabulary.index(BEGIN)] == 0.0
    for before in (*{word for sentence in sentences for word in sentence}, BEGIN, "never seen"):
        p = model.distribution(before)
        assert (p >= 0).all()
        assert p.sum() == pytest.approx(1.0)


def test_table_of_probabilities():
    model = estimate(TEXT)
    table = model.log_probabilities(["a", BEGIN, "never seen"], ["tree", "the", END, "unheard of"])
    assert table.shape == (3, 4)
    for row, before in enumerate(("a", BEGIN, "never seen")):
        for column, after in enumerate(("tree", "the", END, UNKNOWN)):
            p = model.distribution(before)[model.vocabulary.index(after)]
            assert table[row, column] == pytest.approx(math.log(p))


def test_nothing_comes_before_the_beginning():
    assert np.isneginf(estimate(TEXT).log_probabilities(["tree"], [BEGIN])).all()


PROSODY = (
    "1 120 2 40 3 24 4 13 5 15 6 5 7 11 8 2 9 2 10 1 12 3 14 2 15 1 16 1 17 3 19 1 20 3 21 2 23 3 24 3 25 3 26 2 27 2 "
    "28 1 31 2 32 2 33 1 34 2 36 2 41 3 43 1 45 3 46 1 47 1 50 1 71 1 84 1 101 1 105 1 121 1 124 1 146 1 162 1 193 1 "
    "199 1 224 1 226 1 254 1 257 1 339 1 421 1 456 1 481 1 483 1 1140 1 1256 1 1322 1 1530 1 2131 1 2395 1 6925 1 "
    "7846 1"
)
"""Gale and Sampson's worked example: counts, and numbers of items with each count."""


def test_worked_example_of_the_source():
    """The line has the slope -1.389374, and the smoothed estimate is used from a count of 1."""
    numbers = np.array(PROSODY.split(), dtype=int)
    counts = np.repeat(numbers[::2], numbers[1::2])
    assert counts.sum() == 30902
    d = discounts(counts)
    for r in (1, 2, 3, 10, 7846):
        assert d[r] * r == pytest.approx((r + 1) * ((r + 1) / r) ** -1.389374, rel=1e-5)


def test_turings_estimate_is_used_where_it_differs_much():
    counts = np.repeat([1, 2, 3, 4, 5, 6], [2000, 100, 90, 60, 30, 20])
    d = discounts(counts)
    assert d[1] == pytest.approx(2 * 100 / 2000)
    assert all(0 < d[r] < 1 for r in range(1, 7))


def test_discounts_of_one_count_alone():
    assert 0 < discounts(np.array([1, 1, 1]))[1] < 1
    assert 0 < discounts(np.array([7]))[7] < 1


def test_more_text_is_more_certain():
    rng = np.random.default_rng(0)
    text = [[str(w) for w in rng.integers(0, 8, 10)] for _ in range(400)]
    model = estimate(text)
    pairs = Counter(pair for sentence in text for pair in pairwise(sentence))
    singles = Counter(word for sentence in text for word in sentence)
    for (v, w), count in pairs.most_common(5):
        p = math.exp(model.log_probabilities([v], [w])[0, 0])
        assert p == pytest.approx(count / singles[v], rel=0.2)


def test_text_without_words_raises():
    with pytest.raises(InputError, match="a text with words"):
        estimate([])

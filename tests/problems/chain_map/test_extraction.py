"""Fast lookup of features: the same numbers as by names, and exactly the same scores."""

import numpy as np
import pytest

from colgen.problems.chain_map import extraction
from colgen.problems.chain_map.extraction import Extractor
from colgen.problems.chain_map.features import build_index
from colgen.problems.chain_map.learning import Tagger
from colgen.solvers.chains.perceptron import add_up_sparse
from tests.problems.chain_map.sentences import look_up

WORDS = (
    "Anna",
    "anna",
    "ran",
    "to",
    "Mali",
    "in",
    "1999",
    "McDonald's-2",
    "a b",
    "b",
    "a",
    "x y z",
    "<1>",
    "ß",
    "İx",
    ".",
)


def draw(rng, count):
    return [[str(word) for word in rng.choice(WORDS, int(rng.integers(1, 8)))] for _ in range(count)]


@pytest.mark.parametrize("least", [1, 2, 10**6])
def test_numbers_agree_with_the_names(least):
    rng = np.random.default_rng(least)
    index = build_index(draw(rng, 60), least)
    extractor = Extractor(index)
    fresh = [*draw(rng, 40), ["never", "seen", "Mali"], ["unseen"], ["a"], ["a b", "c"], ["a", "b c"]]
    for _ in range(2):  # new words, then stored words
        assert np.array_equal(extractor.look_up(fresh), look_up(fresh, index))
    for words in fresh:
        assert np.array_equal(extractor.look_up([words]), look_up([words], index))


def test_stored_words_are_bounded(monkeypatch):
    monkeypatch.setattr(extraction, "_MAX_STORED_WORDS", 5)
    rng = np.random.default_rng(3)
    index = build_index(draw(rng, 60), 1)
    extractor = Extractor(index)
    for words in draw(rng, 30):
        assert np.array_equal(extractor.look_up([words]), look_up([words], index))
    many = [[f"word{k}"] for k in range(3000)]
    assert np.array_equal(extractor.look_up(many), look_up(many, index))


def test_scores_agree_with_the_names_exactly():
    rng = np.random.default_rng(4)
    index = build_index(draw(rng, 60), 1)
    weights = rng.normal(size=(len(index), 5)) * (rng.random((len(index), 5)) < 0.3)
    tagger = Tagger.of_dense("pos", list("ABCDE"), index, weights, rng.normal(size=(5, 5)))
    sentences = draw(rng, 20)
    expected = np.empty((sum(map(len, sentences)), 5), dtype=np.float32)
    add_up_sparse(
        look_up(sentences, index), tagger.weights.starts, tagger.weights.labels, tagger.weights.weights, expected
    )
    assert np.array_equal(tagger.instance(sentences).scores, expected)

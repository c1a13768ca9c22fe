"""Taggers of characters: features against strings of n-grams, and labels against enumeration."""

import itertools
import random

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.problems.chain_map.characters import LEAST, WINDOWS, CharacterTagger, _keys, train_characters
from colgen.solvers.arrays import ArrayError

TEXTS = ["abca", "Ab", ["e\u0301", "a", "E\u0301"], "我a我", "1 .", "a"]


def ngrams(text):
    """The features of characters as tuples of what they contain."""
    kinds = "".join("L" if c[0].isupper() else "l" for c in text)
    for i in range(len(text)):
        own = []
        for k, (stream, first, length) in enumerate(WINDOWS):
            places = range(i + first, i + first + length)
            codes = [*map(str.lower, text)] if stream == 0 else kinds
            own.append((k, *(codes[p] if 0 <= p < len(text) else None for p in places)))
        yield own


def test_keys_are_equal_exactly_for_equal_ngrams():
    rng = random.Random(1)
    texts = ["".join(rng.choices("abAB", k=rng.randint(1, 9))) for _ in range(40)]
    keys, offsets = _keys(texts)
    names = [name for text in texts for own in ngrams(text) for name in own]
    pairs = {*zip(names, keys.ravel().tolist(), strict=True)}
    assert len(pairs) == len({name for name, _ in pairs}) == len({key for _, key in pairs})
    assert offsets.tolist() == [0, *itertools.accumulate(map(len, texts))]
    assert keys.min() >= 0


def learn(texts, labels, **options):
    return train_characters(texts, labels, epochs=5, say=lambda line: None, **options)


@pytest.fixture(scope="module")
def tagger():
    rng = random.Random(2)
    texts = ["".join(rng.choices("abcA", k=rng.randint(1, 8))) for _ in range(80)]
    return learn(texts, [[(c in "aA") + (c == "A") for c in text] for text in texts])


def test_labels_are_those_of_enumeration(tagger):
    for text in ["abcA", "A", "ccab", "我a", "aAbcb"]:
        instance = tagger.instance([text])
        every = list(itertools.product(range(tagger.num_labels), repeat=len(text)))
        scores = [
            sum(instance.scores[i, y] for i, y in enumerate(labels))
            + sum(tagger.transitions[a, b] for a, b in itertools.pairwise(labels))
            for labels in every
        ]
        (found,) = tagger.tag([text])
        assert abs(max(scores) - scores[every.index(tuple(found))]) < 1e-4


def test_texts_of_a_batch_do_not_change_each_other(tagger):
    texts = ["abcA", "A", "ccab", ["e\u0301", "a"], "我a"]
    assert tagger.tag(texts) == [tagger.tag([text])[0] for text in texts]


def test_unknown_characters_have_no_weights(tagger):
    alone = tagger.instance(["我我我我我我我我我我我我"]).scores
    assert np.ptp(alone[5:7], axis=0).max() == 0.0


def test_a_model_survives_a_round_trip(tagger):
    again = CharacterTagger.from_data(*tagger.data())
    assert again.tag(TEXTS) == tagger.tag(TEXTS)
    about, arrays = tagger.data()
    with pytest.raises(ArrayError, match="labels: expected indices from 0 to 1"):
        CharacterTagger.from_data({**about, "labels": 2}, arrays)


def test_empty_texts_are_refused(tagger):
    for texts in ([], ["ab", ""]):
        with pytest.raises(InputError, match="at least one"):
            tagger.instance(texts)


def test_rare_features_are_not_used():
    tagger = learn(["abc", "xyz"], [[0, 1, 0], [0, 1, 0]])
    keys, _ = _keys(["abc", "xyz"])
    _, counts = np.unique(keys, return_counts=True)
    assert len(tagger.weights) <= (counts >= LEAST).sum()

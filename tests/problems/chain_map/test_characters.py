"""Taggers of characters: features against strings of n-grams, and labels against enumeration."""

import itertools
import random

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.problems.chain_map.characters import (
    LEAST,
    LONGEST_WORD,
    WINDOWS,
    CharacterTagger,
    _Characters,
    _table,
    train_characters,
)
from colgen.solvers.arrays import ArrayError

TEXTS = ["abca", "Ab", ["e\u0301", "a", "E\u0301"], "我a我", "1 .", "a"]


def lengths(text, words):
    """For each character, the longest words that begin at it, end before it, and have it inside."""
    text, n = text.lower(), len(text)
    found = [(i, j) for i in range(n) for j in range(i + 1, min(n, i + LONGEST_WORD) + 1) if text[i:j] in words]
    edge = LONGEST_WORD + 1
    for p in range(n):
        yield (
            max((j - i + edge * (j == n) for i, j in found if i == p), default=0),
            max((j - i + edge * (i == 0) for i, j in found if j == p), default=0),
            max((j - i for i, j in found if i < p < j), default=0),
        )


def ngrams(text, words=()):
    """The features of characters as tuples of what they contain."""
    streams = [*zip(*lengths(text, words), strict=True)]
    kinds = "".join("L" if c[0].isupper() else "l" for c in text)
    for i in range(len(text)):
        own = []
        for k, (stream, first, length) in enumerate(WINDOWS):
            places = range(i + first, i + first + length)
            both = [*map(str.lower, text)], kinds, *streams, [*zip(*streams, strict=True)]
            codes = both[stream]
            own.append((k, *(codes[p] if 0 <= p < len(text) else None for p in places)))
        yield own


@pytest.mark.parametrize("words", [(), ("a", "ab", "bab", "aabb", 12 * "a", 13 * "b")])
def test_keys_are_equal_exactly_for_equal_ngrams(words):
    rng = random.Random(1)
    texts = ["".join(rng.choices("abAB", k=rng.randint(1, 9))) for _ in range(40)] + [20 * "a", 20 * "B"]
    characters = _Characters.of(texts)
    known = _Characters.of([word for word in words if len(word) <= LONGEST_WORD]).words()
    keys = characters.keys(_table(known)[0])
    names = [name for text in texts for own in ngrams(text, words) for name in own]
    pairs = {*zip(names, keys.ravel().tolist(), strict=True)}
    assert len(pairs) == len({name for name, _ in pairs}) == len({key for _, key in pairs})
    assert characters.offsets.tolist() == [0, *itertools.accumulate(map(len, texts))]
    assert keys.min() >= 0


def learn(texts, labels, words=()):
    return train_characters(texts, labels, words, epochs=5, say=lambda line: None)


@pytest.fixture(scope="module")
def tagger():
    rng = random.Random(2)
    texts = ["".join(rng.choices("abcA", k=rng.randint(1, 8))) for _ in range(80)]
    return learn(texts, [[(c in "aA") + (c == "A") for c in text] for text in texts], [[text[:2]] for text in texts])


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
    keys = _Characters.of(["abc", "xyz"]).keys(tagger._tables[0])
    _, counts = np.unique(keys, return_counts=True)
    assert len(tagger.weights) <= (counts >= LEAST).sum()


def test_words_of_the_dictionary_are_found_in_new_contexts():
    """Words that begin with letters of others are only told apart by the dictionary."""
    rng = random.Random(3)
    words = sorted({"".join(rng.choices("abcd", k=rng.randint(3, 5))) for _ in range(25)})
    texts = [[rng.choice(words) for _ in range(4)] for _ in range(300)]
    labels = [[int(k == 0) for word in text for k in range(len(word))] for text in texts]
    new = ["".join(rng.choice(words) for _ in range(6)) for _ in range(200)]

    def parts(tagger):
        for text, found in zip(new, tagger.tag(new), strict=True):
            begins = [k for k, label in enumerate(found) if label]
            yield from (text[a:b] for a, b in itertools.pairwise([*begins, len(text)]))

    joined = ["".join(text) for text in texts]
    with_words, without = learn(joined, labels, texts), learn(joined, labels)
    known, others = ([part in words for part in parts(tagger)] for tagger in (with_words, without))
    assert np.mean(known) > max(0.97, np.mean(others))

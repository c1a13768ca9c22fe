"""Codes of sentences, with cached tokens."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.dependency.features import vocabulary
from colgen.problems.dependency.features.vocabulary import CONJUNCTIONS, EDGE, ROOT, Vocabulary, _attributes
from colgen.problems.dependency.sentence import Sentence

FORMS, TAGS, CASES = ("Ab", "ba", "cab", "a"), ("N", "V"), ({}, {"Case": "Nom"}, {"Case": "Gen", "Number": "Sing"})


def random_sentences(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    forms = tuple(FORMS[k] for k in rng.integers(0, len(FORMS), n))
    coarse, fine = (tuple(TAGS[k] for k in rng.integers(0, 2, n)) for _ in range(2))
    lemmas = tuple(form.upper() if rng.random() < 0.5 else "_" for form in forms)
    return Sentence(forms, lemmas, coarse, fine, tuple(CASES[k] for k in rng.integers(0, 3, n)))


def naive_codes(known, sentence):
    """The code of each conjunction of each token, from its attributes in the sentence."""
    attributes = _attributes(sentence, known.slots)
    number = [{value: code for code, value in enumerate(values)} for values in known.data()["values"]]
    return [
        [number[k].get(tuple(attributes[name][at] for name in names), -1) for at in range(len(sentence) + 3)]
        for k, names in enumerate(CONJUNCTIONS)
    ]


@pytest.mark.parametrize("kept", [1, 1000])
def test_codes_match_a_naive_look_up(kept, monkeypatch):
    """Including tokens seen before with other neighbours, dropped from the cache, or unseen in training."""
    monkeypatch.setattr(vocabulary, "_KEPT", kept)
    known = Vocabulary.of(random_sentences(seed) for seed in range(4))
    for seed in (*range(30), *range(30)):
        sentence = random_sentences(seed)
        found = known.encode(sentence)
        assert found.codes.tolist() == naive_codes(known, sentence)
        assert found.tags.min() >= 0


WORDS = st.sampled_from(["the", "The", "dog", "zzz", "_", EDGE, ROOT])


@st.composite
def sentences(draw):
    length = draw(st.integers(1, 6))
    several = st.lists(WORDS, min_size=length, max_size=length).map(tuple)
    tags = st.lists(st.sampled_from(["NOUN", "VERB", "_", "X", EDGE]), min_size=length, max_size=length).map(tuple)
    features = st.dictionaries(st.sampled_from(["Case", "Number"]), st.sampled_from(["Nom", "Plur"]))
    morphology = st.lists(features, min_size=length, max_size=length).map(tuple)
    return Sentence(draw(several), draw(several), draw(tags), draw(tags), draw(morphology))


@given(known=st.lists(sentences(), min_size=0, max_size=3), others=st.lists(sentences(), min_size=1, max_size=4))
def test_any_sentences(known, others):
    """Including words that look like the edge or the root, and an empty vocabulary."""
    of_known = Vocabulary.of(known)
    for sentence in (*known, *others, *others):
        found = of_known.encode(sentence)
        assert found.codes.tolist() == naive_codes(of_known, sentence)
        assert found.codes.dtype == np.int32
        assert found.tags.dtype == np.int64


def test_the_token_cache_is_limited(monkeypatch):
    monkeypatch.setattr(vocabulary, "_KEPT", 5)
    known = Vocabulary.of(random_sentences(seed) for seed in range(4))
    for seed in range(20):
        known.encode(random_sentences(seed))
        assert len(known._tokens.rows) <= max(5, len(random_sentences(seed)))


def test_the_token_cache_is_not_pickled():
    known = Vocabulary.of(random_sentences(seed) for seed in range(4))
    before = [known.encode(random_sentences(seed)).codes.tolist() for seed in range(10)]
    again = pickle.loads(pickle.dumps(known))
    assert not again._tokens.rows
    for seed in reversed(range(10)):
        assert again.encode(random_sentences(seed)).codes.tolist() == before[seed]

"""Codes of sentences: tokens are looked up once, and their neighbours each time."""

import numpy as np
import pytest

from problems.dependency.features import vocabulary
from problems.dependency.features.vocabulary import CONJUNCTIONS, Vocabulary, _attributes
from problems.dependency.sentence import Sentence

FORMS, TAGS, CASES = ("Ab", "ba", "cab", "a"), ("N", "V"), ({}, {"Case": "Nom"}, {"Case": "Gen", "Number": "Sing"})


def made_up(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    forms = tuple(FORMS[k] for k in rng.integers(0, len(FORMS), n))
    coarse, fine = (tuple(TAGS[k] for k in rng.integers(0, 2, n)) for _ in range(2))
    lemmas = tuple(form.upper() if rng.random() < 0.5 else "_" for form in forms)
    return Sentence(forms, lemmas, coarse, fine, tuple(CASES[k] for k in rng.integers(0, 3, n)))


def looked_up(known, sentence):
    """Each conjunction of each token, by its attributes in the whole sentence."""
    attributes = _attributes(sentence, known.slots)
    number = [{value: code for code, value in enumerate(values)} for values in known.values()]
    return [
        [number[k].get(tuple(attributes[name][at] for name in names), -1) for at in range(len(sentence) + 3)]
        for k, names in enumerate(CONJUNCTIONS)
    ]


@pytest.mark.parametrize("kept", [1, 1000])
def test_codes_are_those_of_each_attribute_looked_up(kept, monkeypatch):
    """Also of tokens that have occurred among others before, or were forgotten, and of some that training never saw."""
    monkeypatch.setattr(vocabulary, "_KEPT", kept)
    known = Vocabulary.of(made_up(seed) for seed in range(4))
    for seed in (*range(30), *range(30)):
        sentence = made_up(seed)
        found = known.encode(sentence)
        assert found.codes.tolist() == looked_up(known, sentence)
        assert found.tags.min() >= 0

"""Relations that follow from tags and sides are learned, kept in models, and found."""

import dataclasses

import numpy as np
import pytest

from colgen import InputError
from colgen.problems.dependency import Vocabulary, Weights
from colgen.problems.dependency.labels import Labels, learn_labels
from colgen.solvers.arrays import ArrayError
from tests.problems.dependency.treebank import labelled, sentences


@pytest.fixture(scope="module")
def learned():
    text = [labelled(sentence) for sentence in sentences(80, 0)]
    vocabulary = Vocabulary.of(text)
    return vocabulary, learn_labels(text, [vocabulary.encode(each) for each in text], vocabulary)


def test_what_follows_from_tags_is_learned(learned):
    vocabulary, labels = learned
    right = total = 0
    for sentence in map(labelled, sentences(60, 1)):
        found = labels.of(vocabulary.encode(sentence), sentence.heads)
        right += sum(a == b for a, b in zip(found, sentence.relations, strict=True))
        total += len(sentence)
    assert right / total > 0.97  # 0.23 by the most frequent relation


def test_nothing_is_learned_of_relations_that_nobody_tells():
    text = sentences(5, 0)
    vocabulary = Vocabulary.of(text)
    assert learn_labels(text, [vocabulary.encode(each) for each in text], vocabulary) is None


def test_models_keep_labels_and_old_ones_have_none(learned, tmp_path):
    vocabulary, labels = learned
    weights = Weights.zero(vocabulary)
    weights.save(tmp_path / "old")
    assert Weights.load(tmp_path / "old").labels is None
    dataclasses.replace(weights, labels=labels).save(tmp_path / "new")
    again = Weights.load(tmp_path / "new").labels
    assert again.relations == labels.relations
    for sentence in sentences(10, 2):
        encoded = vocabulary.encode(sentence)
        assert again.of(encoded, sentence.heads) == labels.of(encoded, sentence.heads)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("labels.keys", lambda a: a[::-1].copy()),
        ("labels.starts", lambda a: a + 1),
        ("labels.labels", lambda a: a + 100),
        ("labels.weights", lambda a: a * np.nan),
        ("labels.transitions", lambda a: a[:, 1:]),
    ],
)
def test_arrays_of_something_else_are_refused(learned, name, value):
    vocabulary, labels = learned
    arrays = labels.arrays()
    with pytest.raises((InputError, ArrayError), match="labels"):  # whoever reads a file says which file
        Labels.from_arrays(labels.relations, {**arrays, name: value(arrays[name])}, vocabulary)

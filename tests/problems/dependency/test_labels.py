"""Relations that depend on tags and sides are learned, saved and predicted."""

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


def test_relations_are_learned(learned):
    vocabulary, labels = learned
    right = total = 0
    for sentence in map(labelled, sentences(60, 1)):
        found = labels.of(vocabulary.encode(sentence), sentence.heads)
        right += sum(a == b for a, b in zip(found, sentence.relations, strict=True))
        total += len(sentence)
    assert right / total > 0.97  # the most frequent relation gives 0.23


def test_no_labels_without_relations():
    text = sentences(5, 0)
    vocabulary = Vocabulary.of(text)
    assert learn_labels(text, [vocabulary.encode(each) for each in text], vocabulary) is None


def test_models_with_and_without_labels(learned, tmp_path):
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
def test_wrong_arrays_are_refused(learned, name, value):
    vocabulary, labels = learned
    arrays = labels.arrays()
    with pytest.raises((InputError, ArrayError), match="labels"):  # the reader adds the file name
        Labels.from_arrays(labels.relations, {**arrays, name: value(arrays[name])}, vocabulary)

"""Treebanks in a folder: which files are which part, and what is said where one is missing."""

import pytest

from colgen import InputError
from colgen.problems.dependency import write_conll
from colgen.problems.dependency.corpus import read_corpus
from tests.problems.dependency.treebank import sentences


def test_files_are_told_apart_by_their_names(tmp_path):
    for name, count in (("a-train-1", 3), ("a-train-2", 2), ("a-dev", 1), ("a-test", 2), ("b-test", 1)):
        write_conll(sentences(count, 0), tmp_path / f"{name}.conllu")
    corpus = read_corpus(tmp_path)
    assert (corpus.name, len(corpus.learn), len(corpus.tune), len(corpus.test)) == (tmp_path.name, 5, 1, 2)
    cut = corpus.cut(4, 1)
    assert (len(cut.learn), len(cut.tune), len(cut.test)) == (4, 1, 1)


def test_a_part_that_is_needed_and_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="'train' in its name"):
        read_corpus(tmp_path)
    write_conll(sentences(2, 0), tmp_path / "a-train.conllu")
    assert read_corpus(tmp_path).test == []
    with pytest.raises(InputError, match="'test' in its name"):
        read_corpus(tmp_path, ("train", "test"))

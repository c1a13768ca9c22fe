"""Treebanks in a folder: parts by file name, and errors for missing parts."""

import pytest

from colgen import InputError
from colgen.problems.dependency import write_conll
from colgen.problems.dependency.corpus import read_corpus
from tests.problems.dependency.treebank import sentences


def test_parts_by_file_name(tmp_path):
    for name, count in (("a-train-1", 3), ("a-train-2", 2), ("a-dev", 1), ("a-test", 2), ("b-test", 1)):
        write_conll(sentences(count, 0), tmp_path / f"{name}.conllu")
    corpus = read_corpus(tmp_path)
    assert (corpus.name, len(corpus.learn), len(corpus.tune), len(corpus.test)) == (tmp_path.name, 5, 1, 2)
    cut = corpus.cut(4, 1)
    assert (len(cut.learn), len(cut.tune), len(cut.test)) == (4, 1, 1)


def test_missing_parts(tmp_path):
    with pytest.raises(InputError, match="'train' in its name"):
        read_corpus(tmp_path)
    write_conll(sentences(2, 0), tmp_path / "a-train.conllu")
    assert read_corpus(tmp_path).test == []
    with pytest.raises(InputError, match="'test' in its name"):
        read_corpus(tmp_path, ("train", "test"))

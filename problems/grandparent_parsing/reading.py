"""What the command line reads: score files, and sentences with a trained model; and many sentences, parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from colgen import InputError
from colgen.template import check_options
from problems.dependency.conll import read_conll
from problems.dependency.scorer import SentenceScorer, Weights
from problems.dependency.sentence import Sentence
from problems.grandparent_parsing.instance import Instance, read
from problems.grandparent_parsing.parser import Parse, parse

OPTIONS = {"sentence": "number of the sentence in the file, counted from 1, the default"}


@dataclass
class ScoredSentence(SentenceScorer):
    """A sentence with the scores of a trained model."""

    sentence: Sentence | None = None


def read_instance(path: Path) -> Instance:
    """Read scores, ``.npz``.

    Raises
    ------
    InputError
        If the file is something else; of a text it says how to get a model.
    """
    if path.suffix == ".npz":
        return read(path)
    with path.open("rb"):  # a file that is not there is the first thing to say
        raise InputError(
            f"{path}: a sentence needs a trained model, `colgen train grandparent_parsing --data DIR --model FILE` "
            "makes one and --model FILE takes it; scores end in .npz"
        )


def score_instance(path: Path, model: Path, options: Mapping[str, str]) -> ScoredSentence:
    """The scores of a sentence in a CoNLL-U or CoNLL-X file, by a trained model; options see ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    check_options(options, OPTIONS)
    number = options.get("sentence", "1")
    if not (number.isascii() and number.isdigit() and int(number)):
        raise InputError(f"option sentence: expected a whole number, one or more, not {number!r}")
    sentences = read_conll(path)
    if int(number) > len(sentences):
        raise InputError(f"option sentence: {path} has {len(sentences)} sentences, there is no number {number}")
    weights, sentence = Weights.load(model), sentences[int(number) - 1]
    return ScoredSentence(weights, weights.vocabulary.encode(sentence), sentence=sentence)


def parse_sentences(sentences: Iterable[Sentence], weights: Weights) -> Iterator[tuple[Sentence, Parse]]:
    """Sentences with the heads of their best trees, and what is proved of these."""
    for sentence in sentences:
        found = parse(weights.scorer(sentence))
        yield (sentence if found.heads is None else sentence.with_heads(found.heads)), found

"""What the command line reads: score files, and sentences with a trained model, one of them or all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from colgen import InputError
from colgen.cli.template import Material, check_options
from colgen.core.arrays import arrays_in
from colgen.core.files import check_readable
from colgen.core.stop import StopRule
from problems.dependency.reading import SENTENCE, choose_sentence
from problems.dependency.scorer import SentenceScorer, Weights
from problems.dependency.sentence import Heads, Sentence
from problems.grandparent_parsing.instance import Instance, read
from problems.grandparent_parsing.parser import parse
from problems.grandparent_parsing.parses import Parse

OPTIONS = {"sentence": SENTENCE}


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
    check_readable(path)  # a file that is not there is the first thing to say
    raise InputError(
        f"{path}: sentences need a trained model, `colgen train grandparent_parsing --data DIR --model FILE` "
        "makes one and --model FILE takes it; scores end in .npz"
    )


def is_model(path: Path) -> bool:
    """Whether a file is a trained model."""
    return "head" in arrays_in(path)


def score_instance(material: Material, model: Path, options: Mapping[str, str]) -> ScoredSentence:
    """The scores of one of the sentences in CoNLL-U or CoNLL-X, by a trained model; options see ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    check_options(options, OPTIONS)
    weights, sentence = Weights.load(model), choose_sentence(material, options)
    return ScoredSentence(weights, weights.vocabulary.encode(sentence), sentence=sentence)


def parse_sentences(
    sentences: Iterable[Sentence], weights: Weights, stop: Sequence[StopRule] = ()
) -> Iterator[tuple[Sentence, Parse]]:
    """Sentences with their best trees, without heads where there is no tree, and what is proved of these.

    Relations are found once the tree is, where the model knows any: what is proved does not speak of them.
    """
    for sentence in sentences:
        scorer = weights.scorer(sentence)
        found = parse(scorer, stop=stop)
        if found.heads is None:
            yield replace(sentence, heads=None, relations=None), found
        else:
            yield labelled(sentence, found.heads, scorer), found


def labelled(sentence: Sentence, heads: Heads, scorer: SentenceScorer) -> Sentence:
    """The sentence with these heads, and what its tokens are to them as far as the model knows."""
    labels = scorer.weights.labels
    return sentence.with_heads(heads, None if labels is None else labels.of(scorer.encoded, heads))

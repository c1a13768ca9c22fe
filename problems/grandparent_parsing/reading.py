"""What the command line reads: score files, and sentences with a trained model, one of them or all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from colgen import InputError
from colgen.cli.template import Material, check_options
from colgen.core.array_files import arrays_in
from colgen.core.files import check_readable
from colgen.core.stop import StopRule
from colgen.problems.dependency.conll import conll_lines
from colgen.problems.dependency.reading import SENTENCE, TREES, WantedTrees, choose_sentence, heads_data
from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.grandparent_parsing.instance import GrandparentInstance, read
from colgen.problems.grandparent_parsing.parser import parse
from colgen.problems.grandparent_parsing.parses import Parse

LONGEST = 2000
"""Words of a sentence, at most: so many take up to 4 GB, and twice as many four times that."""

OPTIONS = {"sentence": SENTENCE, **TREES}


@dataclass
class ScoredSentence(SentenceScorer):
    """A sentence with the scores of a trained model, and which of its trees are wanted."""

    sentence: Sentence | None = None
    wanted: WantedTrees = field(default_factory=WantedTrees)


def read_instance(path: Path) -> GrandparentInstance:
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


def check_length(forms: Sequence[str]) -> None:
    """Refuse sentences that would fill the memory.

    Raises
    ------
    InputError
        Naming how many words there are, and how to have fewer.
    """
    if len(forms) > LONGEST:
        raise InputError(
            f"the sentence that begins {' '.join(forms[:6])[:60]!r} has {len(forms):,} words, expected at most "
            f"{LONGEST:,}: part the text, by an empty line between paragraphs or by signs that end sentences"
        )


def score_instance(material: Material, model: Path, options: Mapping[str, str]) -> ScoredSentence:
    """The scores of one of the sentences in CoNLL-U or CoNLL-X, by a trained model; options see ``OPTIONS``.

    Raises
    ------
    InputError
        If a file is something else, or an option is unknown or has an impossible value.
    """
    check_options(options, OPTIONS)
    wanted = WantedTrees.of(options)
    weights, sentence = Weights.load(model), choose_sentence(material, options)
    check_length(sentence.forms)
    return ScoredSentence(weights, weights.vocabulary.encode(sentence), sentence=sentence, wanted=wanted)


def parse_sentences(
    sentences: Iterable[Sentence],
    weights: Weights,
    stop: Sequence[StopRule] = (),
    *,
    single_root: bool | None = None,
    projective: bool | None = None,
) -> Iterator[tuple[Sentence, Parse]]:
    """Sentences with their best trees, without heads where there is no tree, and what is proved of these.

    Relations are found once the tree is, where the model knows any: what is proved does not speak of them.

    Parameters
    ----------
    stop, single_root, projective
        See :func:`colgen.problems.grandparent_parsing.parser.parse`.
    """
    for sentence in sentences:
        check_length(sentence.forms)
        scorer = weights.scorer(sentence)
        found = parse(scorer, stop=stop, single_root=single_root, projective=projective)
        if found.heads is None:
            yield replace(sentence, heads=None, relations=None), found
        else:
            yield labelled(sentence, found.heads, scorer), found


def labelled(sentence: Sentence, heads: Heads, scorer: SentenceScorer) -> Sentence:
    """The sentence with these heads, and what its tokens are to them as far as the model knows."""
    return sentence.with_heads(heads, scorer.relations(heads))


def listed_lines(sentence: Sentence, scorer: SentenceScorer, found: Sequence[Parse]) -> list[str]:
    """A sentence with its best trees, one below the other: a comment says what each scores, and if it is not proved."""
    if not found:
        return [*conll_lines(replace(sentence, heads=None, relations=None)), ""]
    lines = []
    for number, each in enumerate(found, 1):
        assert each.heads is not None  # lists hold trees
        unproved = "" if each.is_optimal else ", not proved"
        lines.append(f"# tree {number} of {len(found)}, score {each.score:.6g}{unproved}")
        lines += [*conll_lines(labelled(sentence, each.heads, scorer)), ""]
    return lines


def listed_data(sentence: Sentence, scorer: SentenceScorer, found: Sequence[Parse]) -> list[Any]:
    """The same as plain data for JSON."""
    trees = [labelled(sentence, each.heads, scorer) for each in found if each.heads is not None]
    return [heads_data(tree.forms, tree.heads or (), tree.relations) for tree in trees]

"""From raw text to labelled trees on the command line."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from colgen.cli.template import Material, Solved, check_options, whole_number
from colgen.core.array_files import arrays_in
from colgen.core.errors import InputError
from colgen.core.stop import StopRule
from colgen.problems.dependency.conll import conll_lines
from colgen.problems.dependency.reading import heads_data
from colgen.problems.grandparent_parsing import command as parsing
from colgen.problems.grandparent_parsing.instance import PartScores
from colgen.problems.grandparent_parsing.reading import ScoredSentence
from colgen.problems.pipeline import training
from colgen.problems.pipeline.model import Analysed, Pipeline
from colgen.problems.pipeline.texts import read_paragraphs
from colgen.problems.pipeline.training import train_from_files

OPTIONS = {"sentence": "number of the sentence of the text whose tree to find, counted from 1; all of them by default"}

GIVEN = "(the tags given the words, the tree given the tags)"


def _read(path: Path) -> PartScores:
    """Read a text: paragraphs with empty lines between them, with a model that ``colgen train pipeline`` has made.

    A file that ends in ``.npz`` holds the scores of one sentence's trees, the last step's problem by itself, as
    ``grandparent_parsing`` reads them.
    """
    if path.suffix == ".npz":
        return parsing.TEMPLATE.read(path)  # type: ignore[no-any-return]
    raise InputError(
        f"{path}: a text needs a trained model, `colgen train pipeline --data DIR --model FILE` makes one and "
        "--model FILE takes it; scores end in .npz"
    )


def is_model(path: Path) -> bool:
    """Whether a file is a pipeline, of any version."""
    return "pipeline" in arrays_in(path)


def _score(material: Material, model: Path, options: Mapping[str, str]) -> ScoredSentence:
    """The scores of the trees of one sentence of a text, its words and tags found."""
    check_options(options, OPTIONS)
    number = whole_number(options, "sentence", 1)
    pipeline = Pipeline.load(model)
    tagged = pipeline.tagged(read_paragraphs(material.lines()))
    sentence = next(itertools.islice(tagged, number - 1, None), None)
    if sentence is None:
        raise InputError(f"option sentence: {material.name} has no sentence number {number}")
    return ScoredSentence(pipeline.parser, pipeline.parser.vocabulary.encode(sentence), sentence=sentence)


def _solve_all(
    material: Material, model: Path, options: Mapping[str, str], stop: Sequence[StopRule]
) -> Iterator[Solved] | None:
    """All sentences of a text as CoNLL-U, each as soon as it is parsed."""
    check_options(options, OPTIONS)
    if "sentence" in options:
        return None
    pipeline, paragraphs = Pipeline.load(model), read_paragraphs(material.lines())
    if not material.is_typed:
        return map(_solved, pipeline.analyse(paragraphs, stop))
    return (_solved(found) for paragraph in paragraphs for found in pipeline.analyse([paragraph], stop))


def _solved(found: Analysed) -> Solved:
    sentence, parse = found.sentence, found.parse
    data = None if sentence.heads is None else heads_data(sentence.forms, sentence.heads, sentence.relations)
    lines = [*conll_lines(sentence), ""]
    return Solved(lines, data, parse.termination, parse.score, parse.bound, given=GIVEN)


TEMPLATE = replace(
    parsing.TEMPLATE,
    name="pipeline",
    title="From raw text to labelled trees: sentences, words, tags, lemmas and trees, each step exact",
    source="chain_map and grandparent_parsing, one after the other",
    read=_read,
    demo=(),
    compiling=30.0,
    train=train_from_files,
    train_options=training.OPTIONS,
    train_files=True,
    score=_score,
    score_options=OPTIONS,
    solve_all=_solve_all,
    is_model=is_model,
    form="",
)

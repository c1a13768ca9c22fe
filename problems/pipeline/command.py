"""From raw text to labelled trees on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from colgen.cli.option import Option
from colgen.cli.template import Material, Solved, Template
from colgen.core.stop import StopRule
from colgen.problems.dependency.reading import SENTENCE
from colgen.problems.dependency.scorer import Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing import command as parsing
from colgen.problems.grandparent_parsing.instance import GrandparentInstance, read
from colgen.problems.grandparent_parsing.parses import Parse
from colgen.problems.pipeline import training
from colgen.problems.pipeline.model import Pipeline
from colgen.problems.pipeline.texts import check_written, read_paragraphs
from colgen.problems.pipeline.training import train_from_files

GIVEN = "(the tags given the words, the tree given the tags)"


def _read(path: Path) -> GrandparentInstance:
    """Read a text with empty lines between paragraphs, for a model made by ``colgen train pipeline``.

    A file that ends in ``.npz`` contains the tree scores of one sentence, the problem of the last step, in the format
    of ``grandparent_parsing``.
    """
    return read(path)


class AnalysedText(parsing.ParsedSentences):
    """The sentences of a raw text, with words and tags found by a pipeline."""

    saved = Pipeline
    options: ClassVar[Mapping[str, Option]] = {"sentence": SENTENCE}

    def _load(self, model: Path) -> Weights:
        self._pipeline = Pipeline.load(model)
        return self._pipeline.parser

    def read(self, material: Material) -> Iterator[Sentence]:
        """Yield sentences with tags; a text that is typed is processed paragraph by paragraph."""
        paragraphs = read_paragraphs(material.lines())
        if not material.is_typed:
            return self._pipeline.tag_paragraphs(paragraphs)
        return (sentence for paragraph in paragraphs for sentence in self._pipeline.tag_paragraphs([paragraph]))

    def solve(self, template: Template, texts: Iterable[Sentence], stop: Sequence[StopRule]) -> Iterator[Solved]:
        solved = super().solve(template, texts, stop)
        return (replace(each, given=GIVEN) for each in solved)

    def _parses(self, sentences: Iterable[Sentence], stop: Sequence[StopRule]) -> Iterator[tuple[Sentence, Parse]]:
        for sentence, found in super()._parses(sentences, stop):
            check_written(sentence)
            yield sentence, found


TEMPLATE = replace(
    parsing.TEMPLATE,
    name="pipeline",
    title="From raw text to labelled trees: sentences, words, tags, lemmas and trees, each step exact",
    source="chain_map and grandparent_parsing in sequence",
    read=_read,
    texts=AnalysedText,
    train=train_from_files,
    train_options=training.OPTIONS,
    demo=(),
    compiling=30.0,
)

"""Second-order dependency parsing on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colgen.result import Result
from colgen.template import Template
from problems.dependency.conll import conll_lines
from problems.grandparent_parsing.demo import sentence, short_sentence
from problems.grandparent_parsing.experiment import bench_grandparent_parsing
from problems.grandparent_parsing.instance import PartScores
from problems.grandparent_parsing.reading import ScoredSentence, read_instance, score_instance
from problems.grandparent_parsing.template import GrandparentParsing
from problems.grandparent_parsing.training import train_from_files


def _lines(scores: PartScores, result: Result) -> Sequence[str]:
    """A sentence as CoNLL-U with its heads; of bare scores the head of each token."""
    if isinstance(scores, ScoredSentence) and scores.sentence is not None:
        return conll_lines(scores.sentence.with_heads(result.answer))
    return [f"{token:>4} {head:>4}" for token, head in enumerate(result.answer, 1)]


def _data(scores: PartScores, result: Result) -> Any:
    words: Sequence[str | None] = (None,) * len(scores)
    if isinstance(scores, ScoredSentence) and scores.sentence is not None:
        words = scores.sentence.forms
    return [
        {"number": number, "word": word, "head": head}
        for number, (word, head) in enumerate(zip(words, result.answer, strict=True), 1)
    ]


TEMPLATE = Template(
    name="grandparent_parsing",
    title="Second-order dependency parsing: the best tree of arcs, grandparents and siblings",
    source="Riedel, Smith and McCallum (2012)",
    read=read_instance,
    problem=GrandparentParsing,
    lines=_lines,
    data=_data,
    demo=(short_sentence, sentence),
    benchmarks={"grandparent_parsing": bench_grandparent_parsing},
    train=train_from_files,
    score=score_instance,
)

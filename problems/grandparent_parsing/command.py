"""Second-order dependency parsing on the command line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from colgen import solve
from colgen.cli.demonstration import Complete, demonstrations
from colgen.cli.template import Solved, Template
from colgen.core.result import Result
from colgen.core.stop import StopRule
from colgen.learning.models import SavedModel
from colgen.problems.dependency.drawing import draw_tree
from colgen.problems.dependency.reading import Sentences, Tree, heads_data, tree_data, tree_lines
from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing import training
from colgen.problems.grandparent_parsing.automata import AutomataParsing
from colgen.problems.grandparent_parsing.baseline import solve_complete
from colgen.problems.grandparent_parsing.instance import (
    GrandparentInstance,
    PartScores,
    random,
    read,
    wants_projective,
    write,
)
from colgen.problems.grandparent_parsing.model import grandparent_triples
from colgen.problems.grandparent_parsing.pairs import PairParsing
from colgen.problems.grandparent_parsing.parser import add_relations, check_length, parse_sentences
from colgen.problems.grandparent_parsing.parses import Parse, make_parses
from colgen.problems.grandparent_parsing.template import GrandparentParsing
from colgen.problems.grandparent_parsing.training import train_from_files


@dataclass
class ScoredSentence(SentenceScorer):
    """A sentence with the scores of a trained model and the options for its trees; see :class:`Sentences`."""

    sentence: Sentence | None = None
    best: int = 1
    projective: bool | None = None
    single_root: bool | None = None

    def trees(self, found: Sequence[Parse]) -> list[Tree]:
        """Return the trees of parses, with relations if the model has them."""
        assert self.sentence is not None
        return [Tree(add_relations(self.sentence, p.heads, self), p.score, p.is_optimal) for p in found if p.heads]


def _problem(scores: PartScores) -> GrandparentParsing | AutomataParsing:
    """Return the linear-programming parser, or the one that the instance's pairs or options need."""
    if isinstance(scores, ScoredSentence):
        if scores.best > 1 or scores.projective:
            return _automata(scores)
        return GrandparentParsing(scores, single_root=scores.single_root)
    if isinstance(scores, GrandparentInstance) and scores.pair_scores is not None:
        return PairParsing(scores)
    return AutomataParsing(scores) if wants_projective(scores) else GrandparentParsing(scores)


def _automata(scores: ScoredSentence) -> AutomataParsing:
    return AutomataParsing(scores, single_root=scores.single_root, projective=scores.projective, k=scores.best)


# Output: trees of a sentence, or heads if there are only scores.


def _answer(scores: PartScores, result: Result) -> Any:
    if not isinstance(scores, ScoredSentence) or result.answer is None:
        return result.answer
    if scores.best > 1:
        return scores.trees(make_parses(_automata(scores), result))
    assert scores.sentence is not None
    return [Tree(add_relations(scores.sentence, result.answer, scores), result.objective)]


def _lines(scores: PartScores, answer: Any) -> list[str]:
    if isinstance(scores, ScoredSentence) and scores.sentence is not None:
        return tree_lines(scores.sentence, answer, listed=scores.best > 1)
    return [f"{token:>4} {head:>4}" for token, head in enumerate(answer, 1)]


def _data(scores: PartScores, answer: Any) -> Any:
    if isinstance(scores, ScoredSentence):
        return tree_data(answer, listed=scores.best > 1)
    return heads_data((None,) * len(scores), answer)


def _draw(scores: PartScores, answer: Any) -> Any:
    if isinstance(scores, ScoredSentence):
        return draw_tree(answer[0].sentence.forms, answer[0].sentence.heads)
    return draw_tree(list(map(str, range(1, len(scores) + 1))), answer)


class ParsedSentences(Sentences):
    """Sentences whose trees the exact parser finds and proves."""

    saved: ClassVar[type[SavedModel]] = Weights

    def __init__(self, model: Path, values: Mapping[str, Any]) -> None:
        super().__init__(model, values)
        self._weights = self._load(model)

    def _load(self, model: Path) -> Weights:
        return Weights.load(model)

    def instance(self, text: Sentence) -> ScoredSentence:
        check_length(text.forms)
        encoded = self._weights.vocabulary.encode(text)
        return ScoredSentence(
            self._weights,
            encoded,
            sentence=text,
            best=self.best,
            projective=self.projective,
            single_root=self.single_root,
        )

    def lines(self, instance: ScoredSentence, answer: Sequence[Tree]) -> list[str]:
        return _lines(instance, answer)

    def solve(self, template: Template, texts: Iterable[Sentence], stop: Sequence[StopRule]) -> Iterator[Solved]:
        if self.best > 1:
            return (self._solved_list(self.instance(sentence), stop) for sentence in texts)
        return (self._solved(sentence, found) for sentence, found in self._parses(texts, stop))

    def _parses(self, sentences: Iterable[Sentence], stop: Sequence[StopRule]) -> Iterator[tuple[Sentence, Parse]]:
        kind = {"single_root": self.single_root, "projective": self.projective}
        return parse_sentences(sentences, self._weights, stop, **kind)

    def _solved(self, sentence: Sentence, found: Parse) -> Solved:
        trees = [] if found.heads is None else [Tree(sentence, found.score)]
        return Solved(tree_lines(sentence, trees), tree_data(trees), found.termination, found.score, found.bound)

    def _solved_list(self, scores: ScoredSentence, stop: Sequence[StopRule]) -> Solved:
        problem = _automata(scores)
        result = solve(problem, stop=stop)
        found = make_parses(problem, result)
        trees, score = scores.trees(found), found[-1].score if found else -math.inf
        data = tree_data(trees, listed=True)
        return Solved(_lines(scores, trees), data, result.termination, score, max(score, result.dual_bound))


def _complete(scores: GrandparentInstance) -> Complete:
    found = solve_complete(scores)
    return found.objective if found.is_integral else None, True


def _compile(scores: GrandparentInstance) -> None:
    solve_complete(scores)
    GrandparentParsing(scores, start="tree").master()


DEMO = demonstrations(
    lambda: random(8, 0),
    lambda: random(15, 1),
    small=lambda: random(2, 0),
    problem=GrandparentParsing,
    brute_force="complete linear program in HiGHS",
    complete=_complete,
    possible=lambda scores: len(grandparent_triples(len(scores))),
    used=lambda problem, result: problem.added["grandparent"],
    prepare=_compile,
)

TEMPLATE = Template(
    name="grandparent_parsing",
    title="Second-order dependency parsing: the best tree of arcs, grandparents and siblings",
    source="Riedel, Smith and McCallum (2012)",
    problem=_problem,
    read=read,
    suffixes=(".npz",),
    example=lambda path: write(random(6, 0), path),
    answer=_answer,
    lines=_lines,
    data=_data,
    draw=_draw,
    texts=ParsedSentences,
    train=train_from_files,
    train_options=training.OPTIONS,
    train_files=True,
    skips=True,
    demo=DEMO,
    compiling=16.0,
)

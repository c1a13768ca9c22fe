"""Second-order dependency parsing on the command line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from colgen import solve
from colgen.cli.template import Material, Solved, Template, check_options, form_of
from colgen.core.result import Result
from colgen.core.stop import StopRule
from colgen.problems.dependency.conll import conll_lines
from colgen.problems.dependency.drawing import draw_tree
from colgen.problems.dependency.reading import WantedTrees, heads_data, read_sentences
from colgen.problems.dependency.scorer import SentenceScorer, Weights
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.grandparent_parsing import reading, training
from colgen.problems.grandparent_parsing.automata import AutomataParsing
from colgen.problems.grandparent_parsing.demo import sentence, short_sentence
from colgen.problems.grandparent_parsing.instance import (
    GrandparentInstance,
    PartScores,
    random,
    read,
    wants_projective,
    write,
)
from colgen.problems.grandparent_parsing.pairs import PairParsing
from colgen.problems.grandparent_parsing.parses import Parse, parsed_list
from colgen.problems.grandparent_parsing.reading import (
    ScoredSentence,
    check_length,
    is_model,
    labelled,
    listed_data,
    listed_lines,
    parse_sentences,
    read_instance,
    score_instance,
)
from colgen.problems.grandparent_parsing.template import GrandparentParsing
from colgen.problems.grandparent_parsing.training import train_from_files


def _problem(scores: PartScores) -> GrandparentParsing | AutomataParsing:
    """With pairs of modifiers where an instance has scores of them; without a linear program where that knows none."""
    if isinstance(scores, ScoredSentence):
        wanted = scores.wanted
        if wanted.best > 1 or wanted.projective:
            return _of_wanted(scores, wanted)
        return GrandparentParsing(scores, single_root=wanted.single_root)
    if isinstance(scores, GrandparentInstance) and scores.pair_scores is not None:
        return PairParsing(scores)
    return AutomataParsing(scores) if wants_projective(scores) else GrandparentParsing(scores)


def _of_wanted(scores: PartScores, wanted: WantedTrees) -> AutomataParsing:
    return AutomataParsing(scores, single_root=wanted.single_root, projective=wanted.projective, k=wanted.best)


def _found(scores: ScoredSentence, result: Result) -> list[Parse]:
    """The trees of an answer, best first."""
    return parsed_list(_of_wanted(scores, scores.wanted), result)


def _lines(scores: PartScores, result: Result) -> Sequence[str]:
    """A sentence as CoNLL-U with its trees; of bare scores the head of each token."""
    if isinstance(scores, ScoredSentence) and scores.sentence is not None:
        if scores.wanted.best > 1:
            return listed_lines(scores.sentence, scores, _found(scores, result))
        return conll_lines(labelled(scores.sentence, result.answer, scores))
    return [f"{token:>4} {head:>4}" for token, head in enumerate(result.answer, 1)]


def _data(scores: PartScores, result: Result) -> Any:
    if isinstance(scores, ScoredSentence) and scores.sentence is not None:
        if scores.wanted.best > 1:
            return listed_data(scores.sentence, scores, _found(scores, result))
        found = labelled(scores.sentence, result.answer, scores)
        return heads_data(found.forms, result.answer, found.relations)
    return heads_data((None,) * len(scores), result.answer)


def _draw(scores: PartScores, result: Result) -> Any:
    several = isinstance(scores, ScoredSentence) and scores.wanted.best > 1
    heads = result.answer[0] if several else result.answer
    return draw_tree(_words(scores) or list(map(str, range(1, len(scores) + 1))), heads)


def _words(scores: PartScores) -> tuple[str, ...]:
    """None of bare scores."""
    return scores.sentence.forms if isinstance(scores, ScoredSentence) and scores.sentence is not None else ()


def _solve_all(
    material: Material, model: Path, options: Mapping[str, str], stop: Sequence[StopRule]
) -> Iterator[Solved] | None:
    """All sentences with the heads of their best trees, found and proved by the exact parser."""
    check_options(options, reading.OPTIONS)
    wanted = WantedTrees.of(options)
    if "sentence" in options:
        return None
    weights, sentences = Weights.load(model), read_sentences(material)
    if wanted.best > 1:
        return (_solved_list(sentence, weights.scorer(sentence), wanted, stop) for sentence in sentences)
    kind = {"single_root": wanted.single_root, "projective": wanted.projective}
    return (_solved(sentence, found) for sentence, found in parse_sentences(sentences, weights, stop, **kind))


def _solved(sentence: Sentence, found: Parse) -> Solved:
    data = None if found.heads is None else heads_data(sentence.forms, found.heads, sentence.relations)
    return Solved([*conll_lines(sentence), ""], data, found.termination, found.score, found.bound)


def _solved_list(sentence: Sentence, scorer: SentenceScorer, wanted: WantedTrees, stop: Sequence[StopRule]) -> Solved:
    check_length(sentence.forms)
    problem = _of_wanted(scorer, wanted)
    result = solve(problem, stop=stop)
    found = parsed_list(problem, result)
    lines, data = listed_lines(sentence, scorer, found), listed_data(sentence, scorer, found)
    score = found[-1].score if found else -math.inf
    return Solved(lines, data or None, result.termination, score, max(score, result.dual_bound))


TEMPLATE = Template(
    name="grandparent_parsing",
    title="Second-order dependency parsing: the best tree of arcs, grandparents and siblings",
    source="Riedel, Smith and McCallum (2012)",
    read=read_instance,
    problem=_problem,
    lines=_lines,
    data=_data,
    draw=_draw,
    demo=(short_sentence, sentence),
    compiling=1.0,
    train=train_from_files,
    skips=True,
    train_options=training.OPTIONS,
    train_files=True,
    score=score_instance,
    score_options=reading.OPTIONS,
    solve_all=_solve_all,
    is_model=is_model,
    form=form_of(read),
    example=lambda path: write(random(6, 0), path),
    suffix=".npz",
)

"""Parsing with non-local factors on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from colgen import solve
from colgen.cli.template import Material, Solved, Template, form_of
from colgen.core.result import Result
from colgen.core.stop import StopRule
from colgen.problems.dependency.conll import conll_lines
from colgen.problems.dependency.drawing import draw_tree
from colgen.problems.dependency.reading import heads_data, read_sentences
from colgen.problems.dependency.sentence import Heads
from colgen.problems.nonlocal_parsing import training
from colgen.problems.nonlocal_parsing.demo import bracketed, planted, random_factors
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance, read, write
from colgen.problems.nonlocal_parsing.reading import (
    OPTIONS,
    NonlocalScorer,
    NonlocalSentence,
    is_model,
    read_instance,
    score_instance,
)
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.problems.nonlocal_parsing.training import train_from_files


def _problem(instance: NonlocalInstance) -> NonlocalParsing:
    if not isinstance(instance, NonlocalSentence):
        return NonlocalParsing(instance)
    return NonlocalParsing(instance, k=instance.best, narrow=instance.narrow)


def _trees(instance: NonlocalInstance, result: Result) -> list[Heads]:
    """The trees of an answer, best first."""
    several = isinstance(instance, NonlocalSentence) and instance.best > 1
    return list(result.answer) if several else [result.answer]


def _lines(instance: NonlocalInstance, result: Result) -> Sequence[str]:
    if isinstance(instance, NonlocalSentence):
        return _conll(instance, result)
    words = ("root", *instance.words)
    width = max(map(len, words))
    return [
        f"{number:>4}  {word:<{width}}  {head:>4}  {words[head]}"
        for number, (word, head) in enumerate(zip(instance.words, result.answer, strict=True), 1)
    ]


def _conll(instance: NonlocalSentence, result: Result) -> list[str]:
    """The sentence with its best trees, one below the other; with several, a comment says what each scores."""
    assert instance.sentence is not None  # that of the model's scores
    if result.answer is None:
        return [*conll_lines(replace(instance.sentence, heads=None, relations=None)), ""]
    lines = []
    trees = _trees(instance, result)
    for number, heads in enumerate(trees, 1):
        if instance.best > 1:
            lines.append(f"# tree {number} of {len(trees)}, score {instance.objective(heads):.6g}")
        lines += [*conll_lines(instance.sentence.with_heads(heads, instance.relations(heads))), ""]
    return lines


def _data(instance: NonlocalInstance, result: Result) -> Any:
    told = instance.relations if isinstance(instance, NonlocalSentence) else lambda heads: None
    trees = [heads_data(instance.words, heads, told(heads)) for heads in _trees(instance, result)]
    return trees if isinstance(instance, NonlocalSentence) and instance.best > 1 else trees[0]


def _draw(instance: NonlocalInstance, result: Result) -> Any:
    return draw_tree(instance.words, _trees(instance, result)[0])


def _solve_all(
    material: Material, model: Path, options: Mapping[str, str], stop: Sequence[StopRule]
) -> Iterator[Solved] | None:
    """All sentences with the heads of their best trees."""
    if "sentence" in options:
        return None
    scorer = NonlocalScorer(Model.load(model), options)
    return (_solved(scorer.score(sentence), stop) for sentence in read_sentences(material))


def _solved(instance: NonlocalSentence, stop: Sequence[StopRule]) -> Solved:
    result = solve(_problem(instance), stop=stop)
    data = None if result.answer is None else _data(instance, result)
    found = (result.termination, result.objective, result.dual_bound)
    return Solved(_conll(instance, result), data, *found, instance.scope)


TEMPLATE = Template(
    name="nonlocal_parsing",
    title="Dependency parsing with non-local factors: the best tree, bounded by dynamic programs",
    source="Qian and Liu (2013)",
    read=read_instance,
    problem=_problem,
    lines=_lines,
    data=_data,
    draw=_draw,
    demo=(planted, random_factors),
    compiling=12.0,
    train=train_from_files,
    skips=True,
    train_options=training.OPTIONS,
    train_files=True,
    score=score_instance,
    score_options=OPTIONS,
    solve_all=_solve_all,
    is_model=is_model,
    scope=lambda instance: instance.scope if isinstance(instance, NonlocalSentence) else "",
    form=form_of(read),
    example=lambda path: write(bracketed(), path),
    suffix=".npz",
)

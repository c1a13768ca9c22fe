"""The command line of parsing with non-local factors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from colgen import InputError
from colgen.cli.demonstration import Complete, demonstrations
from colgen.cli.option import Number, Option
from colgen.cli.template import Template
from colgen.core.result import Result
from colgen.problems.dependency.drawing import draw_tree
from colgen.problems.dependency.reading import Sentences, Tree, heads_data, tree_data, tree_lines
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.nonlocal_parsing import training
from colgen.problems.nonlocal_parsing.baseline import in_highs
from colgen.problems.nonlocal_parsing.factors import Factors
from colgen.problems.nonlocal_parsing.families import Words
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance, random, read, write
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.problems.nonlocal_parsing.training import train_from_files
from colgen.solvers.trees.eisner import Parts

CANDIDATES = 10

_WORDS = dict(enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1))


@dataclass(frozen=True, eq=False)
class NonlocalSentence(NonlocalInstance):
    """A sentence with the scores of a trained model, and the number of trees wanted."""

    sentence: Sentence | None = None
    best: int = 1
    candidates: int | None = None  # candidate heads per word; None for all
    narrow: NonlocalInstance | None = None  # the same with fewer candidate heads, solved first
    relations: Callable[[Heads], tuple[str, ...] | None] = lambda heads: None

    @property
    def scope(self) -> str:
        """A phrase for the trees among which the best is found; empty if these are all trees."""
        k = self.candidates
        if k is None:
            return ""
        return f"among {_WORDS.get(k, str(k))} candidate head{'' if k == 1 else 's'} per word"


def _problem(instance: NonlocalInstance) -> NonlocalParsing:
    if not isinstance(instance, NonlocalSentence):
        return NonlocalParsing(instance)
    return NonlocalParsing(instance, k=instance.best, narrow=instance.narrow)


# Output: the trees of a sentence, or the heads for an instance without a sentence.


def _answer(instance: NonlocalInstance, result: Result) -> Any:
    if not isinstance(instance, NonlocalSentence):
        return result.answer
    assert instance.sentence is not None  # the sentence of the scores
    found: list[Heads] = [] if result.answer is None else result.answer if instance.best > 1 else [result.answer]
    labelled = [instance.sentence.with_heads(heads, instance.relations(heads)) for heads in found]
    return [Tree(tree, instance.objective(heads)) for tree, heads in zip(labelled, found, strict=True)]


def _lines(instance: NonlocalInstance, answer: Any) -> list[str]:
    if isinstance(instance, NonlocalSentence):
        assert instance.sentence is not None
        return tree_lines(instance.sentence, answer, listed=instance.best > 1)
    words = ("root", *instance.words)
    width = max(map(len, words))
    return [
        f"{number:>4}  {word:<{width}}  {head:>4}  {words[head]}"
        for number, (word, head) in enumerate(zip(instance.words, answer, strict=True), 1)
    ]


def _data(instance: NonlocalInstance, answer: Any) -> Any:
    if isinstance(instance, NonlocalSentence):
        return tree_data(answer, listed=instance.best > 1)
    return heads_data(instance.words, answer)


def _draw(instance: NonlocalInstance, answer: Any) -> Any:
    return draw_tree(instance.words, answer[0].sentence.heads if isinstance(instance, NonlocalSentence) else answer)


class FactoredSentences(Sentences):
    """Sentences scored by a trained model of local parts and factors."""

    saved = Model

    options: ClassVar[Mapping[str, Option]] = {
        **Sentences.options,
        "candidates": Option(f"heads per word, or 'all'; {CANDIDATES} by default", {"all": None}, Number.WHOLE),
        "all_heads": Option(
            "yes: solve with the candidates first, then prove the tree among all heads; the same as --all-heads",
            {"yes": True, "no": False},
        ),
    }

    def __init__(self, model: Path, values: Mapping[str, Any]) -> None:
        super().__init__(model, values)
        self._model = Model.load(model)
        if self.projective is False and self._model.backbone != "first":
            raise InputError(
                "option projective=no requires a model of arcs and factors, but this model "
                f"(backbone={self._model.backbone}) has local parts of projective trees; train one by `colgen "
                "train nonlocal_parsing --option backbone=first`"
            )

    def instance(self, text: Sentence) -> NonlocalSentence:
        """Return the scores of a sentence."""
        model, encoded, words = self._model, self._model.vocabulary.encode(text), Words(text)
        few = self.values.get("candidates", CANDIDATES)
        if few is not None and few >= len(text):  # the possible heads of a word are the other words and the root
            few = None
        instance = model.score_sentence(words, encoded, model.candidates(encoded, few))
        narrow = None
        if self.values.get("all_heads") and few is not None:
            narrow, few = instance, None
            instance = model.score_sentence(words, encoded, model.candidates(encoded, None))
        single_root = instance.single_root if self.single_root is None else self.single_root
        projective = instance.projective if self.projective is None else self.projective
        if narrow is not None:
            narrow = replace(narrow, single_root=single_root, projective=projective)
        return NonlocalSentence(
            instance.parts,
            instance.factors,
            instance.allowed,
            single_root=single_root,
            projective=projective,
            words=instance.words,
            sentence=text,
            best=self.best,
            candidates=few,
            narrow=narrow,
            relations=lambda heads: model.relations(encoded, heads),
        )

    def lines(self, instance: NonlocalSentence, answer: Sequence[Tree]) -> list[str]:
        """Return the sentence with its trees."""
        return _lines(instance, answer)


# --- demo ------------------------------------------------------------------------------------------------------------


def bracketed() -> NonlocalInstance:
    """Return an invented sentence whose arc scores attach the second bracket wrongly; a factor corrects this."""
    words = ("we", "saw", "(", "or", "heard", ")", "the", "train")
    heads = (2, 0, 5, 5, 2, 8, 8, 2)
    scores = np.full((9, 9), -2.0)
    scores[np.array(heads), np.arange(1, 9)] = 2.0
    scores[5, 6] = 1.0
    factors = Factors.of(9, [(((5, 3), (5, 6)), 2.5), (((8, 6), (8, 7), (2, 8)), 0.5)])
    return NonlocalInstance(Parts(scores), factors, words=words, name="brackets, an invented sentence of 8 words")


def num_trees(num_words: int) -> int:
    """Return the number of projective trees with one word under the root: 1, 2, 7, 30, 143, ..."""
    return math.comb(3 * num_words - 2, num_words - 1) // num_words


def _complete(instance: NonlocalInstance) -> Complete:
    found = in_highs(instance, time_limit=30.0)
    return None if found.heads is None else found.objective, found.proved


DEMO = demonstrations(
    bracketed,
    lambda: random(14, 3, order=3, num_factors=150),  # overlapping factors of either sign
    small=lambda: random(4, 0, order=3),
    problem=NonlocalParsing,
    brute_force="integer program in HiGHS",
    complete=_complete,
    possible=lambda instance: num_trees(instance.num_words),
    used=lambda problem, result: problem.effort.total,  # every call of the dynamic program gives one tree
)

TEMPLATE = Template(
    name="nonlocal_parsing",
    title="Dependency parsing with non-local factors: the best tree, bounded by dynamic programs",
    source="Qian and Liu (2013)",
    problem=_problem,
    read=read,
    suffixes=(".npz",),
    example=lambda path: write(bracketed(), path),
    answer=_answer,
    lines=_lines,
    data=_data,
    draw=_draw,
    scope=lambda instance: instance.scope if isinstance(instance, NonlocalSentence) else "",
    texts=FactoredSentences,
    train=train_from_files,
    train_options=training.OPTIONS,
    train_files=True,
    skips=True,
    demo=DEMO,
    compiling=12.0,
)

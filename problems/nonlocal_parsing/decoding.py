"""Parsing sentences with a model, and how many heads are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colgen import InputError, TimeLimit, solve
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.solvers.trees.eisner import best_tree

_LIMIT = 0.5
"""Seconds that a sentence may take in training; its best tree so far is then taken for the best."""


@dataclass(frozen=True)
class Accuracy:
    """Words whose head is right, all of them and without punctuation."""

    right: int
    words: int
    right_words: int
    real_words: int

    @property
    def all(self) -> float:
        """Unlabeled accuracy in percent, punctuation included."""
        return 100.0 * self.right / max(self.words, 1)

    @property
    def without_punctuation(self) -> float:
        """Unlabeled accuracy in percent, words whose coarse tag is ``PUNCT`` left out."""
        return 100.0 * self.right_words / max(self.real_words, 1)


def accuracy(sentences: Sequence[Sentence], found: Sequence[Heads]) -> Accuracy:
    """How many heads are right."""
    right = words = right_words = real_words = 0
    for sentence, heads in zip(sentences, found, strict=True):
        if sentence.heads is None:
            raise InputError("expected sentences with heads, to compare with")
        for tag, gold, head in zip(sentence.coarse, sentence.heads, heads, strict=True):
            real = tag != "PUNCT"
            words, real_words = words + 1, real_words + real
            right, right_words = right + (gold == head), right_words + (real and gold == head)
    return Accuracy(right, words, right_words, real_words)


def decode(instance: NonlocalInstance, limit: float = _LIMIT) -> Heads | None:
    """The best tree, by the plain dynamic program where there are no factors; None if none was found in time."""
    if not len(instance.nonlocal_factors) and instance.projective:
        found = best_tree(instance.parts, allowed=instance.usable, single_root=instance.single_root)
        return None if found is None else tuple(found[1][1:].tolist())
    answer: Heads | None = solve(NonlocalParsing(instance), stop=TimeLimit(limit)).answer
    return answer


def usable(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those that the parser can get right: projective, with a single word under the root."""
    return [s for s in sentences if s.heads is not None and s.num_roots == 1 and s.is_projective]


def parse(model: Model, sentences: Sequence[Sentence], k: int | None = 10, limit: float = 10.0) -> list[Heads]:
    """The best trees; where none was found in time, each word hangs from the one before it."""
    found = (decode(model.instance(sentence, k), limit) for sentence in sentences)
    return [
        tuple(range(len(sentence))) if heads is None else heads
        for heads, sentence in zip(found, sentences, strict=True)
    ]


def labelled(model: Model, sentences: Sequence[Sentence], found: Sequence[Heads]) -> list[Sentence]:
    """The sentences with these trees, and with relations as far as the model knows any."""
    encode = model.vocabulary.encode
    return [
        sentence.with_heads(heads, model.relations(encode(sentence), heads))
        for sentence, heads in zip(sentences, found, strict=True)
    ]

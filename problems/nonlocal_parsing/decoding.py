"""Parsing sentences with a model, and measuring accuracy."""

from __future__ import annotations

from collections.abc import Sequence

from colgen import TimeLimit, solve
from colgen.problems.dependency.evaluation import Attachment, attachment
from colgen.problems.dependency.sentence import Heads, Sentence
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.solvers.trees.eisner import best_tree

_LIMIT = 0.5
"""Time limit per sentence in training, in seconds; then the best tree so far is used."""


def accuracy(sentences: Sequence[Sentence], found: Sequence[Heads]) -> Attachment:
    """Return the accuracy of heads."""
    return attachment((s, s.with_heads(heads)) for s, heads in zip(sentences, found, strict=True))


def decode(instance: NonlocalInstance, limit: float = _LIMIT) -> Heads | None:
    """Return the best tree, or None if none was found in time; without factors, the plain dynamic program suffices."""
    if not len(instance.nonlocal_factors) and instance.projective:
        found = best_tree(instance.parts, allowed=instance.usable, single_root=instance.single_root)
        return None if found is None else tuple(found[1][1:].tolist())
    answer: Heads | None = solve(NonlocalParsing(instance), stop=TimeLimit(limit)).answer
    return answer


def usable(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that the parser can parse correctly: projective, with a single word under the root."""
    return [s for s in sentences if s.heads is not None and s.num_roots == 1 and s.is_projective]


def parse(model: Model, sentences: Sequence[Sentence], k: int | None = 10, limit: float = 10.0) -> list[Heads]:
    """Return the best trees; without one in time, each word is attached to the preceding one."""
    found = (decode(model.instance(sentence, k), limit) for sentence in sentences)
    return [
        tuple(range(len(sentence))) if heads is None else heads
        for heads, sentence in zip(found, sentences, strict=True)
    ]


def labelled(model: Model, sentences: Sequence[Sentence], found: Sequence[Heads]) -> list[Sentence]:
    """Return the sentences with these trees, and with relations if the model has them."""
    encode = model.vocabulary.encode
    return [
        sentence.with_heads(heads, model.relations(encode(sentence), heads))
        for sentence, heads in zip(sentences, found, strict=True)
    ]

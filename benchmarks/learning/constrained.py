"""Constrained decoding of English entities: legal tags, numbers of spans, at least one verb."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Say, spread
from colgen.cli.template import Figure
from colgen.learning import (
    Chains,
    Constrained,
    Constraint,
    LegalTags,
    Parts,
    at_least,
    at_most,
    best_structure,
    constrained_best,
    legal_transitions,
)
from colgen.problems.chain_map.corpus import ENTITIES, TASKS, Tagged
from colgen.problems.chain_map.learning import Tagger, train_perceptron
from colgen.problems.chain_map.training import examples_of, read_corpus

Floats = NDArray[np.float64]

_LEARNED, _EPOCHS, _TURNS = 2000, 4, 3
_SPANS, _LONG = 3, 10
"""At most so many spans of each kind in a sentence, and a verb in sentences of at least so many words."""

_VERBS = ("VB", "MD")
"""Beginnings of the tags of verbs."""


@dataclass(frozen=True)
class _Decoding:
    """Joint labels of parts of speech and BIO entities, their rules and constraints."""

    labels: tuple[str, ...]
    entities: tuple[str, ...]
    rules: LegalTags
    transitions: Floats
    legal: Floats

    @classmethod
    def of(cls, tagger: Tagger) -> _Decoding:
        entities = tuple(tag.rpartition("|")[2] for tag in tagger.tags)
        rules, steps = legal_transitions(entities, "BIO"), tagger.transitions.astype(np.float64)
        return cls(tuple(tagger.tags), entities, rules, steps, steps + rules.transitions)

    def free(self, scores: Floats) -> NDArray[np.int64]:
        """Return the best labels without any rule."""
        return self._labels_of(best_structure(Chains(), [scores, self.transitions]))

    def constrained(self, scores: Floats) -> tuple[NDArray[np.int64], Constrained]:
        """Return the best legal labels that satisfy the constraints, and the result with its bound."""
        first = scores.copy()
        first[0] += self.rules.first
        constraints = self.constraints if len(scores) >= _LONG else self.constraints[:-1]
        found = constrained_best({"tags": (Chains(), first, self.legal)}, constraints)
        return self._labels_of(found.structures["tags"]), found

    @cached_property
    def constraints(self) -> list[Constraint]:
        """The constraints; the last is for long sentences only."""
        starts = [[k for k, entity in enumerate(self.entities) if entity == f"B-{kind}"] for kind in ENTITIES]
        verbs = [k for k, label in enumerate(self.labels) if label.startswith(_VERBS)]
        return [
            *(at_most(Parts("tags", np.s_[:, own]), _SPANS) for own in starts),
            at_least(Parts("tags", np.s_[:, verbs]), 1),
        ]

    def _labels_of(self, structure: Any) -> NDArray[np.int64]:
        return np.asarray(structure.parts[0][0] % len(self.labels))

    def is_legal(self, labels: Sequence[int], *, words: bool = True) -> bool:
        """Whether spans are legal and the constraints hold, read from the names of the labels."""
        inside, spans = "", dict.fromkeys(ENTITIES, 0)
        for k in labels:
            prefix, _, kind = self.entities[k].partition("-")
            if prefix == "I" and kind != inside:
                return False
            if prefix == "B":
                spans[kind] += 1
            inside = kind
        verb = len(labels) < _LONG or any(self.labels[k].startswith(_VERBS) for k in labels)
        return not words or (verb and max(spans.values()) <= _SPANS)


def constrained_figures(data: Path, share: float, say: Say) -> list[Figure]:
    """Measure decoding of joint labels, 49 tags times 7 BIO labels, under constraints."""
    folder = data / "english_ewt"
    if not folder.is_dir():
        say(f"constrained decoding is skipped: {folder} does not exist")
        return []
    task = TASKS["joint"]
    train, test = (read_corpus(folder, task, part) for part in ("train", "test"))
    tagger = train_perceptron(task.name, examples_of(spread(train, most=_LEARNED), task), epochs=_EPOCHS, say=say)
    model, sentences = _Decoding.of(tagger), [_scores(tagger, each) for each in spread(test, share)]
    model.free(sentences[0]), model.constrained(sentences[0])  # compiles
    results = [model.constrained(scores) for scores in sentences]
    count = len(results)
    illegal = sum(not model.is_legal(labels.tolist()) for labels, _ in results)
    free = [model.free(scores).tolist() for scores in sentences]
    broken = sum(not model.is_legal(labels, words=False) for labels in free)
    searched = [k for k, (_, found) in enumerate(results) if found.columns]
    ratios = []
    for _ in range(_TURNS):
        plain, own = (_seconds(way, sentences) for way in (model.free, model.constrained))
        ratios.append(own / plain)
        say(f"{count} sentences: {plain:.3f} s without constraints, {own:.3f} s with")
    return [
        Figure("constrained_illegal", illegal, "", count, f"{broken} with illegal spans without rules"),
        Figure("constrained_proved", 100.0 * sum(f.proved for _, f in results) / count, "%", count, "of the sentences"),
        Figure("constrained_searched", len(searched), "", count, "with a violated constraint; the others by Viterbi"),
        Figure(
            "constrained_seconds_over_unconstrained",
            median(ratios),
            "ratio",
            count,
            f"joint labels, at most {_SPANS} spans of a kind, a verb in {_LONG} words or more; processor time",
        ),
    ]


def _scores(tagger: Tagger, sentence: Tagged) -> Floats:
    return tagger.instance([sentence.words]).scores.astype(np.float64)


def _seconds(way: Callable[[Floats], object], sentences: Sequence[Floats]) -> float:
    start = time.process_time()
    for scores in sentences:
        way(scores)
    return time.process_time() - start

"""The command line of MAP inference in chains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from colgen import solve
from colgen.cli.demonstration import Complete, demonstrations
from colgen.cli.option import Number, Option
from colgen.cli.template import Material, Solved, Template, Texts
from colgen.core.result import Termination
from colgen.core.stop import StopRule
from colgen.problems.chain_map import training
from colgen.problems.chain_map.baseline import viterbi
from colgen.problems.chain_map.drawing import draw_labelling
from colgen.problems.chain_map.instance import ChainInstance, random, read
from colgen.problems.chain_map.labellings import Labellings
from colgen.problems.chain_map.learning import Tagger
from colgen.problems.chain_map.template import ChainMAP
from colgen.problems.chain_map.training import train_from_folder

Ints = NDArray[np.int32]


def _lines(instance: ChainInstance, answer: Labellings) -> list[str]:
    """Return one line per chain or tree: words with tags, or labels alone."""
    return [_line(instance, labels, k) for k, labels in enumerate(answer)]


def _line(instance: ChainInstance, labels: Ints, tree: int) -> str:
    named = _named(instance, labels, tree)
    return " ".join(f"{node}/{label}" if node is not None else str(label) for node, label in named)


def _named(instance: ChainInstance, labels: Ints, tree: int) -> list[tuple[Any, Any]]:
    first = int(instance.forest.starts[tree])
    return [
        (instance.nodes[first + i] if instance.nodes else None, instance.name(label) if label >= 0 else "no labelling")
        for i, label in enumerate(labels.tolist())
    ]


def _data(instance: ChainInstance, answer: Labellings) -> list[dict[str, Any]]:
    return [
        {
            **_tree_data(instance, labels, k),
            "score": _finite(answer.values[k]),
            "bound": _finite(answer.bounds[k]),
        }
        for k, labels in enumerate(answer)
    ]


def _tree_data(instance: ChainInstance, labels: Ints, tree: int) -> dict[str, Any]:
    named = _named(instance, labels, tree)
    return {
        "nodes": [str(node) for node, _ in named] if instance.nodes else None,
        "labels": [str(label) if instance.labels else label for _, label in named],
    }


def _finite(number: float) -> float | None:
    return float(number) if abs(number) < float("inf") else None


BATCH = 1024
"""Sentences that are solved together."""


class TaggedText(Texts[list[str]]):
    """A text whose sentences a trained tagger scores: one sentence per line, words separated by blanks."""

    unit = "sentence"
    saved = Tagger
    options: ClassVar[Mapping[str, Option]] = {
        "precision": Option("single (the default) or double", {"single": np.float32, "double": np.float64}),
        "sentence": Option(
            "number of the sentence to solve, counted from 1; all of them by default", number=Number.WHOLE
        ),
    }

    def __init__(self, model: Path, values: Mapping[str, Any]) -> None:
        super().__init__(model, values)
        self._tagger = Tagger.load(model)
        self._size = BATCH

    def read(self, material: Material) -> Iterator[list[str]]:
        """Return the words of each non-empty line."""
        self._size = 1 if material.is_typed else BATCH
        return (words for words in (line.split() for line in material.lines()) if words)

    def instance(self, text: list[str]) -> ChainInstance:
        """Return the instance of one sentence."""
        return self._scored([text])

    def _scored(self, sentences: list[list[str]]) -> ChainInstance:
        return self._tagger.instance(sentences, self.values.get("precision", np.float32))

    def lines(self, instance: ChainInstance, answer: Labellings) -> list[str]:
        """Return one line per sentence."""
        return _lines(instance, answer)

    def solve(self, template: Template, texts: Iterable[list[str]], stop: Sequence[StopRule]) -> Iterator[Solved]:
        """Solve the sentences in batches, or singly if the text is typed; stop rules apply to each batch."""
        sentences = iter(texts)
        while batch := list(islice(sentences, self._size)):
            problem = ChainMAP(self._scored(batch))
            result = solve(problem, stop=stop)
            instance, found = problem.instance, problem.labellings()
            for k, labels in enumerate(found):
                value, bound = float(found.values[k]), float(found.bounds[k])
                is_labelled = value > -math.inf
                proved = Termination.OPTIMAL if is_labelled else Termination.INFEASIBLE
                data = _tree_data(instance, labels, k) if is_labelled else None
                termination = proved if bound <= value else result.termination
                yield Solved([_line(instance, labels, k)], data, termination, value, bound)


def _complete(instance: ChainInstance) -> Complete:
    return viterbi(instance).objective, True


def _num_pairs(instance: ChainInstance) -> int:
    return (instance.forest.num_nodes - instance.num_trees) * instance.num_labels**2


DEMO = demonstrations(
    lambda: random(0, chains=300, labels=147, evidence=6.0),  # parts of speech, each with three kinds of entities
    lambda: random(1, chains=100, labels=343, evidence=6.0),  # and with seven
    small=lambda: random(0, labels=49),
    problem=ChainMAP,
    brute_force="Viterbi",
    complete=_complete,
    possible=_num_pairs,
    used=lambda problem, result: result.iterations[-1].columns,
    named=lambda instance, answer: f"{instance.num_trees} chains, {instance.num_labels} labels",
    prepare=lambda instance: instance.pairwise.exchanges,
)

TEMPLATE = Template(
    name="chain_map",
    title="MAP in chains and trees: the best labels of sequences, exactly",
    source="Belanger, Passos, Riedel and McCallum (2012)",
    problem=ChainMAP,
    read=read,
    suffixes=(".npz",),
    example=lambda path: random(0, chains=3, length=6, labels=5).write(path),
    lines=_lines,
    data=_data,
    draw=draw_labelling,
    texts=TaggedText,
    train=train_from_folder,
    train_options=training.OPTIONS,
    train_files=True,
    demo=DEMO,
    compiling=9.0,
)

"""MAP in chains on the command line."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import solve
from colgen.cli.template import Material, Solved, Template, form_of, of_answer
from colgen.core.result import Result, Termination
from colgen.core.stop import StopRule
from colgen.problems.chain_map import reading, training
from colgen.problems.chain_map.demo import many_labels, tagged_sentences
from colgen.problems.chain_map.drawing import draw_labelling
from colgen.problems.chain_map.instance import ChainInstance, random, read
from colgen.problems.chain_map.reading import is_model, precision, read_instance, score_batches, score_instance
from colgen.problems.chain_map.template import ChainMAP
from colgen.problems.chain_map.training import train_from_folder

Ints = NDArray[np.int32]


def _lines(instance: ChainInstance, result: Result) -> list[str]:
    """A line for each chain or tree: words and their tags, or labels alone."""
    return [_line(instance, labels, k) for k, labels in enumerate(result.answer)]


def _line(instance: ChainInstance, labels: Ints, tree: int) -> str:
    named = _named(instance, labels, tree)
    return " ".join(f"{node}/{label}" if node is not None else str(label) for node, label in named)


def _named(instance: ChainInstance, labels: Ints, tree: int) -> list[tuple[Any, Any]]:
    first = int(instance.forest.starts[tree])
    return [
        (instance.nodes[first + i] if instance.nodes else None, instance.name(label) if label >= 0 else "no labelling")
        for i, label in enumerate(labels.tolist())
    ]


def _data(instance: ChainInstance, result: Result) -> list[dict[str, Any]]:
    answer = result.answer
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


def _solve_all(
    material: Material, model: Path, options: Mapping[str, str], stop: Sequence[StopRule]
) -> Iterator[Solved] | None:
    """All sentences of a text with their tags; stop rules hold for a batch."""
    precision(options)
    if "sentence" in options:
        return None
    batches = score_batches(material, model, options)
    return itertools.chain.from_iterable(_solved(ChainMAP(instance), stop) for instance in batches)


def _solved(problem: ChainMAP, stop: Sequence[StopRule]) -> Iterator[Solved]:
    """Each sentence of a batch."""
    result = solve(problem, stop=stop)
    instance, found = problem.instance, problem.labellings()
    for k, labels in enumerate(found):
        value, bound = float(found.values[k]), float(found.bounds[k])
        proved = Termination.OPTIMAL if value > -math.inf else Termination.INFEASIBLE
        yield Solved(
            [_line(instance, labels, k)],
            _tree_data(instance, labels, k) if value > -math.inf else None,
            proved if bound <= value else result.termination,
            value,
            bound,
        )


TEMPLATE = Template(
    name="chain_map",
    title="MAP in chains and trees: the best labels of sequences, exactly",
    source="Belanger, Passos, Riedel and McCallum (2012)",
    read=read_instance,
    problem=ChainMAP,
    lines=_lines,
    data=_data,
    draw=of_answer(draw_labelling),
    demo=(tagged_sentences, many_labels),
    compiling=9.0,
    train=train_from_folder,
    train_options=training.OPTIONS,
    train_files=True,
    score=score_instance,
    score_options=reading.OPTIONS,
    solve_all=_solve_all,
    is_model=is_model,
    form=form_of(read),
    example=lambda path: random(0, chains=3, length=6, labels=5).write(path),
    suffix=".npz",
)

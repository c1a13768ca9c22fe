"""MAP in chains on the command line."""

from __future__ import annotations

from typing import Any

from colgen.result import Result
from colgen.template import Template
from problems.chain_map.demo import many_labels, tagged_sentences
from problems.chain_map.experiment import bench_chain_map
from problems.chain_map.instance import Instance
from problems.chain_map.reading import read_instance, score_instance
from problems.chain_map.template import ChainMAP
from problems.chain_map.training import train_from_folder


def _lines(instance: Instance, result: Result) -> list[str]:
    """A line for each chain or tree: words and their tags, or labels alone."""
    return [
        " ".join(f"{node}/{label}" if node is not None else str(label) for node, label in tree)
        for tree in (_named(instance, result, k) for k in range(instance.num_trees))
    ]


def _named(instance: Instance, result: Result, tree: int) -> list[tuple[Any, Any]]:
    first = int(instance.forest.starts[tree])
    return [
        (instance.nodes[first + i] if instance.nodes else None, instance.name(label) if label >= 0 else "no labelling")
        for i, label in enumerate(result.answer[tree].tolist())
    ]


def _data(instance: Instance, result: Result) -> list[dict[str, Any]]:
    answer = result.answer
    return [
        {
            "nodes": [str(node) for node, _ in _named(instance, result, k)] if instance.nodes else None,
            "labels": [str(label) if instance.labels else label for _, label in _named(instance, result, k)],
            "score": _finite(answer.values[k]),
            "bound": _finite(answer.bounds[k]),
        }
        for k in range(len(answer))
    ]


def _finite(number: float) -> float | None:
    return float(number) if abs(number) < float("inf") else None


TEMPLATE = Template(
    name="chain_map",
    title="MAP in chains and trees: the best labels of sequences, exactly",
    source="Belanger, Passos, Riedel and McCallum (2012)",
    read=read_instance,
    problem=ChainMAP,
    lines=_lines,
    data=_data,
    demo=(tagged_sentences, many_labels),
    benchmarks={"chain_map": bench_chain_map},
    train=train_from_folder,
    score=score_instance,
)

"""Paths of k vertices, and titles, on the command line."""

from __future__ import annotations

import itertools
from typing import Any

from colgen.result import Result
from colgen.template import Template
from problems.title_path.demo import of_networkx, of_numpy, of_scipy
from problems.title_path.experiment import bench_title_path
from problems.title_path.instance import Instance, Path
from problems.title_path.reading import read_instance, score_instance
from problems.title_path.template import TitlePath
from problems.title_path.training import train_from_folder


def _lines(instance: Instance, result: Result) -> list[str]:
    path: Path = result.answer
    lines = [" ".join(map(str, instance.words(path))), ""]
    steps = [float(instance.first[path[0]])]
    steps += [float(instance.weights[u, v]) for u, v in itertools.pairwise(path)]
    width = max(len(str(instance.labels[v])) for v in path)
    for v, weight in zip(path, steps, strict=True):
        lines.append(f"  {instance.labels[v]!s:{width}}  {weight:10.4f}")
    lines.append(f"  {'(end)':{width}}  {float(instance.last[path[-1]]):10.4f}")
    return lines


def _data(instance: Instance, result: Result) -> dict[str, Any]:
    path: Path = result.answer
    return {
        "words": [str(word) for word in instance.words(path)],
        "path": [{"vertex": v, "label": str(instance.labels[v]), "class": str(instance.classes[v])} for v in path],
    }


TEMPLATE = Template(
    name="title_path",
    title="Selection and ordering: the best path of k vertices, no two of one class; titles of texts",
    source="Deshpande, Barzilay and Karger (2007)",
    read=read_instance,
    problem=TitlePath,
    lines=_lines,
    data=_data,
    demo=(of_networkx, of_numpy, of_scipy),
    benchmarks={"title_path": bench_title_path},
    train=train_from_folder,
    score=score_instance,
)

"""Parsing with non-local factors on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colgen.result import Result
from colgen.template import Template
from problems.nonlocal_parsing.demo import planted, random_factors
from problems.nonlocal_parsing.experiment import bench_nonlocal_parsing
from problems.nonlocal_parsing.instance import Instance
from problems.nonlocal_parsing.reading import read_instance, score_instance
from problems.nonlocal_parsing.template import NonlocalParsing
from problems.nonlocal_parsing.training import train_from_folder


def _lines(instance: Instance, result: Result) -> Sequence[str]:
    words = ("root", *instance.words)
    width = max(map(len, words))
    return [
        f"{number:>4}  {word:<{width}}  {head:>4}  {words[head]}"
        for number, (word, head) in enumerate(zip(instance.words, result.answer, strict=True), 1)
    ]


def _data(instance: Instance, result: Result) -> Any:
    return [
        {"number": number, "word": word, "head": head}
        for number, (word, head) in enumerate(zip(instance.words, result.answer, strict=True), 1)
    ]


TEMPLATE = Template(
    name="nonlocal_parsing",
    title="Dependency parsing with non-local factors: the best tree, bounded by dynamic programs",
    source="Qian and Liu (2013)",
    read=read_instance,
    problem=NonlocalParsing,
    lines=_lines,
    data=_data,
    demo=(planted, random_factors),
    benchmarks={"nonlocal_parsing": bench_nonlocal_parsing},
    train=train_from_folder,
    score=score_instance,
)

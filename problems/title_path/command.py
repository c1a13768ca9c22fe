"""Paths of k vertices, and titles, on the command line."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from colgen import solve
from colgen.cli.template import Material, Solved, Template, check_options, form_of
from colgen.core.result import Result
from colgen.core.stop import StopRule
from colgen.problems.title_path import reading
from colgen.problems.title_path.demo import of_the_engine, of_the_kernels, of_the_templates
from colgen.problems.title_path.drawing import draw_path
from colgen.problems.title_path.files import read, write
from colgen.problems.title_path.instance import Path, PathInstance, random
from colgen.problems.title_path.learning import TitleModel
from colgen.problems.title_path.reading import is_model, read_instance, read_sections, score_instance, section_instance
from colgen.problems.title_path.template import TitlePath
from colgen.problems.title_path.training import train_from_folder


def _lines(instance: PathInstance, result: Result) -> list[str]:
    path: Path = result.answer
    lines = [" ".join(map(str, instance.words(path))), ""]
    steps = [float(instance.first[path[0]])]
    steps += [float(instance.weights[u, v]) for u, v in itertools.pairwise(path)]
    width = max(len(str(instance.labels[v])) for v in path)
    for v, weight in zip(path, steps, strict=True):
        lines.append(f"  {instance.labels[v]!s:{width}}  {weight:10.4f}")
    lines.append(f"  {'(end)':{width}}  {float(instance.last[path[-1]]):10.4f}")
    return lines


def _data(instance: PathInstance, result: Result) -> dict[str, Any]:
    path: Path = result.answer
    return {
        "words": [str(word) for word in instance.words(path)],
        "path": [{"vertex": v, "label": str(instance.labels[v]), "class": str(instance.classes[v])} for v in path],
    }


def _draw(instance: PathInstance, result: Result) -> Any:
    return draw_path(instance, result.answer, title=" ".join(map(str, instance.words(result.answer))))


def _solve_all(
    material: Material, model: FilePath, options: Mapping[str, str], stop: Sequence[StopRule]
) -> Iterator[Solved] | None:
    """A title for each section of a file of several."""
    check_options(options, reading.OPTIONS)
    if "section" in options or len(sections := read_sections(material)) == 1:
        return None
    trained = TitleModel.load(model)
    return (_solved(section_instance(trained, section, options), stop) for section in sections)


def _solved(instance: PathInstance, stop: Sequence[StopRule]) -> Solved:
    result = solve(TitlePath(instance), stop=stop)
    if result.answer is None:
        return Solved([""], None, result.termination, result.objective, result.dual_bound)
    data = _data(instance, result)
    return Solved([" ".join(data["words"])], data, result.termination, result.objective, result.dual_bound)


TEMPLATE = Template(
    name="title_path",
    title="Selection and ordering: the best path of k vertices, no two of one class; titles of texts",
    source="Deshpande, Barzilay and Karger (2007)",
    read=read_instance,
    problem=TitlePath,
    lines=_lines,
    data=_data,
    draw=_draw,
    demo=(of_the_engine, of_the_templates, of_the_kernels),
    compiling=1.0,
    train=train_from_folder,
    score=score_instance,
    score_options=reading.OPTIONS,
    solve_all=_solve_all,
    is_model=is_model,
    form=form_of(read),
    example=lambda path: write(random(8, 4, 0), path),
    suffix=".json",
)

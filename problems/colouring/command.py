"""Colouring on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from colgen.cli.template import Template, of_answer
from colgen.core.result import Result
from colgen.problems.colouring.demo import chessboard, without_triangles
from colgen.problems.colouring.drawing import draw_colouring
from colgen.problems.colouring.instance import ColouringInstance, queens, read, write
from colgen.problems.colouring.template import Colouring


def _classes(instance: ColouringInstance, result: Result) -> list[list[str]]:
    """The vertices of each colour by what they are called, large colours first."""
    members: dict[int, list[str]] = {}
    for label, colour in zip(instance.labels, result.answer, strict=True):
        members.setdefault(colour, []).append(str(label))
    return sorted(members.values(), key=lambda names: -len(names))


def _lines(instance: ColouringInstance, result: Result) -> Sequence[str]:
    return [f"{number}: {' '.join(names)}" for number, names in enumerate(_classes(instance, result), 1)]


TEMPLATE = Template(
    name="colouring",
    title="Graph colouring: as few colours as possible, no two neighbours of one",
    source="Mehrotra and Trick (1996), Held, Cook and Sewell (2012)",
    read=read,
    reading=lambda instance: instance.reading,
    problem=Colouring,
    lines=_lines,
    data=_classes,
    draw=of_answer(draw_colouring),
    demo=(chessboard, without_triangles),
    compiling=3.0,
    with_cuts=lambda problem: Colouring(problem.instance, cuts=True),
    example=lambda path: write(queens(5), path),
)

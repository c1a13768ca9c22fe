"""Colouring on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from colgen.cli.demonstration import demonstrations, solve_model
from colgen.cli.template import Template
from colgen.problems.colouring.drawing import draw_colouring
from colgen.problems.colouring.instance import ColouringInstance, queens, read, write
from colgen.problems.colouring.model import full
from colgen.problems.colouring.template import Colouring
from colgen.solvers.graphs.stable_listing import maximal


def _classes(instance: ColouringInstance, answer: Sequence[int]) -> list[list[str]]:
    """Return the names of the vertices of each colour, large colours first."""
    members: dict[int, list[str]] = {}
    for label, colour in zip(instance.labels, answer, strict=True):
        members.setdefault(colour, []).append(str(label))
    return sorted(members.values(), key=lambda names: -len(names))


def _lines(instance: ColouringInstance, answer: Sequence[int]) -> list[str]:
    return [f"{number}: {' '.join(names)}" for number, names in enumerate(_classes(instance, answer), 1)]


def _num_sets(instance: ColouringInstance) -> int:
    sets = maximal(instance.adjacency, [0] * instance.num_vertices, limit=10**6)
    return 0 if sets is None else len(sets)


DEMO = demonstrations(
    lambda: queens(5),
    lambda: queens(6),
    small=lambda: queens(4),
    unit="colours",
    problem=Colouring,
    brute_force="representatives in HiGHS",
    complete=lambda instance: solve_model(full(instance, "representatives"), decimals=0),
    possible=_num_sets,
)

TEMPLATE = Template(
    name="colouring",
    title="Graph colouring: the fewest colours, different ones for neighbours",
    source="Mehrotra and Trick (1996), Held, Cook and Sewell (2012)",
    problem=Colouring,
    read=read,
    example=lambda path: write(queens(5), path),
    reading=lambda instance: instance.reading,
    lines=_lines,
    data=_classes,
    draw=draw_colouring,
    variants={"cuts": {"with cuts": lambda problem: Colouring(problem.instance, cuts=True)}},
    demo=DEMO,
    compiling=6.0,
)

"""Small instances for ``colgen demo``: column generation beside a complete model."""

from __future__ import annotations

from colgen.cli.demonstration import beside
from colgen.cli.template import DemoLine
from colgen.problems.colouring.baseline import solve_full
from colgen.problems.colouring.instance import ColouringInstance, mycielski, queens
from colgen.problems.colouring.template import Colouring
from colgen.solvers.graphs.stable_listing import maximal


def chessboard() -> list[DemoLine]:
    """The squares of a small board."""
    return [_compare(queens(5))]


def without_triangles() -> list[DemoLine]:
    """A graph without triangles that needs four colours."""
    return [_compare(mycielski(4))]


def _compare(instance: ColouringInstance) -> DemoLine:
    sets = maximal(instance.adjacency, [0] * instance.num_vertices, limit=10**6)
    return beside(
        Colouring(instance),
        instance.check,
        lambda: solve_full(instance, time_limit=20.0),
        "representatives in HiGHS",
        name=instance.name,
        possible=0 if sets is None else len(sets),
        decimals=0,
        small=Colouring(queens(4)),
    )

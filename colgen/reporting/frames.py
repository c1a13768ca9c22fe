"""Frames of a run: its rounds, its last columns, its nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator
from typing import Any

from colgen.core.errors import InputError
from colgen.core.result import Result
from colgen.core.solution import Solution

_NAMES = {
    "rounds": None,
    "columns": ("structure", "cost", "value", "relaxation", "reduced_cost", "basic", "round"),
    "nodes": ("number", "parent", "depth", "bound", "outcome", "decision"),
}
"""The columns of each frame, even without lines. Rounds have their own."""

GIVEN = -1
"""The round of columns that were there before the first."""


def frame(result: Result, of: str) -> Any:
    """Return a frame; see :meth:`colgen.core.result.Result.to_frame`."""
    if of not in _NAMES:
        raise InputError(f"of: expected {', '.join(map(repr, _NAMES))}, not {of!r}")
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_frame needs pandas; to_csv writes the rounds without it") from error
    if of == "rounds":
        return pandas.DataFrame(result.rows())
    lines = columns(result) if of == "columns" else nodes(result)
    return pandas.DataFrame(list(lines), columns=_NAMES[of])


def columns(result: Result) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of the restricted master, oldest first. There are none without a linear program."""
    pool = result.pool
    if pool is None:
        return
    answer, root = _values(result.solution), _values(result.relaxation)
    begins = [record.columns for record in result.iterations]  # numbers of columns at the start of rounds
    numbers = zip(pool.reduced_costs.tolist(), pool.basic.tolist(), pool.positions.tolist(), strict=True)
    for column, (reduced_cost, basic, position) in zip(pool, numbers, strict=True):
        values = answer.get(column.identity, 0.0), root.get(column.identity, 0.0)
        last = bisect_right(begins, position) - 1
        first = result.iterations[last].number if last >= 0 else GIVEN
        yield column.structure, column.cost, *values, reduced_cost, basic, first


def nodes(result: Result) -> Iterator[tuple[Any, ...]]:
    """Yield the nodes of the tree, each with its last decision."""
    for node in result.nodes:
        decisions = node.decisions
        yield node.number, node.parent, node.depth, node.bound, node.outcome, str(decisions[-1]) if decisions else ""


def _values(solution: Solution | None) -> dict[Hashable, float]:
    return {} if solution is None else {column.identity: value for column, value in solution.columns}

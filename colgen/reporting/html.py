"""Notebook views of objects as short HTML, without a plotting library."""

from __future__ import annotations

import html
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from colgen.core.columns import Column
from colgen.core.result import Result
from colgen.core.solution import Solution
from colgen.core.text import brief, number, one_line, plural, short
from colgen.problem import Problem
from colgen.reporting.tables import table

_ROWS = 8
"""Number of lines shown of an answer or of columns."""

_MAX_LENGTH = 100
"""Maximum number of characters of one value."""

_WIDTH, _HEIGHT = 260.0, 90.0
"""Size of the picture of bounds in pixels."""


_DASHED = 'stroke-dasharray="4 3"'


def show_result(result: Result) -> str:
    """Return the proof, the bounds by round, and the start of the answer."""
    first, *rest = str(result).splitlines()
    lines = [f"<p><b>{html.escape(first)}</b></p>", *(f"<p>{html.escape(line)}</p>" for line in rest)]
    return "".join([*lines, _bounds(result), show_answer(result.answer)])


def show_solution(solution: Solution) -> str:
    """Return the objective, and the columns and variables in use."""
    used = [(column_name(column), number(value)) for column, value in solution.columns]
    used += [(_key(key), number(value)) for key, value in solution.variables.items()]
    return f"<p>objective {number(solution.objective)}</p>" + _some(("in use", "value"), used)


def show_columns(columns: Sequence[Column]) -> str:
    """Return the number of columns, and the first of them."""
    rows = (
        (column_name(column), number(column.cost), short(", ".join(_entry(*e) for e in column.coefficients.items())))
        for column in columns[:_ROWS]
    )
    return f"<p>{plural(len(columns), 'column')}</p>" + _some(("column", "cost", "coefficients"), rows, len(columns))


def problem_in_a_line(problem: Problem) -> str:
    """Return the class and the data of a problem in one line."""
    data = ", ".join(f"{name}={value}" for name, value in _data(problem))
    return one_line(f"<{type(problem).__name__}{': ' if data else ''}{data}>", 2 * _MAX_LENGTH)


def show_problem(problem: Problem) -> str:
    """Return the class of a problem, its data, and the methods that it defines."""
    kind = type(problem)
    about = inspect.getdoc(kind) if kind.__doc__ else None  # not the text of Problem
    lines = [f"<p><b>{html.escape(kind.__name__)}</b></p>"]
    lines += [f"<p>{html.escape(short(about.splitlines()[0], 2 * _MAX_LENGTH))}</p>"] if about else []
    parts = [
        name
        for name in vars(Problem)
        if not name.startswith("_") and callable(getattr(Problem, name)) and _defines(problem, name)
    ]
    lines.append(table((), _data(problem)))
    return "".join(lines) + f"<p>It defines {html.escape(', '.join(parts) or 'no methods yet')}.</p>"


def _defines(problem: Problem, method: str) -> bool:
    return method in vars(problem) or getattr(type(problem), method) is not getattr(Problem, method)


def _data(problem: Problem) -> list[tuple[str, str]]:
    """Return the public attributes of a problem with short values."""
    own = vars(problem).items()
    return [(name, brief(value)) for name, value in own if not name.startswith("_") and not inspect.isroutine(value)]


def show_check(verdict: str, findings: Sequence[tuple[str, str, str, int]], notes: Sequence[str]) -> str:
    """Return the findings of a check: kind, place, message and count."""
    rows = ((kind, where, message, f"{times:,}") for kind, where, message, times in findings)
    found = table(("kind", "where", "finding", "times"), rows) if findings else ""
    remarks = "".join(f"<p>note: {html.escape(note)}</p>" for note in notes)
    return f"<p><b>{html.escape(verdict)}</b></p>{found}{remarks}"


def show_answer(answer: Any) -> str:
    """Return the start of an answer; empty for None."""
    if answer is None:
        return ""
    pairs = list(answer.items()) if isinstance(answer, Mapping) else answer
    if not isinstance(pairs, Sequence) or isinstance(pairs, (str, bytes)):
        return f"<pre>{html.escape(short(repr(answer), 4 * _MAX_LENGTH))}</pre>"
    rows = ([short(cell) for cell in row] if isinstance(row, (tuple, list)) else [short(row)] for row in pairs[:_ROWS])
    return _some((), rows, len(pairs))


def _some(head: Sequence[str], rows: Iterable[Sequence[str]], count: int | None = None) -> str:
    """Return the first rows of a table, and the number of others."""
    every = list(rows)
    left = (len(every) if count is None else count) - _ROWS
    return table(head, every[:_ROWS]) + (f"<p>and {left:,} more</p>" if left > 0 else "")


def column_name(column: Column, longest: int = _MAX_LENGTH) -> str:
    """Return a name for a column with at most ``longest`` characters."""
    return short(column.key if column.structure is None else column.structure, longest)


def _key(key: tuple[str, Any]) -> str:
    block, index = key
    return block if index is None else f"{block}[{index}]"


def _entry(key: tuple[str, Any], value: float) -> str:
    return _key(key) if value == 1.0 else f"{number(value, 4)} {_key(key)}"


def _bounds(result: Result) -> str:
    """Return a picture of incumbent and dual bound by round, if both are finite."""
    answers = [record.incumbent for record in result.iterations]
    bounds = [record.global_bound for record in result.iterations]
    if answers:  # add the result after the last round
        answers, bounds = [*answers, result.objective], [*bounds, result.dual_bound]
    finite = [value for value in answers + bounds if math.isfinite(value)]
    if len(answers) < 3 or not finite or min(finite) == max(finite):
        return ""
    low, high = min(finite), max(finite)

    def line(values: Sequence[float], dashes: str) -> str:
        points = [
            (_WIDTH * k / (len(values) - 1), _HEIGHT * (high - value) / (high - low))
            for k, value in enumerate(values)
            if math.isfinite(value)
        ]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        return f'<polyline points="{joined}" fill="none" stroke="currentColor" {dashes}/>'

    return (
        f'<svg width="{_WIDTH:g}" height="{_HEIGHT + 4:g}" viewBox="-2 -2 {_WIDTH + 4:g} {_HEIGHT + 4:g}" role="img">'
        "<title>best answer (solid) and dual bound (dashed) by round</title>"
        f"{line(answers, '')}{line(bounds, _DASHED)}</svg>"
        f"<p>best answer (solid) and dual bound (dashed) over {plural(len(result.iterations), 'round')}</p>"
    )

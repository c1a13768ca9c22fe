"""Notebook views of objects as short HTML, without a plotting library."""

from __future__ import annotations

import dataclasses
import html
import inspect
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from colgen.core.columns import Column
from colgen.core.result import Result
from colgen.core.solution import Solution
from colgen.core.text import brief, duration, number, one_line, percent, plural, short
from colgen.problem import Problem
from colgen.reporting.small_picture import draw_bounds
from colgen.reporting.tables import table

_ROWS = 8
"""Number of lines shown of an answer or of columns."""

_MAX_LENGTH = 100
"""Maximum number of characters of one value."""


def show_result(result: Result) -> str:
    """Return how the run ended, its figures, its notes, the bounds by round, and the start of the answer."""
    figures = (
        f"objective <b>{number(result.objective)}</b>",
        f"dual bound <b>{number(result.dual_bound)}</b>",
        f"gap <b>{percent(result.gap)}</b>",
        plural(len(result.iterations), "round"),
        plural(result.columns_generated, "column"),
        plural(len(result.nodes), "node"),
        duration(result.seconds.get("total", 0.0), result.processor_seconds),
    )
    wrapping = "".join(f'<span style="display:inline-block;margin-right:1.5em">{each}</span>' for each in figures)
    lines = [f"<p><b>{html.escape(result.termination.value)}</b></p><p>{wrapping}</p>"]
    lines += [f"<p>{html.escape(note)}</p>" for note in result.notes]
    return "".join([*lines, draw_bounds(result), show_answer(result.answer)])


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


def show_answer(answer: Any, most: int = _ROWS) -> str:
    """Return the first ``most`` lines of an answer as a table with headings; empty for None.

    Entries with names (mappings, dataclasses, named tuples) are lines with these names as headings.
    """
    if answer is None:
        return ""
    if not isinstance(answer, (Mapping, Sequence)) or isinstance(answer, (str, bytes)):
        return f"<pre>{html.escape(short(repr(answer), 4 * _MAX_LENGTH))}</pre>"
    entries = itertools.islice(answer.items() if isinstance(answer, Mapping) else answer, most)
    head, rows = (("name", "value"), entries) if isinstance(answer, Mapping) else _lines_of(list(entries))
    return _some(head, [[short(_cell(cell)) for cell in row] for row in rows], len(answer), most)


def _lines_of(answer: Sequence[Any]) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
    """Return headings for the entries of an answer, and a line for each."""
    named = [_named(entry) for entry in answer]
    first = named[0] if named else None
    if first and all(entry is not None and entry.keys() == first.keys() for entry in named):
        return [name.replace("_", " ") for name in first], (list(entry.values()) for entry in named if entry)
    if all(isinstance(entry, tuple) and len(entry) == 2 and _counts(*entry) for entry in answer):
        return ("structure", "value"), answer
    if any(isinstance(entry, (list, tuple)) for entry in answer):
        return ("number", "members"), enumerate(answer, 1)
    return ("index", "value"), enumerate(answer)


def _named(entry: Any) -> dict[str, Any] | None:
    """Return the values of an entry by name, or None if they have none."""
    if dataclasses.is_dataclass(entry) and not isinstance(entry, type):
        return {field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)}
    if hasattr(entry, "_asdict"):
        return dict(entry._asdict())
    named = isinstance(entry, Mapping) and all(isinstance(name, str) for name in entry)
    return dict(entry) if named else None


def _counts(structure: Any, value: Any) -> bool:
    """Return whether a pair is a structure and its number."""
    return isinstance(value, (int, float)) and not isinstance(structure, (int, float))


def _cell(value: Any) -> str:
    """Return a value as words: members separated by blanks, or by semicolons if they are several words."""
    if isinstance(value, float):
        return number(value, 8)
    if value is None:
        return ""
    named = _named(value)
    if named is not None:
        return ", ".join(f"{name.replace('_', ' ')} {_cell(each)}" for name, each in named.items())
    if not isinstance(value, (list, tuple)):
        return str(value)
    members = [_cell(each) for each in value[:_MAX_LENGTH]]
    return ("; " if any(" " in each for each in members) else " ").join(members)


def _some(head: Sequence[str], rows: Iterable[Sequence[str]], count: int | None = None, most: int = _ROWS) -> str:
    """Return the first rows of a table, and the number of others."""
    every = list(rows)
    left = (len(every) if count is None else count) - most
    return table(head, every[:most]) + (f"<p>and {left:,} more</p>" if left > 0 else "")


def column_name(column: Column, longest: int = _MAX_LENGTH) -> str:
    """Return a name for a column with at most ``longest`` characters."""
    return short(column.key if column.structure is None else column.structure, longest)


def _key(key: tuple[str, Any]) -> str:
    block, index = key
    return block if index is None else f"{block}[{index}]"


def _entry(key: tuple[str, Any], value: float) -> str:
    return _key(key) if value == 1.0 else f"{number(value, 4)} {_key(key)}"

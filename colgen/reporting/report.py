"""Reports: a run as one self-contained HTML page with results, pictures and log."""

from __future__ import annotations

import base64
import contextlib
import csv
import html
import io
import itertools
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colgen.core.duals import Duals
from colgen.core.errors import InputError
from colgen.core.files import write_text
from colgen.core.result import Iteration, Result
from colgen.core.text import number, percent, short
from colgen.reporting import frames, tree_page
from colgen.reporting.axes import INSTALL, can_draw
from colgen.reporting.html import show_answer
from colgen.reporting.tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 500
"""Maximum number of table lines. A longer log shows its first and last rounds."""

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #111; background: #fff; max-width: 72rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #111; position: sticky; top: 0; background: #fff; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; align-items: start; }
section { min-width: 0; } figure { margin: 0; } figure svg { width: 100%; height: auto; }
.log { max-height: 30rem; overflow: auto; font-size: 13px; }
.log td { white-space: nowrap; } .log th { cursor: pointer; }
input.filter { width: 20rem; max-width: 90%; }
.filter:invalid { outline: 2px solid #D55E00; }
td { overflow-wrap: anywhere; } td:first-child { min-width: 5rem; overflow-wrap: normal; }
.end { font-weight: 600; } .words th, .words td { text-align: left; vertical-align: top; }
.first { display: grid; grid-template-columns: auto 1fr; gap: 0 3rem; } .first h2 { margin-top: .5rem; }
.answer { max-width: 46rem; }
@media (max-width: 48rem) { .first { grid-template-columns: 1fr; } }
@media (max-width: 40rem) { body { margin: 1rem auto; } .pictures { grid-template-columns: 1fr; } }
@media (prefers-color-scheme: dark) {
  :root { color-scheme: dark; } body, thead th { color: #ddd; background: #181a1b; } thead th { border-color: #ddd; }
  a { color: #8ab4f8; } th, td { border-color: #444; }
  figure { background: #fff; filter: invert(.9) hue-rotate(180deg); }
}
"""

_SORTING = """
for (const head of document.querySelectorAll(".log th")) head.onclick = () => {
  const body = head.closest("table").tBodies[0], k = head.cellIndex;
  const down = head.dataset.down = head.dataset.down ? "" : "1";
  const text = row => row.cells[k].textContent;
  const number = row => parseFloat(text(row).replaceAll(",", ""));
  const words = (a, b) => isNaN(number(a)) - isNaN(number(b)) || text(a).localeCompare(text(b));
  const order = (a, b) => number(a) - number(b) || words(a, b);
  body.append(...[...body.rows].sort((a, b) => down ? order(a, b) : order(b, a)));
};
"""

_FILTERING = """
for (const field of document.querySelectorAll("input.filter")) field.oninput = () => {
  const table = field.closest("p").nextElementSibling.querySelector("table");
  const heads = [...table.tHead.rows[0].cells].map(head => head.textContent);
  const number = text => parseFloat(text.replaceAll(",", ""));
  const holds = { "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b };
  const wanted = field.value.split(",").map(part => part.match(/^\\s*(.+?)\\s*([<>=])\\s*(.+?)\\s*$/));
  const known = wanted.every(part => part && heads.includes(part[1]) && (part[2] === "=" || !isNaN(number(part[3]))));
  field.setCustomValidity(known || !field.value ? "" : "a column's name, then <, > or =, then a number (= a word)");
  const fits = (text, sign, value) =>
    isNaN(number(value)) ? text.includes(value) : holds[sign](number(text), number(value));
  for (const row of table.tBodies[0].rows) row.hidden = !!field.value && known && !wanted.every(
    ([, name, sign, value]) => fits(row.cells[heads.indexOf(name)].textContent, sign, value));
};
"""

_ANSWER = 100
"""Maximum number of lines of the answer."""

_PACKAGES = ("colgen", "pyomo", "highspy", "numpy", "scipy", "numba")

_COLUMNS: tuple[tuple[str, Callable[[Iteration], float]], ...] = (
    ("round", lambda i: i.number),
    ("node", lambda i: i.node),
    ("phase", lambda i: i.phase),
    ("objective", lambda i: i.objective),
    ("dual bound", lambda i: i.dual_bound),
    ("incumbent", lambda i: i.incumbent),
    ("columns", lambda i: i.columns),
    ("rows", lambda i: i.rows),
    ("new columns", lambda i: i.new_columns),
    ("new rows", lambda i: i.new_rows),
    ("seconds", lambda i: float(f"{i.seconds:.4g}")),
)


def report(
    result: Result,
    path: str | Path,
    title: str = "A run of colgen",
    *,
    about: Mapping[str, object] | None = None,
    picture: Figure | None = None,
    answer: object = None,
) -> None:
    """Write a run as one self-contained HTML page.

    Without matplotlib the page has no pictures, but a note.

    Parameters
    ----------
    title
        Heading of the page.
    about
        More facts by name: settings, seed, digest of the instance.
    picture
        Picture of the answer.
    answer
        The answer with names of its parts, as headings of a table; by default ``result.answer``.
    """
    settings = {**(about or {}), **{name.replace("_", " "): text for name, text in result.settings.items()}}
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in result.notes)
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="end">{html.escape(result.termination.value)}</p>',
        notes,
        '<div class="first">',
        f"<section><h2>Result</h2>{table((), _figures(result).items())}</section>",
        f'<section class="words"><h2>Settings</h2>{_words({**settings, **surroundings()})}</section></div>',
        *_show_answer(result.answer if answer is None else answer, picture),
        "<h2>Course</h2>",
        _show_pictures(lambda: _pictures(result)),
        *_tree(result),
        *_nodes(result),
        *_columns(result),
        "<h2>Log</h2>",
        _data(result),
        _log(result.iterations),
    ]
    _write(path, title, parts)


def side_by_side(results: Mapping[str, Result], path: str | Path, title: str = "Runs of colgen") -> None:
    """Write several runs of one problem, by name, as one HTML page: figures, pictures, trees and logs side by side."""
    if not results or not all(isinstance(result, Result) for result in results.values()):
        raise InputError("results: expected at least one Result by name")
    columns = [_figures(result) for result in results.values()]
    rows = ((name, *(column.get(name, "0") for column in columns)) for name in _names_of(columns))
    given = [result.settings for result in results.values()]
    settings = ((name.replace("_", " "), *(each.get(name, "") for each in given)) for name in _names_of(given))
    ended = ("ended as", *(result.termination.value for result in results.values()))
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f'<div class="log">{table(("", *results), [ended, *rows])}</div>',
        "<h2>Course</h2>",
        _show_pictures(lambda: _common_pictures(results)),
        _show_each(results, "Branch-and-bound tree", lambda result: "".join(_tree(result)[1:]) or "<p>one node</p>"),
        _show_each(results, "Log", lambda result: _data(result) + _log(result.iterations)),
        "<h2>Settings</h2>",
        f'<div class="log words">{table(("", *results), settings)}</div>',
        _words(surroundings()),
    ]
    _write(path, title, parts)


def _words(texts: Mapping[str, object]) -> str:
    """Return texts by name as a table."""
    return table((), ((name, str(text)) for name, text in texts.items()))


def _names_of(columns: Sequence[Mapping[str, str]]) -> Iterable[str]:
    """Return the names of all figures in order. Stages without time are missing in some runs."""
    return dict.fromkeys(name for column in columns for name in column)


def _common_pictures(results: Mapping[str, Result]) -> Iterable[Figure]:
    from colgen.reporting import gap_pictures

    ways: tuple[gap_pictures.By, ...] = ("second", "round")
    for by in ways:
        yield _figure_of(gap_pictures.runs(results, by))
        yield _figure_of(gap_pictures.gap(results, by))


def _show_each(results: Mapping[str, Result], heading: str, part: Callable[[Result], str]) -> str:
    """Return a part of the report of each run under its name."""
    parts = "".join(
        f"<section><h3>{html.escape(name)}</h3>{part(result)}</section>" for name, result in results.items()
    )
    return f'<h2>{heading}</h2><div class="pictures">{parts}</div>'


def _write(path: str | Path, title: str, parts: Iterable[str]) -> None:
    """Write the parts as one page."""
    scripts = f"<script>{_SORTING}{_FILTERING}{tree_page.SCRIPT}</script>"
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}{tree_page.STYLE}</style></head>\n<body>\n"
        + "\n".join([*parts, scripts])
        + "\n</body></html>\n"
    )
    write_text(path, page)


def surroundings() -> dict[str, str]:
    """Return versions of packages, machine and date."""
    versions = {"Python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return {
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count() or 1} processors",
        "written": time.strftime("%Y-%m-%d %H:%M %Z"),
    }


def _show_answer(answer: object, picture: Figure | None) -> list[str]:
    """Return the picture and the start of the answer."""
    text = show_answer(answer, _ANSWER)
    figure = "" if picture is None else f'<figure class="answer">{_svg(picture)}</figure>'
    return ["<h2>Answer</h2>", figure, f'<div class="log words">{text}</div>'] if text or figure else []


def _data(result: Result) -> str:
    """Return links to the rounds and the summary, embedded in the page."""
    rounds = io.StringIO()
    names = [name for name, _ in _COLUMNS]
    writer = csv.writer(rounds)
    writer.writerow(names)
    writer.writerows([read(record) for _, read in _COLUMNS] for record in result.iterations)
    files = (("rounds.csv", "text/csv", rounds.getvalue()), ("run.json", "application/json", _json(result)))
    links = ", ".join(
        f'<a download="{name}" href="data:{kind};base64,{base64.b64encode(text.encode()).decode()}">{name}</a>'
        for name, kind, text in files
    )
    return f"<p>Data: {links}. Click a heading to sort.</p>"


def _json(result: Result) -> str:
    return json.dumps({**result.to_dict(), **surroundings()}, indent=2, ensure_ascii=False)


def _figures(result: Result) -> dict[str, str]:
    """Return the main figures of a run by name."""
    total, *stages = sorted(((name, s) for name, s in result.seconds.items() if s), key=lambda pair: -pair[1])
    counts = {
        "rounds": len(result.iterations),
        "branch-and-bound nodes": len(result.nodes),
        "columns generated": result.columns_generated,
        "rows generated": result.rows_generated,
    }
    return {
        "objective": number(result.objective),
        "dual bound": number(result.dual_bound),
        "gap": percent(result.gap),
        "bound of the root": number(result.root_bound),
        **{name: f"{count:,}" for name, count in counts.items()},
        "seconds": f"{total[1]:.3g}",
        "processor seconds": number(result.processor_seconds, 3),
        **{f"seconds, {name}": f"{s:.3g}" for name, s in stages},
    }


def _show_pictures(pictures: Callable[[], Iterable[Figure]]) -> str:
    """Return pictures in a grid; without matplotlib, how to install it."""
    if not can_draw():
        return f"<p>Pictures need matplotlib: <code>{INSTALL}</code></p>"
    figures = "\n".join(f"<figure>{_svg(figure)}</figure>" for figure in pictures())
    return f'<div class="pictures">\n{figures}\n</div>'


def _tree(result: Result) -> list[str]:
    """Return the tree of a run that branched."""
    if len(result.nodes) <= 1:
        return []
    return ["<h2>Branch-and-bound tree</h2>", tree_page.tree(result.nodes)]


def _pictures(result: Result) -> Iterable[Figure]:
    """Return the pictures for which this run has data."""
    if not result.iterations:
        return
    from colgen.reporting import plotting

    yield _figure_of(plotting.bounds(result))
    yield _figure_of(plotting.bounds(result, by="second"))
    if math.isfinite(result.gap):
        yield _figure_of(plotting.gap(result))
    yield _figure_of(plotting.columns_and_rows(result))
    yield _figure_of(plotting.stages(result))
    if any(isinstance(record.duals, Duals) for record in result.iterations):
        yield plotting.duals(result)
    if any(record.values is not None and record.node == 0 for record in result.iterations):
        yield _figure_of(plotting.values(result))


def _figure_of(axes: Any) -> Figure:
    figure: Figure = axes.figure
    return figure


def _svg(figure: Figure) -> str:
    """Return the SVG element of a figure."""
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]


def _log(rounds: Sequence[Iteration]) -> str:
    if len(rounds) <= _SHOWN:
        chosen: list[Iteration] = list(rounds)
        left_out = ""
    else:
        chosen = [*rounds[: _SHOWN // 2], *rounds[-_SHOWN // 2 :]]
        left_out = f"<p>{len(rounds) - _SHOWN:,} rounds in the middle are left out.</p>"
    head = [name for name, _ in _COLUMNS]
    body = ([_number(read(record)) for _, read in _COLUMNS] for record in chosen)
    return left_out + _sortable("rounds", head, body, "node = 3, new columns > 0")


def _columns(result: Result) -> list[str]:
    """Return the columns of the last master: those in use, then by reduced cost."""
    every = sorted(frames.columns(result), key=lambda line: (not (line[2] or line[3]), abs(line[4])))
    if not every:
        return []
    left = len(every) - _SHOWN
    left_out = f"<p>{left:,} columns of larger reduced cost are left out.</p>" if left > 0 else ""
    rows = (
        (short(line[0]), *map(_number, line[1:5]), "yes" if line[5] else "no", _first_round(line[6]))
        for line in every[:_SHOWN]
    )
    head = ("structure", "cost", "value", "in the relaxation", "reduced cost", "basic", "first round")
    return ["<h2>Columns of the last master</h2>", left_out + _sortable("columns", head, rows, "value > 0")]


def _first_round(number: int) -> str:
    return "given" if number == frames.GIVEN else f"{number:,}"


def _nodes(result: Result) -> list[str]:
    """Return the nodes of a run that branched."""
    if len(result.nodes) <= 1:
        return []
    left = len(result.nodes) - _SHOWN
    left_out = f"<p>{left:,} later nodes are left out.</p>" if left > 0 else ""
    rows = (
        (f"{node:,}", "" if parent is None else f"{parent:,}", f"{depth:,}", _number(bound), outcome, short(decision))
        for node, parent, depth, bound, outcome, decision in itertools.islice(frames.nodes(result), _SHOWN)
    )
    head = ("node", "parent", "depth", "bound", "outcome", "decision")
    return ["<h2>Nodes</h2>", left_out + _sortable("nodes", head, rows, "depth < 5, outcome = pruned")]


def _sortable(what: str, head: Sequence[str], rows: Iterable[Sequence[str]], example: str) -> str:
    """Return a table with sortable headings, below a filter field."""
    field = f'<p><label>Show {what} with <input class="filter" placeholder="{html.escape(example)}"></label></p>'
    return f'{field}<div class="log">{table(head, rows)}</div>'


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return number(value, 8)

"""A run as one HTML page: what is proved, the pictures, and the log, with nothing to be loaded from elsewhere."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colgen.core.duals import Duals
from colgen.core.files import write_text
from colgen.core.result import Iteration, Result
from colgen.core.wording import number
from colgen.reporting.figures import INSTALL, can_draw
from colgen.reporting.tables import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 500
"""Rounds in the log; of a longer run the first and the last ones."""

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #111; background: #fff; max-width: 72rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid #111; position: sticky; top: 0; background: #fff; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem; align-items: start; }
figure { margin: 0; } figure svg { width: 100%; height: auto; }
.log { max-height: 30rem; overflow: auto; font-size: 13px; }
"""

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


def report(result: Result, path: str | Path, title: str = "A run of colgen") -> None:
    """Write a run as one HTML page that opens without a network.

    Without matplotlib the page has no pictures, and says so.

    Parameters
    ----------
    title
        The page's heading.
    """
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{html.escape(result.termination.value)}</p>",
        _summary(result),
        "<h2>Course</h2>",
        _course(result),
        "<h2>Log</h2>",
        _log(result.iterations),
    ]
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )
    write_text(path, page)


def _summary(result: Result) -> str:
    lines = [
        ("objective", result.objective),
        ("dual bound", result.dual_bound),
        ("relative gap", result.gap),
        ("bound of the root", result.root_bound),
        ("rounds", len(result.iterations)),
        ("branch-and-bound nodes", len(result.nodes)),
        ("columns generated", result.columns_generated),
        ("rows generated", result.rows_generated),
        *(
            (f"seconds, {stage}", float(f"{seconds:.3g}"))
            for stage, seconds in sorted(result.seconds.items())
            if seconds
        ),
    ]
    return table((), ((name, _number(value)) for name, value in lines))


def _course(result: Result) -> str:
    if not can_draw():
        return f"<p>Pictures need matplotlib: <code>{INSTALL}</code></p>"
    figures = "\n".join(f"<figure>{_svg(figure)}</figure>" for figure in _pictures(result))
    return f'<div class="pictures">\n{figures}\n</div>'


def _pictures(result: Result) -> Iterable[Figure]:
    """Those that this run has something to show in."""
    if not result.iterations and not result.nodes:
        return
    from colgen.reporting import plotting

    if result.iterations:
        yield _figure_of(plotting.bounds(result))
        yield _figure_of(plotting.bounds(result, by="second"))
        yield _figure_of(plotting.columns_and_rows(result))
        yield _figure_of(plotting.stages(result))
        if any(isinstance(record.duals, Duals) for record in result.iterations):
            yield plotting.duals(result)
    if len(result.nodes) > 1:
        yield _figure_of(plotting.tree(result))


def _figure_of(axes: Any) -> Figure:
    figure: Figure = axes.figure
    return figure


def _svg(figure: Figure) -> str:
    """A picture's elements, without the head of a file of its own."""
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
    return f'{left_out}<div class="log">{table(head, body)}</div>'


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return number(value, 8)

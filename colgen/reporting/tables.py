"""Text tables in HTML and for a terminal."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table with escaped texts. Without a head if ``head`` is empty."""
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def align(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """Return a table for a terminal. The first ``words`` columns and the last are texts, the others numbers."""
    every = [head, *rows]
    widths = [max(len(row[k]) for row in every) for k in range(len(head))]
    left = (*range(words), len(head) - 1)
    lines = (
        "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in every
    )
    return "\n".join(map(str.rstrip, lines))


def count(value: int | None) -> str:
    """Return a count as a text; empty for None."""
    return "" if value is None else f"{value:,}"

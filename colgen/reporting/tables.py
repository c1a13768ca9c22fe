"""Text tables in HTML and for a terminal."""

from __future__ import annotations

import html
import sys
from collections.abc import Iterable, Sequence

from colgen.core.text import width


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table with escaped texts. Without a head if ``head`` is empty."""
    top = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def align(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """Return a table for a terminal. The first ``words`` columns and the last are texts, the others numbers.

    Columns that do not fit the terminal follow in further tables, each with the first ``words`` columns.
    """
    every = [head, *rows]
    widths = [max(len(row[k]) for row in every) for k in range(len(head))]
    left = (*range(words), len(head) - 1)
    parts, most = [[*range(words)]], width(sys.stdout)
    for k in range(words, len(head)):
        if sum(widths[j] + 2 for j in parts[-1]) + widths[k] > most and len(parts[-1]) > words:
            parts.append([*range(words)])
        parts[-1].append(k)
    return "\n\n".join(
        "\n".join(
            "  ".join(row[k].ljust(widths[k]) if k in left else row[k].rjust(widths[k]) for k in part).rstrip()
            for row in every
        )
        for part in parts
    )


def count(value: int | None) -> str:
    """Return a count as a text; empty for None."""
    return "" if value is None else f"{value:,}"

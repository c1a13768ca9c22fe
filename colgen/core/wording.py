"""Lines for people: whatever an error quotes, it stays one line that can be printed."""

from __future__ import annotations

from typing import Any

LONGEST = 300
"""Characters of a line that says what is wrong with the input."""


def one_line(text: str, longest: int | None = LONGEST) -> str:
    """A text with its control characters escaped; the middle of one that is too long is left out."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    if longest is None or len(text) <= longest:
        return text
    head = (longest - 5) * 3 // 5
    return f"{text[:head]} ... {text[head + 5 - longest :]}"


def is_terminal(stream: Any) -> bool:
    """Whether somebody looks at a stream."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # closed, or not there at all
        return False

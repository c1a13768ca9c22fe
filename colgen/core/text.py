"""Text for messages: one-line quotations, numbers and counts."""

from __future__ import annotations

import math
from typing import Any

LONGEST = 300
"""Maximum number of characters of a line of an error message about input."""

FORGOTTEN = "did you forget `return`?"
"""Hint for a method that returned None where a value is needed."""


def one_line(text: str, longest: int | None = LONGEST) -> str:
    """Return a text with control characters escaped and the middle of a long one omitted."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    if longest is None or len(text) <= longest:
        return text
    head = (longest - 5) * 3 // 5
    return f"{text[:head]} ... {text[head + 5 - longest :]}"


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # closed, or not a stream
        return False


def number(value: float, digits: int = 10) -> str:
    """Format an objective or bound; "none" if infinite."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "none"


def percent(share: float) -> str:
    """Format a gap in percent; "infinite" if it is."""
    return f"{100 * share:.3g}%" if math.isfinite(share) else "infinite"


def plural(count: int, noun: str) -> str:
    """Format a number of things: "1 round", "2,000 rounds"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def significant(value: float) -> str:
    """Format a measured number: integers in full, others with four significant digits, three below 0.001."""
    if not math.isfinite(value):
        return str(value)
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 1e-3 else f"{value:.3g}"


def describe(value: Any) -> str:
    """Describe an unexpected value in a few words: itself if short, otherwise its class."""
    if isinstance(value, type):
        return f"the class {value.__name__} (pass an object of it)"
    plain = isinstance(value, (int, float, str, bytes, type(None))) or type(value).__module__ == "numpy"
    text = repr(value) if plain else ""
    return text if text and len(text) <= 40 else f"a {type(value).__name__}"

"""What people read: lines that stay one line whatever they quote, and numbers."""

from __future__ import annotations

import math
from typing import Any

LONGEST = 300
"""Characters of a line that says what is wrong with the input."""

FORGOTTEN = "did you forget `return`?"
"""What to ask where a method returned None and a value is needed."""


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


def number(value: float, digits: int = 10) -> str:
    """An objective or a bound; "none" where it is infinite."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "none"


def percent(share: float) -> str:
    """A gap; "infinite" where it is."""
    return f"{100 * share:.3g}%" if math.isfinite(share) else "infinite"


def counted(count: int, noun: str) -> str:
    """So many things, by their name: "1 round", "2,000 rounds"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def significant(value: float) -> str:
    """A measured number: whole numbers whole, others with four significant digits, three when very small."""
    if not math.isfinite(value):
        return str(value)
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 1e-3 else f"{value:.3g}"


def describe(value: Any) -> str:
    """Return a few words for an unexpected value: the value itself if it is short, otherwise its class."""
    if isinstance(value, type):
        return f"the class {value.__name__}: an object of it is meant"
    plain = isinstance(value, (int, float, str, bytes, type(None))) or type(value).__module__ == "numpy"
    text = repr(value) if plain else ""
    return text if text and len(text) <= 40 else f"a {type(value).__name__}"

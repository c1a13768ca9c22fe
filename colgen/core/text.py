"""Text for messages: one-line quotations, numbers and counts."""

from __future__ import annotations

import inspect
import math
import os
import reprlib
import shutil
import sys
import textwrap
from collections.abc import Sequence
from enum import Enum
from pathlib import PurePath
from typing import Any

from colgen.core.tolerances import TOLERANCES

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
    """Format a gap in percent; "infinite" if it is, and 0% if it is a rounding error."""
    share = 0.0 if abs(share) <= TOLERANCES.pruning else share
    return f"{100 * share:.3g}%" if math.isfinite(share) else "infinite"


def plural(count: int, noun: str, several: str = "") -> str:
    """Format a number of things: "1 round", "2,000 rounds"; ``several`` is the plural if it does not end in s alone."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def meant(name: str, known: Sequence[str], prefix: str = "") -> str:
    """Return the end of a message about an unknown name: the known one that is nearly the same, if there is one.

    Names are compared without ``prefix``.
    """
    from difflib import get_close_matches

    near = get_close_matches(name.removeprefix(prefix), [each.removeprefix(prefix) for each in known], n=1)
    return f"; did you mean {prefix + near[0]!r}?" if near else ""


def width(stream: Any) -> float:
    """Return the width of a terminal, or the value of the variable COLUMNS; infinite for other streams without it."""
    if os.environ.get("COLUMNS") or is_terminal(stream):
        return shutil.get_terminal_size().columns
    return math.inf


def wrap(text: str, stream: Any = None) -> str:
    """Return a text with lines that fit a stream, standard output by default, broken at blanks alone."""
    most = width(sys.stdout if stream is None else stream)
    return "\n".join(_wrap_line(line, int(most)) if len(line) > most else line for line in text.split("\n"))


def _wrap_line(line: str, most: int) -> str:
    blanks = len(line) - len(line.lstrip())
    indent = " " * (blanks + 2 if blanks else 0)
    parts = textwrap.wrap(line, most, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(parts)


def duration(wall: float, processor: float) -> str:
    """Format the duration of a run and its processor time, if known: "1.3 s, 1.2 s of processor time"."""
    return f"{wall:.3g} s" + (f", {processor:.3g} s of processor time" if math.isfinite(processor) else "")


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


_EMPTY = {"<factory>": "{}"}
"""What a default that a dataclass makes is printed as."""


class Described:
    """Base class of objects that are printed as their class and the arguments that differ from their defaults.

    Long arguments are cut, and those without a representation of their own are printed as their class.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        given: list[str] = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, name, parameter.default)
            if parameter.kind is parameter.VAR_POSITIONAL and isinstance(value, tuple):
                given += map(brief, value)
            elif brief(value) not in (brief(parameter.default), _EMPTY.get(repr(parameter.default))):
                given.append(f"{name}={brief(value)}")
        return one_line(f"{type(self).__name__}({', '.join(given)})", LONGEST)


class _Brief(reprlib.Repr):
    """Shows only the class of objects that are no plain data, because they may be large."""

    def repr_instance(self, x: Any, level: int) -> str:
        if isinstance(x, (float, bool, type(None), Described)):
            return repr(x)
        if isinstance(x, (PurePath, Enum)):
            return str(x) if isinstance(x, Enum) else repr(str(x))
        return str(x.__name__ if isinstance(x, type) or inspect.isroutine(x) else type(x).__name__)


_BRIEF = _Brief()


def brief(value: Any, longest: int = 100) -> str:
    """Return a value of any size as a text of at most ``longest`` characters."""
    shape = getattr(value, "shape", None)
    of = f" of {' x '.join(map(str, shape))}" if isinstance(shape, tuple) and shape else ""
    return short(one_line(_BRIEF.repr(value), None) + of, longest)


def short(what: object, longest: int = 100) -> str:
    """Return a value as a text of at most ``longest`` characters."""
    text = str(what)
    return text if len(text) <= longest else text[: longest - 1] + "…"

"""Options of ``--option NAME=VALUE``, with their meanings and values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from colgen.core.errors import InputError
from colgen.core.text import meant

_DIGITS = 18
"""Digits that always fit into 64 bits."""


class Number(Enum):
    """Kinds of numbers for the value of an option; a member's value is its description in messages."""

    WHOLE = "an integer ≥ 1"
    ANY = "a number"
    POSITIVE = "a positive number"
    NOT_NEGATIVE = "a number ≥ 0"

    def parse(self, text: str) -> float | None:
        """Return the number that a text states; None if it is not of this kind."""
        if self is Number.WHOLE:
            fits = text.isascii() and text.isdigit() and len(text) <= _DIGITS and int(text)
            return int(text) if fits else None
        try:
            value = float(text)
        except ValueError:
            return None
        low = {Number.ANY: -math.inf, Number.POSITIVE: math.ulp(0.0), Number.NOT_NEGATIVE: 0.0}[self]
        return value if low <= value and math.isfinite(value) else None


@dataclass(frozen=True)
class Option:
    """An option of a template; any text is allowed if it has neither words nor a number.

    Attributes
    ----------
    meaning
        Printed by ``colgen templates NAME``.
    words
        Allowed texts, or a mapping from them to values.
    number
        Kind of number that is allowed.
    of_problem
        Whether the value is passed to ``Template.problem`` and not to ``Template.read``.
    """

    meaning: str
    words: Mapping[str, Any] | Sequence[str] = ()
    number: Number | None = None
    of_problem: bool = False

    def parse(self, name: str, text: str) -> Any:
        """Return the value that a text stands for; raise InputError with the option's name if it is not allowed."""
        if text in self.words:
            return self.words[text] if isinstance(self.words, Mapping) else text
        value = None if self.number is None else self.number.parse(text)
        if value is not None:
            return value
        if not self.words and self.number is None:
            return text
        *others, last = [*list(self.words), *([] if self.number is None else [self.number.value])]
        expected = f"{', '.join(others)} or {last}" if others else last
        raise InputError(f"option {name}: expected {expected}, not {text[: 2 * _DIGITS]!r}")


def option_values(texts: Mapping[str, str], known: Mapping[str, Option]) -> dict[str, Any]:
    """Return the values of options; raise InputError for an unknown option or a value that is not allowed."""
    for name in texts:
        if name not in known:
            meanings = "; ".join(f"{each}: {option.meaning}" for each, option in known.items())
            hint = meant(name, list(known)) or f"; there are {meanings or 'none'}"
            raise InputError(f"there is no option {name!r}{hint}")
    return {name: known[name].parse(name, text) for name, text in texts.items()}

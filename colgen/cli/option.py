"""Options of ``--option NAME=VALUE``: what each means, and which values it may have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from colgen.core.errors import InputError

_DIGITS = 18
"""Of a number that fits into 64 bits, at least."""


class Number(Enum):
    """Numbers that the value of an option may be; the value of a member names them in messages."""

    WHOLE = "a whole number, one or more"
    ANY = "a number"
    POSITIVE = "a positive number"
    NOT_NEGATIVE = "a number from 0 on"

    def parse(self, text: str) -> float | None:
        """Return the number that a text states; None if it is none of this kind."""
        if self is Number.WHOLE:
            is_whole = text.isascii() and text.isdigit() and len(text) <= _DIGITS and int(text)
            return int(text) if is_whole else None
        try:
            value = float(text)
        except ValueError:
            return None
        low = {Number.ANY: -math.inf, Number.POSITIVE: math.ulp(0.0), Number.NOT_NEGATIVE: 0.0}[self]
        return value if low <= value and math.isfinite(value) else None


@dataclass(frozen=True)
class Option:
    """An option of a template: its meaning, and the values that it may have; without words and number any text.

    Attributes
    ----------
    meaning
        Printed by ``colgen templates NAME``.
    words
        Texts that the value may be, with what each stands for if that is not the text itself.
    number
        The value may be a number of this kind.
    """

    meaning: str
    words: Mapping[str, Any] | Sequence[str] = ()
    number: Number | None = None

    def parse(self, name: str, text: str) -> Any:
        """Return the value that a text stands for.

        Raises
        ------
        InputError
            With the name of the option, if it may have no such value.
        """
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
    """Return the values of options.

    Raises
    ------
    InputError
        If a template has no such option, or an option may have no such value.
    """
    for name in texts:
        if name not in known:
            meanings = "; ".join(f"{each}: {option.meaning}" for each, option in known.items())
            raise InputError(f"there is no option {name!r}; there are {meanings or 'none'}")
    return {name: known[name].parse(name, text) for name, text in texts.items()}

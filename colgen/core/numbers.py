"""Whole numbers as people give them: of an instance, of an answer."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from colgen.core.errors import InputError


def as_whole(value: object, what: str) -> int:
    """A whole number, also one that is written as a float.

    Parameters
    ----------
    what
        Of the number, as an error begins with it: "the roll width".

    Raises
    ------
    InputError
        For fractions, texts, truth values and whatever else is none.
    """
    try:
        number = int(value)  # type: ignore[call-overload]
        if number == value and not isinstance(value, bool):
            return int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"{what} must be a whole number, not {repr(value)[:40]}")


def numbers_of(answer: Iterable[Any], what: str) -> list[int]:
    """An answer that gives a number to each of the things: the machines of tasks, the colours of vertices.

    Parameters
    ----------
    what
        Is given to what, as an error says it: "a machine for each task".

    Raises
    ------
    ValueError
        If an answer has something else than integers.
    """
    try:
        return [operator.index(value) for value in answer]
    except TypeError as error:
        raise ValueError(f"expected {what}, a whole number: {error}") from None

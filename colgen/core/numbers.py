"""Checks of numbers that users state: real and whole numbers, and their domains."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, TypeVar

from colgen.core.errors import InputError
from colgen.core.text import FORGOTTEN
from colgen.solvers.arrays import ArrayError, as_float, as_integer


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


Value = TypeVar("Value")


def real(value: Any, name: str, *, low: float = 0.0, high: float = math.inf, finite: bool = True) -> float:
    """A number from ``low`` to ``high``.

    Raises
    ------
    InputError
        Naming the setting and what was expected.
    """
    try:
        return as_float(value, name, low=low, high=high, finite=finite)
    except ArrayError as error:
        raise InputError(str(error)) from None


def whole(value: Any, name: str, *, low: int = 0, high: int | None = None) -> int:
    """A whole number from ``low`` to ``high``.

    Raises
    ------
    InputError
        Naming the setting and what was expected.
    """
    try:
        return as_integer(value, name, low=low, high=high)
    except ArrayError as error:
        raise InputError(str(error)) from None


def returned(value: Value | None, method: str, expected: str) -> Value:
    """What a method of the user's returned, where None can only be a forgotten ``return``.

    Raises
    ------
    InputError
        Naming the method and what was expected.
    """
    if value is None:
        raise InputError(f"{method} returned None: {FORGOTTEN} Expected {expected}")
    return value

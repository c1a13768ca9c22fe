"""Checks of numbers from users: real and integer numbers with their domains."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, TypeVar

from colgen.core.errors import InputError
from colgen.core.text import FORGOTTEN
from colgen.solvers.arrays import ArrayError, as_float, as_integer


def to_integer(value: object, what: str) -> int:
    """Return an integer, also if given as a float; raise InputError for anything else, also truth values.

    ``what`` begins the message, such as "the roll width".
    """
    try:
        number = int(value)  # type: ignore[call-overload]
        if number == value and not isinstance(value, bool):
            return int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"{what} must be an integer, not {repr(value)[:40]}")


def numbers_of(answer: Iterable[Any], what: str) -> list[int]:
    """Return an answer that assigns an integer to each item, such as machines to tasks or colours to vertices.

    ValueError is raised for other entries; ``what`` describes the assignment: "a machine for each task".
    """
    try:
        return [operator.index(value) for value in answer]
    except TypeError as error:
        raise ValueError(f"expected {what}, an integer: {error}") from None


Value = TypeVar("Value")


def real(value: Any, name: str, *, low: float = 0.0, high: float = math.inf, finite: bool = True) -> float:
    """Return a number from ``low`` to ``high``; raise InputError with the name and the range otherwise."""
    try:
        return as_float(value, name, low=low, high=high, finite=finite)
    except ArrayError as error:
        raise InputError(str(error)) from None


def integer(value: Any, name: str, *, low: int = 0, high: int | None = None) -> int:
    """Return an integer from ``low`` to ``high``; raise InputError with the name and the range otherwise."""
    try:
        return as_integer(value, name, low=low, high=high)
    except ArrayError as error:
        raise InputError(str(error)) from None


def require_result(value: Value | None, method: str, expected: str) -> Value:
    """Return the result of a user's method; raise InputError for None, which means a forgotten ``return``."""
    if value is None:
        raise InputError(f"{method} returned None: {FORGOTTEN} Expected {expected}")
    return value

"""Settings that are numbers: what is none, or out of its domain, is one sentence of bad input."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from colgen.core.errors import InputError
from colgen.core.wording import FORGOTTEN
from solvers.arrays import ArrayError, as_float, as_integer

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

"""Settings that are numbers: what is none, or out of its domain, is one sentence of bad input."""

from __future__ import annotations

import math
from typing import Any

from colgen.core.errors import InputError
from solvers.arrays import ArrayError, as_float, as_integer


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

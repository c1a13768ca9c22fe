"""HiGHS options by name, validated before any work."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import highspy

Options = Mapping[str, bool | int | float | str]
"""Values by names of HiGHS options, such as ``{"simplex_price_strategy": 1}``."""

_TAKEN = ("time_limit", "simplex_strategy", "simplex_iteration_limit")
"""Options set by each solve."""


class OptionError(ValueError):
    """HiGHS has no such option, or rejects its value."""


def check_options(options: Any) -> dict[str, bool | int | float | str]:
    """Return validated HiGHS options as a dictionary.

    An OptionError gives the name of the option and the expected value.
    """
    if not isinstance(options, Mapping):
        kind = type(options).__name__
        raise OptionError(f"expected options by name, such as {{'presolve': 'on'}}, got an object of type {kind}")
    highs = highspy.Highs()
    highs.silent()
    known = [name for name in dir(highs.getOptions()) if not name.startswith("_")]
    for name, value in options.items():
        if name in _TAKEN:
            raise OptionError(f"option {name!r} cannot be given: it is set by each solve")
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            raise OptionError(f"HiGHS has no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        known_as = type(highs.getOptionValue(name)[1])
        if type(value) is not known_as and not (known_as is float and type(value) is int):
            raise OptionError(f"option {name!r}: expected {known_as.__name__}, got {value!r}")
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise OptionError(f"option {name!r}: HiGHS rejects the value {value!r}")
    return dict(options)


def set_options(highs: highspy.Highs, options: Options) -> None:
    """Set validated options."""
    for name, value in options.items():
        highs.setOptionValue(name, value)

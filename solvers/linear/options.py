"""Options of HiGHS by name, checked before any work."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import highspy

Options = Mapping[str, bool | int | float | str]
"""Values by the names of HiGHS's options, such as ``{"simplex_price_strategy": 1}``."""

_TAKEN = ("time_limit", "simplex_strategy", "simplex_iteration_limit")
"""What is set anew for each solve."""


class OptionError(ValueError):
    """HiGHS has no such option, or not of this value."""


def check_options(options: Any) -> dict[str, bool | int | float | str]:
    """Options that HiGHS will take, as a dictionary.

    Raises
    ------
    OptionError
        In one sentence, naming the option and what was expected.
    """
    if not isinstance(options, Mapping):
        kind = type(options).__name__
        raise OptionError(f"expected options by name, such as {{'presolve': 'on'}}, not of type {kind}")
    highs = highspy.Highs()
    highs.silent()
    known = [name for name in dir(highs.getOptions()) if not name.startswith("_")]
    for name, value in options.items():
        if name in _TAKEN:
            raise OptionError(f"the option {name!r} is set for each solve: it cannot be given")
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            raise OptionError(f"HiGHS has no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        known_as = type(highs.getOptionValue(name)[1])
        if type(value) is not known_as and not (known_as is float and type(value) is int):
            raise OptionError(f"the option {name!r} is {known_as.__name__}, not {value!r}")
        if highs.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise OptionError(f"HiGHS does not take {value!r} for its option {name!r}")
    return dict(options)


def set_options(highs: highspy.Highs, options: Options) -> None:
    """Set options that have been checked."""
    for name, value in options.items():
        highs.setOptionValue(name, value)

"""The fields of a checkpoint and their domains. All are checked before any is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.checkpoint.columns import check_columns, check_solution
from colgen.core.errors import InputError
from colgen.core.result import Termination

_COUNT = 2**53
"""Upper limit for numbers of nodes, columns or rows."""

Check = Callable[[Any], bool]


def check_fields(fields: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise an ``InputError`` that names the first invalid field and what was expected."""
    for name, (check, expected) in _FIELDS.items():
        if name not in fields:
            raise InputError(f"the field {name!r} is missing")
        if not check(fields[name]):
            raise InputError(f"expected {expected} as {name!r}, got {_show(fields[name])}")
    _check_tree(fields)
    if fields["columns"] is not None:
        check_columns("columns", fields["columns"], arrays)
        origins, count = arrays.get("columns.origins"), fields["columns"]["count"]
        if origins is None or origins.dtype.kind not in "iu" or origins.shape != (count,):
            raise InputError(f"expected {count} integers as 'columns.origins'")
    if fields["incumbent"] is not None:
        check_solution("incumbent", fields["incumbent"], arrays)
    duals = arrays.get("duals")
    if duals is not None and not (duals.ndim == 1 and duals.dtype.kind == "f" and np.isfinite(duals).all()):
        raise InputError("expected finite numbers in one axis as dual values")


def _check_tree(fields: Mapping[str, Any]) -> None:
    """Check that links follow those above them, and that the last link of each node exists."""
    for number, (above, _) in enumerate(fields["links"]):
        if above >= number:
            raise InputError(f"expected link {number} of 'links' to follow the link above it, got {above}")
    numbers = set()
    for number, parent, _, link, _, _ in fields["nodes"]:
        if number in numbers or number >= fields["next_number"]:
            raise InputError(f"expected numbers below {fields['next_number']} in 'nodes', each once, got {number}")
        if parent is not None and parent >= number:
            raise InputError(f"expected a parent before node {number} in 'nodes', got {parent}")
        if link >= len(fields["links"]):
            raise InputError(f"expected a link below {len(fields['links'])} for node {number} in 'nodes', got {link}")
        numbers.add(number)


# --- kinds of fields -------------------------------------------------------------------------------------------------


def _is_count(value: Any, low: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= _COUNT


def _is_number(value: Any, finite: bool = False) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) <= 10**300
    return math.isfinite(value) if finite else not math.isnan(value)


def _is_list(each: Check = lambda value: True) -> Check:
    return lambda value: isinstance(value, list) and all(map(each, value))


def _is_row_of(*checks: Check) -> Check:
    return lambda value: (
        isinstance(value, list) and len(value) == len(checks) and all(c(v) for c, v in zip(checks, value, strict=True))
    )


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _has(**checks: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(k in value and check(value[k]) for k, check in checks.items())


def _is_any(value: Any) -> bool:
    return True


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_finite(value: Any) -> bool:
    return _is_number(value, finite=True)


_PAIRS = _is_list(_is_row_of(_is_any, _is_finite))
_DECISION = _is_row_of(_is_text, lambda value: isinstance(value, dict))
_LINK = _is_row_of(lambda value: _is_count(value, -1), _is_list(_DECISION))
_CHANGE = _has(tuple=_is_row_of(_is_any, _is_count, _is_number, _is_number))
_NODE = _is_row_of(
    _is_count, _optional(_is_count), _is_count, lambda value: _is_count(value, -1), _is_number, _optional(_CHANGE)
)
_GAINS = _is_row_of(lambda value: _is_finite(value) and value >= 0.0, lambda value: _is_finite(value) and value >= 0.0)
_PSEUDO_COSTS = _is_list(_is_row_of(_is_any, _GAINS, _is_row_of(_is_count, _is_count)))


def _is_pseudo_costs(value: Any) -> bool:
    """Return whether a value consists of pseudo-costs of relaxations, and of linear programs or None."""
    if not (isinstance(value, list) and len(value) == 2 and _PSEUDO_COSTS(value[0])):
        return False
    linear = value[1]
    return linear is None or (
        isinstance(linear, list) and len(linear) == 2 and _PSEUDO_COSTS(linear[0]) and linear[1] is None
    )


_FIELDS: dict[str, tuple[Check, str]] = {
    "digest": (_is_text, "a text"),
    "master": (_is_text, "a text"),
    "relaxation": (_is_bool, "true or false"),
    "seconds": (lambda value: _is_finite(value) and value >= 0.0, "seconds"),
    "processor_seconds": (lambda value: _is_finite(value) and value >= 0.0, "seconds"),
    "global_bound": (_is_number, "a number"),
    "root_bound": (_is_number, "a number"),
    "lost": (_is_number, "a number"),
    "why_lost": (_optional(lambda value: value in Termination.__members__), "the name of a termination"),
    "treated": (_is_count, "a number of nodes"),
    "compares": (_is_bool, "true or false"),
    "next_number": (_is_count, "the number of a node"),
    "generated": (_is_row_of(_is_count, _is_count), "numbers of columns and rows"),
    "incumbent": (_is_any, "an answer"),
    "links": (_is_list(_LINK), "links of decisions"),
    "nodes": (_is_list(_NODE), "nodes"),
    "rows": (_is_list(_is_row_of(_is_any, _is_number, _is_number, _optional(_PAIRS))), "rows"),
    "pseudo_costs": (_is_pseudo_costs, "gains"),
    "columns": (_is_any, "columns"),
    "duals": (_is_any, "dual values"),
}


def _show(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python limits the digits of a printed integer
        text = "a number of many digits"
    return text if len(text) <= 60 else f"{text[:60]}..."

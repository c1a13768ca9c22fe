"""Plain data as JSON has it: what JSON does not have is an object with the name of its kind.

Nothing in a text runs when it is read: the kinds are those below and no others.
"""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

import numpy as np

from colgen.core.errors import InputError
from colgen.core.terms import Box, Count, Linear, Term

_TERMS: dict[str, type[Term]] = {kind.__name__: kind for kind in (Linear, Count, Box)}

_LISTED = 64
"""Arrays of so many entries, or fewer, are written as lists that people can read."""


def as_plain(value: Any, what: str) -> Any:
    """A value as JSON has it.

    Parameters
    ----------
    what
        The value's name in an error message.

    Raises
    ------
    InputError
        If it is made of anything but numbers, strings, bytes, None, tuples, lists, sets, dictionaries, arrays, and the
        terms of cuts.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return _of_array(value)
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [as_plain(part, what) for part in value]
    if isinstance(value, dict):
        return {"dict": [[as_plain(key, what), as_plain(part, what)] for key, part in value.items()]}
    for kind, name in ((tuple, "tuple"), (frozenset, "frozenset"), (set, "set")):
        if type(value) is kind:
            parts = [as_plain(part, what) for part in value]
            # The order of a set depends on how it was filled: equal sets are written alike.
            return {name: parts if kind is tuple else sorted(parts, key=repr)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        raise InputError(f"{what}, {value!r}, is a {type(value).__name__}: expected plain tuples")
    if type(value) in _TERMS.values():
        fields = [getattr(value, entry.name) for entry in dataclasses.fields(value)]
        return {"term": [type(value).__name__, *(as_plain(part, what) for part in fields)]}
    raise InputError(
        f"{what}, {value!r}, is a {type(value).__name__}: expected numbers, strings, None, tuples, lists, sets, "
        "dictionaries or arrays of these"
    )


def of_plain(value: Any) -> Any:
    """The value that :func:`as_plain` has written.

    Raises
    ------
    ValueError, KeyError, TypeError, ColgenError
        If it has not.
    """
    if isinstance(value, list):
        return [of_plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        return _to_array(value)
    ((name, parts),) = value.items()
    if name == "bytes":
        return base64.b64decode(parts, validate=True)
    if name == "term":
        kind, *fields = parts
        return _TERMS[kind](*map(of_plain, fields))
    made = {"tuple": tuple, "frozenset": frozenset, "set": set, "dict": dict}[name]
    return made(of_plain(part) for part in parts)


def _of_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    kind = array.dtype.str
    if array.size <= _LISTED:
        return {"array": array.tolist(), "dtype": kind}
    packed = np.packbits(array.reshape(-1)) if array.dtype.kind == "b" else np.ascontiguousarray(array)
    return {"base64": base64.b64encode(packed.tobytes()).decode(), "shape": list(array.shape), "dtype": kind}


def _to_array(value: dict[str, Any]) -> np.ndarray[Any, Any]:
    kind = np.dtype(value["dtype"])
    if kind.kind not in "biuf":
        raise ValueError(f"an array of {kind}")
    if "array" in value:
        return np.array(value["array"], dtype=kind)
    raw = np.frombuffer(base64.b64decode(value["base64"], validate=True), dtype=np.uint8)
    shape = tuple(int(side) for side in value["shape"])
    if kind.kind == "b":
        count = int(np.prod(shape))
        return np.unpackbits(raw, count=count).astype(np.bool_).reshape(shape)
    whole: np.ndarray[Any, Any] = raw.view(kind).reshape(shape).copy()
    return whole

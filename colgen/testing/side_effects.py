"""Detection of changes to a problem's data while it is solved."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from colgen.problem import Problem


def public_data(problem: Problem) -> dict[str, Any]:
    """Return copies of the problem's public containers.

    Private attributes are omitted because they may be caches, and numbers because they may be counters.
    """
    data = {}
    for name, value in getattr(problem, "__dict__", {}).items():
        if not name.startswith("_") and isinstance(value, np.ndarray | list | dict | tuple | set):
            try:
                data[name] = copy.deepcopy(value)
            except Exception:  # not plain data
                continue
    return data


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the names of changed data."""
    return [name for name, value in before.items() if name in after and not _equal(value, after[name])]


def _equal(first: Any, second: Any) -> bool:
    try:
        if isinstance(first, np.ndarray):
            same = first.shape == second.shape and first.dtype == second.dtype
            return same and bool(((first == second) | ((first != first) & (second != second))).all())
        if isinstance(first, dict):
            # A dictionary that only grows is a cache.
            return first.keys() <= second.keys() and all(_equal(v, second[k]) for k, v in first.items())
        if isinstance(first, set):
            return bool(first <= second)
        if isinstance(first, list | tuple):
            return len(first) == len(second) and all(map(_equal, first, second))
        return bool(first == second) or not isinstance(first, int | float | str | set)
    except Exception:  # objects that cannot be compared
        return True

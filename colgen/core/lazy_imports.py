"""Imports on first use: from packages of higher layers, and of libraries that load slowly."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_name(module: str, name: str) -> Any:
    """Import a name of a colgen module now; lower layers may not import higher ones at their top."""
    return getattr(import_module(f"colgen.{module}"), name)


class LazyModule:
    """A module that is imported when one of its attributes is first used.

    Importing Pyomo takes a second, and most templates need it only if a model is built.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value

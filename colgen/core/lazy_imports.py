"""Doors to what is imported when somebody asks for it: rooms above, and libraries that take long to come."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def behind(module: str, name: str) -> Any:
    """What a room above makes, imported when somebody asks for it: the rooms below know nothing but its address."""
    return getattr(import_module(f"colgen.{module}"), name)


class Late:
    """A module that is imported when something of it is first asked for.

    Pyomo takes a second, which those wait for who build a model: most templates know what theirs is compiled to.

    Parameters
    ----------
    name
        Of the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value

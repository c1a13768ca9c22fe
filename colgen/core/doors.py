"""Doors to rooms above: what a caller may ask for at a lower floor, and that is made in a higher one."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def behind(module: str, name: str) -> Any:
    """What a room above makes, imported when somebody asks for it: the rooms below know nothing but its address."""
    return getattr(import_module(f"colgen.{module}"), name)

"""Detection of misspelt and renamed hooks: methods of a user's class that the engine would never call."""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from abc import ABC
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, Generic

from colgen.core.errors import InputError
from colgen.core.renamed import METHODS

_OF_FILES = frozenset({"codec", "finish", "identity", "name"})
"""Optional hooks for files and speed. Their names resemble ordinary words such as `write` and `column`."""

_CLOSE = 0.75
"""Least similarity by :mod:`difflib` of a misspelt hook: "branch" is that close to "branching"."""


def check_hooks(part: Any) -> None:
    """Raise InputError if a method has the old name of a hook, or a name that is likely a misspelt hook."""
    kind: Any = type(part)
    renamed, own = _old_names(kind)
    for name in (*own, *(getattr(part, "__dict__", {}).keys() & renamed)):
        if callable(getattr(part, name)):
            raise InputError(
                f"{kind.__name__}.{name}() is never called: write {renamed[name]} instead. If the method is your own, "
                "rename it"
            )
    match = _misspelt(kind)
    if match is None:
        return
    name, hook = match
    called = "()" if callable(getattr(kind, name)) else ""
    raise InputError(
        f"{kind.__name__}.{name}{called} is never used: did you mean {hook}{called}? If it is your own, rename it, or "
        f"override {hook} as well"
    )


@lru_cache(maxsize=1000)
def _old_names(kind: type) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the old hooks of a class with their replacements, and those that the user's classes define."""
    renamed: dict[str, str] = {}
    for each in kind.__mro__:
        renamed |= METHODS.get(each.__name__, {}) if _is_engine(each) else {}
    members = (name for each in kind.__mro__ if not _is_engine(each) for name in vars(each))
    return renamed, tuple(name for name in members if name in renamed)


def _is_engine(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "colgen"


@lru_cache(maxsize=1000)
def _misspelt(kind: type) -> tuple[str, str] | None:
    """Return a name that is a misspelt hook, and the hook; None if there is none.

    A user's helper may resemble a hook. A name is therefore reported only under these conditions:

    * A class outside the engine defines the name, and no class of the engine does.
    * It is similar to a hook of the same kind (method or data) that no class outside the engine overrides.
    * If it is a method, it accepts the arguments of the hook.
    * No code in the files of these classes uses the name as an attribute, as a caller of a helper would.
    """
    engine = [each for each in kind.__mro__ if _is_engine(each)]
    others = [each for each in kind.__mro__ if each not in engine and each not in (object, ABC, Generic)]
    hooks = {name: value for each in reversed(engine) for name, value in vars(each).items() if not name.startswith("_")}
    own = {name: value for each in reversed(others) for name, value in vars(each).items() if not name.startswith("_")}
    free = [name for name in hooks if name not in own and name not in _OF_FILES]
    for name, value in own.items():
        if name in hooks:
            continue
        alike = [hook for hook in free if _can_stand_for(value, hooks[hook])]
        for hook in difflib.get_close_matches(name, alike, n=1, cutoff=_CLOSE):
            if not _is_used(name, others):
                return name, hook
    return None


def _can_stand_for(value: Any, hook: Any) -> bool:
    """Whether the engine could use a member of a class like the hook."""
    if not inspect.isfunction(hook):
        data = (inspect.isfunction(value), callable(value), isinstance(value, (classmethod, staticmethod)))
        return not callable(hook) and not any(data)
    if not inspect.isfunction(value):
        return False
    needed = [p for p in inspect.signature(hook).parameters.values() if p.default is p.empty]
    try:
        inspect.signature(value).bind(*needed)
    except (TypeError, ValueError):
        return False
    return True


def _is_used(name: str, kinds: list[type]) -> bool:
    """Whether code near some classes accesses an attribute of this name."""
    pattern = re.compile(rf"\.\s*{re.escape(name)}\b")
    for module in {each.__module__ for each in kinds}:
        try:
            if pattern.search(inspect.getsource(sys.modules[module])):
                return True
        except (KeyError, OSError, TypeError):  # no source file, such as in a notebook: only its methods are searched
            pass
    functions = (value for each in kinds for value in vars(each).values() if inspect.isfunction(value))
    return any(name in code.co_names for function in functions for code in _codes(function.__code__))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of all functions that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)

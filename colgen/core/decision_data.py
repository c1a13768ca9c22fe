"""Decisions as plain data: what a checkpoint holds of a node, and who makes decisions of it again."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from colgen.core.decision import Decision
from colgen.core.errors import InputError
from colgen.core.serialization import as_plain, of_plain


class DecisionMaker:
    """Whoever makes decisions: a branching rule, or a reduction.

    A decision that a checkpoint can hold is a frozen dataclass.  Of its fields those that are plain data (numbers,
    strings, None, tuples, sets, arrays, ...) are written; what else it has, a function or a network, :meth:`revived`
    puts back.

    Attributes
    ----------
    makes
        The classes of the decisions that it makes; None: nobody knows, and a checkpoint is refused before any work.
    """

    makes: Sequence[type[Decision]] | None = None

    def revived(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        """The decision of this class whose plain fields are ``data``; None if it is none of this maker's.

        By default the fields that are no plain data are the maker's own attributes of the same names: a rule that hands
        its ``layout`` to its decisions has nothing to write.
        """
        missing = [name for name in _fields(kind) if name not in data]
        if not all(hasattr(self, name) for name in missing):
            return None
        return kind(**data, **{name: getattr(self, name) for name in missing})


def kinds_of(makers: Sequence[DecisionMaker]) -> dict[str, type[Decision]]:
    """The classes of decisions that makers make, by name.

    Raises
    ------
    InputError
        If a maker does not say, or one of the classes is nothing that can be written.
    """
    kinds: dict[str, type[Decision]] = {}
    for maker in makers:
        name = type(maker).__name__
        if maker.makes is None:
            raise InputError(
                f"checkpoint: {name} does not say what decisions it makes: let it have `makes = (MyDecision,)`, the "
                "classes of its decisions, each a frozen dataclass"
            )
        for kind in maker.makes:
            if not dataclasses.is_dataclass(kind) or not kind.__dataclass_params__.frozen:
                raise InputError(
                    f"checkpoint: {name} makes {kind.__name__}s, expected decisions that are frozen dataclasses"
                )
            kinds[_named(kind)] = kind
    return kinds


_LARGEST = 10**300
"""No finite number of a decision is larger."""


class DecisionWriter:
    """Writes decisions as data, and makes sure that each class of them can be read again.

    Parameters
    ----------
    makers
        Of the problem.
    """

    def __init__(self, makers: Sequence[DecisionMaker]) -> None:
        self._makers = makers
        self._kinds = kinds_of(makers)
        self._tried: set[type[Decision]] = set()

    def try_once(self, decision: Decision) -> None:
        """Make sure that decisions of this class can be written; errors as of :meth:`data`."""
        if type(decision) not in self._tried:
            self.data(decision)

    def data(self, decision: Decision) -> list[Any]:
        """A decision as plain data: the name of its class, and its fields.

        Raises
        ------
        InputError
            If nobody could make it again.
        """
        kind = type(decision)
        if _named(kind) not in self._kinds:
            raise InputError(
                f"checkpoint: {decision} is a {kind.__name__}, which is in no list `makes` of a branching rule or "
                "reduction of the problem"
            )
        found = {}
        for name in _fields(kind):
            with contextlib.suppress(InputError):  # what is no plain data is the maker's
                found[name] = as_plain(getattr(decision, name), name)
        written = [_named(kind), found]
        if kind not in self._tried:
            again = self.made(written)
            if type(again) is not kind or any(
                as_plain(getattr(again, name), name) != value for name, value in found.items()
            ):
                raise InputError(_nobody(kind))
            self._tried.add(kind)
        return written

    def made(self, data: Any) -> Decision:
        """The decision that some data are of.

        Raises
        ------
        InputError
            If it is none that the problem makes.
        """
        name, fields = data
        kind = self._kinds.get(name)
        if kind is None:
            raise InputError(f"it holds decisions of a class {name!r}, which the problem does not make")
        known = {field: of_plain(value) for field, value in fields.items()}
        for entry in dataclasses.fields(cast(Any, kind)):
            number = known.get(entry.name, 0)
            whole = str(entry.type) in ("int", "<class 'int'>")
            if (whole or str(entry.type) in ("float", "<class 'float'>")) and not _is_number(number, whole):
                raise InputError(f"it holds a {kind.__name__} whose {entry.name} is no number")
        for maker in self._makers:
            if maker.makes is not None and kind in maker.makes:
                found = maker.revived(kind, known)
                if found is not None:
                    return found
        raise InputError(_nobody(kind))


def _is_number(value: Any, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        return False
    return abs(value) < _LARGEST or value in (math.inf, -math.inf)


def _fields(kind: Any) -> list[str]:
    return [entry.name for entry in dataclasses.fields(kind) if entry.init]


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _nobody(kind: type) -> str:
    return (
        f"checkpoint: nobody makes a {kind.__name__} of its plain fields again: let the branching rule or reduction "
        "that makes it have a method revived(kind, data)"
    )

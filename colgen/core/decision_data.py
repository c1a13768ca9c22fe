"""Decisions as plain data in checkpoints, and the makers that restore them."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from colgen.core.decision import Decision
from colgen.core.errors import InputError
from colgen.core.serialization import as_plain, of_plain
from colgen.core.text import Described


class DecisionMaker(Described):
    """Makes decisions: base of branching rules and reductions.

    A decision that a checkpoint can store is a frozen dataclass. Its fields with plain data (numbers, strings, None,
    tuples, sets, arrays, ...) are written. :meth:`restore` supplies the others, such as a function or a network.

    Attributes
    ----------
    makes
        The classes of its decisions. None: unknown, and a checkpoint is refused before any work.
    """

    makes: Sequence[type[Decision]] | None = None

    def restore(self, kind: type[Decision], data: Mapping[str, Any]) -> Decision | None:
        """Return the decision of this class with plain fields ``data``; None if this maker does not make it.

        The default takes the other fields from attributes of the maker with the same names, such as ``layout``.
        """
        missing = [name for name in _fields(kind) if name not in data]
        if not all(hasattr(self, name) for name in missing):
            return None
        return kind(**data, **{name: getattr(self, name) for name in missing})


def kinds_of(makers: Sequence[DecisionMaker]) -> dict[str, type[Decision]]:
    """Return the classes of decisions that makers make, by name.

    InputError is raised if a maker does not declare its classes, or a class is not a frozen dataclass.
    """
    kinds: dict[str, type[Decision]] = {}
    for maker in makers:
        name = type(maker).__name__
        if maker.makes is None:
            raise InputError(
                f"checkpoint: {name} does not declare its decisions: set `makes = (MyDecision,)`, the classes of its "
                "decisions, each a frozen dataclass"
            )
        for kind in maker.makes:
            if not dataclasses.is_dataclass(kind) or not kind.__dataclass_params__.frozen:
                raise InputError(
                    f"checkpoint: {name} makes {kind.__name__}s, expected decisions that are frozen dataclasses"
                )
            kinds[_name_of(kind)] = kind
    return kinds


_LARGEST = 10**300
"""No finite number of a decision is larger."""


class DecisionWriter:
    """Converts decisions of makers to data, after checking that each class can be restored."""

    def __init__(self, makers: Sequence[DecisionMaker]) -> None:
        self._makers = makers
        self._kinds = kinds_of(makers)
        self._tried: set[type[Decision]] = set()

    def try_once(self, decision: Decision) -> None:
        """Check that decisions of this class can be written; errors as for :meth:`data`."""
        if type(decision) not in self._tried:
            self.data(decision)

    def data(self, decision: Decision) -> list[Any]:
        """Return a decision as the name of its class and its fields; raise InputError if it could not be restored."""
        kind = type(decision)
        if _name_of(kind) not in self._kinds:
            raise InputError(
                f"checkpoint: {decision} is a {kind.__name__}: add the class to `makes` of the branching rule or "
                "reduction that makes it"
            )
        plain = {}
        for name in _fields(kind):
            with contextlib.suppress(InputError):  # the maker supplies fields that are not plain data
                plain[name] = as_plain(getattr(decision, name), name)
        written = [_name_of(kind), plain]
        if kind not in self._tried:
            again = self.read(written)
            if type(again) is not kind or any(
                as_plain(getattr(again, name), name) != value for name, value in plain.items()
            ):
                raise InputError(_not_restorable(kind))
            self._tried.add(kind)
        return written

    def read(self, data: Any) -> Decision:
        """Return the decision of some data; raise InputError if the problem makes no such decision."""
        name, fields = data
        kind = self._kinds.get(name)
        if kind is None:
            raise InputError(f"it contains decisions of a class {name!r}, which the problem does not make")
        known = {field: of_plain(value) for field, value in fields.items()}
        for entry in dataclasses.fields(cast(Any, kind)):
            value = known.get(entry.name, 0)
            integer = str(entry.type) in ("int", "<class 'int'>")
            if (integer or str(entry.type) in ("float", "<class 'float'>")) and not _is_number(value, integer):
                raise InputError(f"it contains a {kind.__name__} whose {entry.name} is {value!r}, not a number")
        for maker in self._makers:
            if maker.makes is not None and kind in maker.makes:
                decision = maker.restore(kind, known)
                if decision is not None:
                    return decision
        raise InputError(_not_restorable(kind))


def _is_number(value: Any, integer: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if integer else (int, float)):
        return False
    return abs(value) < _LARGEST or value in (math.inf, -math.inf)


def _fields(kind: Any) -> list[str]:
    return [entry.name for entry in dataclasses.fields(kind) if entry.init]


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _not_restorable(kind: type) -> str:
    return (
        f"checkpoint: no branching rule or reduction restores a {kind.__name__} from its plain fields: define "
        "restore(kind, data) in the one that makes it"
    )

"""Guesses to start a run from, which the engine verifies or drops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key, Row
from colgen.core.duals import OwnDuals
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.text import Described


@dataclass(frozen=True, repr=False)
class Basis(Described):
    """The basic variables of a linear program, by name: generated, of the template, and slacks of rows."""

    columns: Sequence[Column] = ()
    variables: Sequence[Key] = ()
    rows: Sequence[Key] = ()


@dataclass(frozen=True, repr=False)
class WarmStart(Described):
    """Guesses to start a run from. Every guess is verified.

    The engine checks each answer and prices every oracle once at the dual values. The resulting bound is valid for any
    guess. If it equals the objective of the best answer, the answer is proved optimal in one round without a linear
    program.

    Attributes
    ----------
    duals
        Dual values near the optimal ones: ``{block: values}``, ``{key: value}`` for single rows (rows that the master
        lacks are ignored), or any form that the problem's own master and oracles accept. None: no guess; a master that
        needs dual values is then not priced.
    answers
        Integer solutions. The best becomes the first incumbent; their columns join the master.
    columns
        Initial columns, each one that an oracle could return.
    rows
        Initial rows, each one that separation could return.
    basis
        Basis for the first linear program, if usable; its columns must be among ``columns``.
    tentative
        Whether answers may be infeasible, for example from yesterday's data. Infeasible ones are then dropped with a
        note in the result; otherwise they are an error.

    Raises
    ------
    InputError
        If answers, columns or rows are not lists of such objects.

    Examples
    --------
    >>> start = WarmStart(duals={"demand": [0.5, 0.5, 0.25, 0.0]})
    >>> solve(problem, start=start).root_bound
    452.25
    """

    duals: OwnDuals = None
    answers: Sequence[Solution] = ()
    columns: Iterable[Column] = ()
    rows: Sequence[Row] = ()
    basis: Basis | None = None
    tentative: bool = False

    def __post_init__(self) -> None:
        for name, kind in (("answers", Solution), ("columns", Column), ("rows", Row)):
            given: Any = getattr(self, name)
            if isinstance(given, Columns):
                continue
            if not isinstance(given, Iterable) or isinstance(given, str):
                raise InputError(
                    f"WarmStart.{name}: expected a list of {kind.__name__} objects, not a {type(given).__name__}"
                )
            # Columns may be yielded lazily: a run whose guess is proved makes none of them.
            checked = _check_elements(given, name, kind)
            object.__setattr__(
                self, name, checked if isinstance(given, Iterator) and kind is Column else tuple(checked)
            )


def _check_elements(given: Iterable[Any], name: str, kind: type) -> Iterator[Any]:
    """Yield elements after checking their class."""
    for each in given:
        if not isinstance(each, kind):
            raise InputError(f"WarmStart.{name}: expected {kind.__name__} objects only, not a {type(each).__name__}")
        yield each


NOTHING = WarmStart()
"""No guess at all."""

"""What a problem knows before its first round: guesses, which the engine proves or drops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Key, Row
from colgen.core.duals import OwnDuals
from colgen.core.errors import InputError
from colgen.core.solution import Solution


@dataclass(frozen=True)
class Basis:
    """Which variables of a linear program are basic, by name: of the template, generated, and the slacks of rows."""

    columns: Sequence[Column] = ()
    variables: Sequence[Key] = ()
    rows: Sequence[Key] = ()


@dataclass(frozen=True)
class WarmStart:
    """Guesses from which a run starts.  None of them is believed.

    The engine checks each answer, and prices every oracle once at the dual values: the bound that the oracles state
    there holds whatever the guess is worth.  If it meets the best answer then that is proved optimal, in one round and
    without a linear program.

    Attributes
    ----------
    duals
        Dual values near the optimal ones: ``{block: values}`` by the names of the master's rows, ``{key: value}`` row
        by row (those that the master does not have are passed over), or whatever the problem's own master and oracles
        understand.  None: no guess; a master that needs dual values is not priced.
    answers
        Whole solutions; the best becomes the first incumbent, and their columns join the master.
    columns
        To start from, each one that an oracle could return.
    rows
        To start from, each one that separation could return.
    basis
        Where the first linear program starts from, if it can: a basis of another run, whose columns are among those
        above.
    tentative
        Whether answers may be none of this problem, those of another day's data, say: one that does not fit is then
        left out with a note in the result, and is no mistake.

    Raises
    ------
    InputError
        If answers, columns or rows are no lists of such objects.
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
            # Columns may be yielded one by one: a run whose guess is proved makes none of them.
            checked = _check_elements(given, name, kind)
            object.__setattr__(
                self, name, checked if isinstance(given, Iterator) and kind is Column else tuple(checked)
            )


def _check_elements(given: Iterable[Any], name: str, kind: type) -> Iterator[Any]:
    """Yield elements once it is clear that they are of a class."""
    for each in given:
        if not isinstance(each, kind):
            raise InputError(f"WarmStart.{name}: expected {kind.__name__} objects only, not a {type(each).__name__}")
        yield each


NOTHING = WarmStart()
"""No guess at all."""

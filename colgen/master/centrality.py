"""Whether dual values are taken from the middle of the optimal ones or from a corner: tried, and decided by rounds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from colgen.core.errors import InputError

Central: TypeAlias = bool | Literal["auto"]

_ORDER = (False, True, True, False)
"""Corners and middles in a trial, so that neither has the rounds of more progress; it is run through twice."""

_LASTS = 24
"""For so many solves the first verdict holds; each lasts twice as long as the last one, for a trial costs rounds."""

_WORTH = 2.0
"""A middle must bring the objective on by so many times what a corner does: it takes an interior point method besides.
On generalized assignment, where it saves an eighth of the rounds, each of them took five to ten times as long."""


class Centrality:
    """Chooses for each solve of phase 2 where its dual values are taken from.

    With ``"auto"`` both ways take turns over a few rounds, and what the objective gains after each is added up.  The
    way that gains more per solve, central dual values by far, is kept until the next trial.  It counts gains and
    solves, never seconds: a run comes out the same on every machine.

    Parameters
    ----------
    central
        Always, never, or as trials tell.

    Raises
    ------
    InputError
        If it is something else.
    """

    def __init__(self, central: Central) -> None:
        if not isinstance(central, bool) and central != "auto":
            raise InputError(f"central: expected True, False or 'auto', not {central!r}")
        self._tries = central == "auto"
        self._kept = central is True
        self._trial: list[bool] = list(2 * _ORDER) if self._tries else []
        self._gained = {False: 0.0, True: 0.0}
        self._last: tuple[bool, float] | None = None
        self._left, self._lasts = 0, _LASTS

    def next(self, objective: float, sign: float) -> bool:
        """Whether this solve's dual values are to be central; ``objective`` is what it has found."""
        if not self._tries:
            return self._kept
        if self._last is not None:
            # At another node, or under new rows, an objective gets worse: that is nobody's doing.
            before, was = self._last[1], self._last[0]
            self._gained[was] += max(sign * (before - objective), 0.0)
            self._last = None
        if not self._trial:
            if self._left == 0:
                self._trial = list(2 * _ORDER)
                self._gained = {False: 0.0, True: 0.0}
            else:
                self._left -= 1
                return self._kept
        chosen = self._trial.pop()
        self._last = chosen, objective
        if not self._trial:  # the last one's gain is not known yet, and a trial is not held up for it
            self._kept = self._gained[True] > _WORTH * self._gained[False]
            self._left, self._lasts = self._lasts, 2 * self._lasts
        return chosen

"""The last solution of a linear program that has grown since: whether rows that join hold there."""

from __future__ import annotations

import numpy as np

from colgen.solvers.linear.highs import Floats, Ints


class PresentPoint:
    """Where the basis of a program stands: values of its columns at the last optimum, unknown until there is one.

    Columns that have joined are where a solver puts them: at their lower bounds, at the upper ones where there are no
    lower ones, at zero where there is neither.
    """

    def __init__(self) -> None:
        self._values: Floats | None = None
        self._joined: list[tuple[Floats, Floats]] = []

    def move(self, values: Floats) -> None:
        """There is a new optimum."""
        self._values = values
        self._joined.clear()

    def forget(self) -> None:
        """The basis is another one, or its columns have other bounds."""
        self._values = None

    def join(self, lower: Floats, upper: Floats) -> None:
        """Columns with these bounds are appended."""
        if self._values is not None:  # looked at if rows join: most rounds have columns alone
            self._joined.append((lower, upper))

    def satisfies(
        self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats, room: Floats
    ) -> bool:
        """Whether rows are known to hold here, each to within its ``room``: the basis is then primal feasible still."""
        if self._values is None:
            return False
        point = np.concatenate([self._values, *(_ends(*bounds) for bounds in self._joined)])
        owners = np.repeat(np.arange(len(lower)), np.diff(starts))
        activity = np.bincount(owners, values * point[columns], minlength=len(lower))
        return bool(((activity >= lower - room) & (activity <= upper + room)).all())


def _ends(lower: Floats, upper: Floats) -> Floats:
    """Where columns of these bounds are out of the basis."""
    return np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))

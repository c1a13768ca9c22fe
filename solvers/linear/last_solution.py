"""The last solution of a growing linear program, to test whether it satisfies new rows."""

from __future__ import annotations

import numpy as np

from colgen.solvers.linear.highs import Floats, Ints


class PresentPoint:
    """Current basic solution: the column values of the last optimum, if known.

    Appended columns are at their lower bounds; without one at their upper bounds; without both at zero.
    """

    def __init__(self) -> None:
        self._values: Floats | None = None
        self._joined: list[tuple[Floats, Floats]] = []

    def move(self, values: Floats) -> None:
        """Store a new optimum."""
        self._values = values
        self._joined.clear()

    def forget(self) -> None:
        """Discard the point after a change of the basis or of bounds."""
        self._values = None

    def join(self, lower: Floats, upper: Floats) -> None:
        """Append columns with these bounds."""
        if self._values is not None:  # evaluated only if rows are added: most rounds add columns only
            self._joined.append((lower, upper))

    def satisfies(
        self, lower: Floats, upper: Floats, starts: Ints, columns: Ints, values: Floats, room: Floats
    ) -> bool:
        """Return whether rows are known to hold here within ``room``, which keeps the basis primal feasible."""
        if self._values is None:
            return False
        point = np.concatenate([self._values, *(_ends(*bounds) for bounds in self._joined)])
        owners = np.repeat(np.arange(len(lower)), np.diff(starts))
        activity = np.bincount(owners, values * point[columns], minlength=len(lower))
        return bool(((activity >= lower - room) & (activity <= upper + room)).all())


def _ends(lower: Floats, upper: Floats) -> Floats:
    """Return the values of nonbasic columns with these bounds."""
    return np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, 0.0))

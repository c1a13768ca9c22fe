"""Pseudo-costs: how much the bound has moved where a quantity was branched on, for each unit that it moved."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.branching.rules import Candidate
from colgen.core.errors import InputError
from colgen.core.serialization import as_plain, of_plain

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class PseudoCosts:
    """Gains a unit, summed up by quantity and direction.

    References
    ----------
    T. Achterberg, T. Koch, A. Martin, *Branching rules revisited*, Operations Research Letters 33 (2005).
    """

    def __init__(self) -> None:
        self._linear: PseudoCosts | None = None
        self._number: dict[Hashable, int] = {}
        self._sums = np.zeros((16, 2))
        self._counts = np.zeros((16, 2), dtype=np.int64)

    def __len__(self) -> int:
        return len(self._number)

    @property
    def linear(self) -> PseudoCosts:
        """What linear programs over the columns at hand have gained: more than relaxations do, and so kept apart."""
        if self._linear is None:
            self._linear = PseudoCosts()
        return self._linear

    def learn(self, quantity: Hashable, direction: int, distance: float, gain: float) -> None:
        """The bound has moved by ``gain`` where the quantity moved by ``distance``."""
        if not 0.0 < distance < np.inf or not 0.0 <= gain < np.inf:
            return
        k = self._place(quantity)
        self._sums[k, direction] += gain / distance
        self._counts[k, direction] += 1

    def as_plain(self) -> Any:
        """All that has been learnt, as plain data; quantities that are none are left out."""
        known = []
        for quantity, k in self._number.items():
            with contextlib.suppress(InputError):
                known.append([as_plain(quantity, "a quantity"), self._sums[k].tolist(), self._counts[k].tolist()])
        return [known, None if self._linear is None else self._linear.as_plain()]

    def learn_again(self, data: Any) -> None:
        """Take in what another run has learnt."""
        known, linear = data
        for quantity, sums, counts in known:
            k = self._place(of_plain(quantity))
            self._sums[k], self._counts[k] = sums, counts
        if linear is not None:
            self.linear.learn_again(linear)

    def _place(self, quantity: Hashable) -> int:
        k = self._number.setdefault(quantity, len(self._number))
        if k == len(self._sums):
            self._sums = np.vstack([self._sums, np.zeros_like(self._sums)])
            self._counts = np.vstack([self._counts, np.zeros_like(self._counts)])
        return k

    def counts(self, candidates: Sequence[Candidate]) -> Ints:
        """How often the least known direction of each candidate has been learnt of."""
        found = np.zeros(len(candidates), dtype=np.int64)
        for n, candidate in enumerate(candidates):
            k = self._number.get(candidate.quantity)
            if k is not None and candidate.moves:
                found[n] = min(self._counts[k, direction] for direction, _ in candidate.moves)
        return found

    def gains(self, candidates: Sequence[Candidate]) -> list[Floats]:
        """What each child of each candidate is expected to gain; a direction never tried is as good as the average."""
        known = self._counts > 0
        each = np.divide(self._sums, self._counts, out=np.zeros_like(self._sums), where=known)
        average = np.array([each[known[:, d], d].mean() if known[:, d].any() else 1.0 for d in (0, 1)])
        found = []
        for candidate in candidates:
            k = self._number.get(candidate.quantity)
            found.append(
                np.array(
                    [
                        distance * (each[k, d] if k is not None and known[k, d] else average[d])
                        for d, distance in candidate.moves
                    ]
                )
            )
        return found

"""Pseudo-costs: the change of the bound per unit by which a quantity was moved by branching."""

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
    """Average gains per unit, by quantity and direction.

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
        """Gains of linear programs over the known columns, which are larger than gains of relaxations."""
        if self._linear is None:
            self._linear = PseudoCosts()
        return self._linear

    def learn(self, quantity: Hashable, direction: int, distance: float, gain: float) -> None:
        """Add the ``gain`` of the bound for a move of the quantity by ``distance``."""
        if not 0.0 < distance < np.inf or not 0.0 <= gain < np.inf:
            return
        k = self._index(quantity)
        self._sums[k, direction] += gain / distance
        self._counts[k, direction] += 1

    def as_plain(self) -> Any:
        """Return all sums as plain data, without quantities that cannot be written."""
        known = []
        for quantity, k in self._number.items():
            with contextlib.suppress(InputError):
                known.append([as_plain(quantity, "a quantity"), self._sums[k].tolist(), self._counts[k].tolist()])
        return [known, None if self._linear is None else self._linear.as_plain()]

    def restore(self, data: Any) -> None:
        """Add the plain data of another run."""
        known, linear = data
        for quantity, sums, counts in known:
            k = self._index(of_plain(quantity))
            self._sums[k], self._counts[k] = sums, counts
        if linear is not None:
            self.linear.restore(linear)

    def _index(self, quantity: Hashable) -> int:
        k = self._number.setdefault(quantity, len(self._number))
        if k == len(self._sums):
            self._sums = np.vstack([self._sums, np.zeros_like(self._sums)])
            self._counts = np.vstack([self._counts, np.zeros_like(self._counts)])
        return k

    def counts(self, candidates: Sequence[Candidate]) -> Ints:
        """Return, for each candidate, how many gains its less known direction has."""
        found = np.zeros(len(candidates), dtype=np.int64)
        for n, candidate in enumerate(candidates):
            k = self._number.get(candidate.quantity)
            if k is not None and candidate.moves:
                found[n] = min(self._counts[k, direction] for direction, _ in candidate.moves)
        return found

    def gains(self, candidates: Sequence[Candidate]) -> list[Floats]:
        """Return the expected gain of each child of each candidate. Unknown directions count as average."""
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

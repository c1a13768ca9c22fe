"""The order in which pricing problems are solved if a round solves only some of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.columns import as_numbers
from colgen.core.errors import InputError

Floats = NDArray[np.float64]

ORACLE_FEATURES = ("calls", "waited", "last_gain", "last_columns", "successes")
"""Names of the features of a pricing problem, in the order of the columns of :attr:`OracleHistory.values`."""


@dataclass(frozen=True)
class OracleHistory:
    """The pricing problems at one node, and what their calls have found there.

    Attributes
    ----------
    names
        Names of the oracles.
    values
        Shape (pricing problems, features); the names are in :data:`ORACLE_FEATURES`: number of calls, rounds since the
        last one (since the first round if there was none), improvement of the reduced cost of the best column of the
        last call (0 if none), its number of columns, and share of the calls that found an improving column.
    """

    names: Sequence[str]
    values: Floats


class PricingOrder(Protocol):
    """Orders pricing problems; a learner implements it.  All are solved before anything is proved."""

    def score(self, history: OracleHistory) -> ArrayLike:
        """Return one number per pricing problem; those with the largest are solved first, and NaN last."""


class OracleQueue:
    """The order of the pricing problems at one node: in turn, ``step`` at a time, or by a :class:`PricingOrder`."""

    def __init__(self, names: Sequence[str], step: int, order: PricingOrder | None) -> None:
        self._names, self._step, self._order, self._next, self._round = names, step, order, 0, 0
        self._last_round = np.zeros(len(names))
        self._calls, self._successes = np.zeros(len(names)), np.zeros(len(names))
        self._gains, self._columns = np.zeros(len(names)), np.zeros(len(names))

    def begin(self) -> list[int]:
        """Return the indices of all pricing problems in the order of this round."""
        count = len(self._names)
        self._round += 1
        if self._order is None:
            return [k % count for k in range(self._next, self._next + count)]
        shares = self._successes / np.maximum(self._calls, 1)
        waited = self._round - self._last_round
        values = np.column_stack([self._calls, waited, self._gains, self._columns, shares])
        name = f"{type(self._order).__name__}.score()"
        given = self._order.score(OracleHistory(self._names, values))
        scores = np.empty(0) if given is None else as_numbers(given, name)
        if scores.shape != (count,):
            shown = "None" if given is None else f"an array of shape {scores.shape}"
            raise InputError(f"{name} returned {shown}: expected {count} numbers, one per pricing problem")
        order: list[int] = np.argsort(-np.where(np.isnan(scores), -math.inf, scores), kind="stable").tolist()
        return order

    def called(self, part: Sequence[int]) -> None:
        """Note that a part of the pricing problems is called."""
        self._next = (self._next + self._step) % len(self._names)
        self._calls[list(part)] += 1
        self._last_round[list(part)] = self._round

    def found(self, oracle: int, gains: Floats, tolerance: float) -> None:
        """Note the improvements of the reduced costs of the columns that a call has found."""
        self._columns[oracle] = len(gains)
        self._gains[oracle] = max(float(gains.max(initial=0.0)), 0.0)
        self._successes[oracle] += self._gains[oracle] > tolerance

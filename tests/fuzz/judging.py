"""Judge claims about answers, many at a time, by the true optima."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from colgen import Result

T = TypeVar("T")
Floats = NDArray[np.float64]

TOLERANCE = 1e-6
"""Tolerance of objectives, relative to max(|objective|, size of costs), and of rows, relative to their activity."""


class Fault(Enum):
    """Kinds of failure of a run on a correct problem."""

    WRONG_PROOF = "wrong proof"
    FALSE_ALARM = "false alarm"
    LAW = "broken law"


@dataclass(frozen=True)
class Failure:
    """A fault and its description."""

    fault: Fault
    words: str


@dataclass
class Outcome:
    """Number of trials, descriptions of wrong reactions, and number of proofs."""

    tried: int = 0
    wrong: list[str] = field(default_factory=list)
    proved: int = 0

    def add(self, other: Outcome) -> None:
        """Add the counts of another outcome."""
        self.tried += other.tried
        self.wrong += other.wrong
        self.proved += other.proved


def attempt(run: Callable[[], T]) -> T | Failure:
    """Run a correct problem; an exception or a RuntimeWarning is a false alarm."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return run()
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.name}"
        return Failure(Fault.FALSE_ALARM, f"{type(error).__name__} in {place}: {error}"[:400])


def compare_runs(here: object, there: object) -> Failure | None:
    """Return a failure if exactly one of two runs in different units has failed."""
    if isinstance(here, Failure) and isinstance(there, Failure):
        return None
    return Failure(Fault.LAW, f"one run fails: {here if isinstance(here, Failure) else there}"[:400])


@dataclass(frozen=True)
class Truths:
    """Optimal objectives of the maximisation form, one per answer; -inf if infeasible.

    Attributes
    ----------
    size
        Size of scores, see :class:`~tests.fuzz.scores.Sample`.
    constant
        Constant part of the objectives, which tolerances ignore.
    """

    best: Floats
    size: float
    constant: Floats
    tolerance: float = TOLERANCE


@dataclass(frozen=True)
class Claims:
    """Claims of a run, one entry per answer.

    Attributes
    ----------
    objective, bound
        Reported values; -inf without an answer, or if infeasibility is reported.
    worth
        Objective of the answer computed from the data alone; -inf without an answer, NaN if it is infeasible.
    proved
        Whether the run claims a proof for all answers.
    """

    objective: Floats
    bound: Floats
    worth: Floats
    proved: bool
    words: str = ""


UNKNOWN = Truths(np.empty(0), 1.0, np.empty(0)), Claims(np.empty(0), np.empty(0), np.empty(0), True)
"""The truth is unknown, so no answer is judged or counted."""


def find_fault(truths: Truths, claims: Claims) -> Failure | None:
    """Return the first failure of the claims, or None."""
    best = truths.best
    known = np.isfinite(best)
    slack = np.zeros(len(best))
    net = np.abs(np.where(known, best - truths.constant, 0.0))
    slack[known] = (truths.tolerance * np.maximum(truths.size, net) + 1e-14 * np.abs(truths.constant))[known]
    if np.isnan(claims.worth).any():
        return Failure(Fault.WRONG_PROOF, f"answer {_first(np.isnan(claims.worth))} is infeasible")
    given = np.isfinite(claims.worth)
    false = given & ~known
    if false.any():
        k = _first(false)
        return Failure(
            Fault.WRONG_PROOF, f"answer {k} ({claims.objective[k]:.12g}) is given for an infeasible instance"
        )
    # The tolerance also grows with the size of the answer's own objective.
    off = np.abs(np.subtract(claims.objective, claims.worth, out=np.zeros(len(best)), where=given))
    misstated = given & ~(off <= np.maximum(slack, 1e-7 * np.abs(claims.worth)))
    if misstated.any():
        k = _first(misstated)
        return Failure(
            Fault.WRONG_PROOF, f"answer {k} has objective {claims.worth[k]:.12g}, not {claims.objective[k]:.12g}"
        )
    wrong = known & ~(claims.bound >= best - slack)
    if wrong.any():
        k = _first(wrong)
        return Failure(Fault.WRONG_PROOF, f"the bound {claims.bound[k]:.12g} is worse than the optimum {best[k]:.12g}")
    if not claims.proved:
        return Failure(Fault.FALSE_ALARM, f"unproved: {claims.words}")
    missed = known & ~given
    if missed.any():
        k = _first(missed)
        return Failure(Fault.WRONG_PROOF, f"answer {k} is missing, the optimum is {best[k]:.12g}")
    worse = known & (claims.worth < best - slack)
    if worse.any():
        k = _first(worse)
        return Failure(
            Fault.WRONG_PROOF,
            f"optimality is claimed for {claims.worth[k]:.12g}, expected {best[k]:.12g} (answer {k})",
        )
    loose = known & (claims.bound > best + slack)
    if loose.any():
        k = _first(loose)
        return Failure(
            Fault.WRONG_PROOF,
            f"optimality is claimed with the bound {claims.bound[k]:.12g}, expected {best[k]:.12g}",
        )
    return None


def single(objective: float, bound: float, worth: float, proved: bool, words: str = "") -> Claims:
    """Return the claims about a single answer."""
    return Claims(np.array([objective]), np.array([bound]), np.array([worth]), proved, words)


def claims_of(result: Result, worth: float, sign: float = 1.0) -> Claims:
    """Return the claims of a result of the engine; ``sign`` is -1 if it minimises."""
    ended = result.termination
    return single(sign * result.objective, sign * result.dual_bound, worth, ended.is_proof, ended.name)


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(mask)[0])

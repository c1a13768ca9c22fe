"""Judges what is said of answers, many at a time, by the truth; and the faults that there are."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Floats = NDArray[np.float64]

TOLERANCE = 1e-6
"""Of objectives, relative to the larger of the objective and the size of the costs; of rows, to their activity."""


class Fault(Enum):
    """What can be wrong with a run on a correct problem."""

    WRONG_PROOF = "wrong proof"
    FALSE_ALARM = "false alarm"
    LAW = "broken law"


@dataclass(frozen=True)
class Failure:
    """A fault, in words."""

    fault: Fault
    words: str


def attempt(run: Callable[[], T]) -> T | Failure:
    """Run a correct problem: an exception or a warning of rounding is a false alarm."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return run()
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{where.filename.rsplit('/', 1)[-1]}:{where.name}"
        return Failure(Fault.FALSE_ALARM, f"{type(error).__name__} in {at}: {error}"[:400])


def compare_runs(here: object, there: object) -> Failure | None:
    """Compare runs in two units of which one has failed, which is a fault unless both have."""
    if isinstance(here, Failure) and isinstance(there, Failure):
        return None
    return Failure(Fault.LAW, f"one run fails: {here if isinstance(here, Failure) else there}"[:400])


@dataclass(frozen=True)
class Truths:
    """The best objectives, all maximised, one an answer; -inf where there is no answer.

    Attributes
    ----------
    size
        What scores are like, see :class:`~tests.fuzz.scores.Drawn`.
    constant
        Part of every objective that changes no answer; tolerances do not grow with it.
    """

    best: Floats
    size: float
    constant: Floats
    tolerance: float = TOLERANCE


@dataclass(frozen=True)
class Said:
    """What was said, one entry an answer.

    Attributes
    ----------
    objective, bound
        As stated; -inf where nothing was found, or nothing is there.
    worth
        What the answer is worth by the data alone; -inf if there is none, NaN if it is no answer.
    proved
        Whether all of it was called proved.
    """

    objective: Floats
    bound: Floats
    worth: Floats
    proved: bool
    words: str = ""


UNKNOWN = Truths(np.empty(0), 1.0, np.empty(0)), Said(np.empty(0), np.empty(0), np.empty(0), True)
"""Nothing is known, and nothing asked: no answer is judged, and none counted."""


def find_fault(truths: Truths, said: Said) -> Failure | None:
    """Return what is wrong with what is said, None if nothing is."""
    best = truths.best
    known = np.isfinite(best)
    slack = np.zeros(len(best))
    net = np.abs(np.where(known, best - truths.constant, 0.0))
    slack[known] = (truths.tolerance * np.maximum(truths.size, net) + 1e-14 * np.abs(truths.constant))[known]
    if np.isnan(said.worth).any():
        return Failure(Fault.WRONG_PROOF, f"answer {_first(np.isnan(said.worth))} is none")
    found = np.isfinite(said.worth)
    false = found & ~known
    if false.any():
        k = _first(false)
        return Failure(Fault.WRONG_PROOF, f"answer {k} is given ({said.objective[k]:.12g}), but there is none")
    # What is stated may be off by the precision of the answer's own size.
    off = np.abs(np.subtract(said.objective, said.worth, out=np.zeros(len(best)), where=found))
    misstated = found & ~(off <= np.maximum(slack, 1e-7 * np.abs(said.worth)))
    if misstated.any():
        k = _first(misstated)
        return Failure(Fault.WRONG_PROOF, f"answer {k} is worth {said.worth[k]:.12g}, not {said.objective[k]:.12g}")
    beaten = known & ~(said.bound >= best - slack)
    if beaten.any():
        k = _first(beaten)
        return Failure(Fault.WRONG_PROOF, f"the bound {said.bound[k]:.12g} is beaten by the optimum {best[k]:.12g}")
    if not said.proved:
        return Failure(Fault.FALSE_ALARM, f"unproved: {said.words}")
    missed = known & ~found
    if missed.any():
        k = _first(missed)
        return Failure(Fault.WRONG_PROOF, f"no answer {k} is said to be there, but one is worth {best[k]:.12g}")
    worse = known & (said.worth < best - slack)
    if worse.any():
        k = _first(worse)
        return Failure(
            Fault.WRONG_PROOF, f"proved is said of {said.worth[k]:.12g}, but the optimum is {best[k]:.12g} (answer {k})"
        )
    loose = known & (said.bound > best + slack)
    if loose.any():
        k = _first(loose)
        return Failure(
            Fault.WRONG_PROOF, f"proved with the bound {said.bound[k]:.12g} over {best[k]:.12g} (answer {k})"
        )
    return None


def one(objective: float, bound: float, worth: float, proved: bool, words: str = "") -> Said:
    """What was said of a single answer."""
    return Said(np.array([objective]), np.array([bound]), np.array([worth]), proved, words)


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(mask)[0])

"""The trainer: passes over examples in random order, for any learner.

The learner takes steps on numbered examples.  The trainer orders the examples, reports progress, selects the best pass
on development data, and saves the state for interrupted trainings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from colgen.core.array_files import reading
from colgen.core.errors import InputError
from colgen.core.files import writing

Ints: TypeAlias = NDArray[np.int64]
Say: TypeAlias = Callable[[str], None]
M = TypeVar("M")
M_co = TypeVar("M_co", covariant=True)

_SECONDS = 10.0
"""Seconds between two lines of progress within a pass."""


class Learner(Protocol[M_co]):
    """The interface of weights that are trained on numbered examples."""

    @property
    def batch(self) -> int:
        """Number of examples per call of :meth:`learn`."""

    def __len__(self) -> int:
        """Return the number of examples."""

    def learn(self, examples: Ints) -> tuple[float, float]:
        """Take steps on these examples in turn.  Return their loss before the steps, and their number of parts."""

    def averaged(self) -> M_co:
        """Return the averaged weights."""

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Return arrays from which :meth:`restore` continues."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the arrays of :meth:`state`."""


@dataclass(frozen=True, eq=False)
class Trained(Generic[M]):
    """Trained weights, with losses and scores of each pass.

    Attributes
    ----------
    weights
        Averaged over all steps if the trainer averages.
    losses
        The mean loss of each pass, per part that the learner counts, such as an example or a token.  The loss of an
        example is taken before its step.
    scores
        Scores of each pass on the development data; empty without such data.
    objective, bound
        Value and lower bound of the objective, if the trainer minimises one function; otherwise nan.
    """

    weights: M
    losses: tuple[float, ...]
    scores: tuple[float, ...] = ()
    objective: float = float("nan")
    bound: float = float("nan")

    @property
    def passes(self) -> int:
        """Number of passes over the examples."""
        return len(self.losses)

    @property
    def gap(self) -> float:
        """Upper bound on how much the objective can still fall."""
        return self.objective - self.bound


class SavedTraining:
    """The file of an interrupted training, with the best weights so far in a second file next to it.

    Parameters
    ----------
    path
        The file; None: nothing is saved.
    fingerprint
        Identifies examples and settings.  A file with another fingerprint is ignored.
    load
        Reads weights that their method ``save(path)`` wrote.
    """

    def __init__(self, path: Path | None, fingerprint: str, load: Callable[[Path], Any]) -> None:
        self.path, self.load = path, load
        self.best = None if path is None else path.with_name(f"{path.name}.best")
        self._fingerprint = np.frombuffer(fingerprint.encode(), dtype=np.uint8)

    def read(self) -> dict[str, NDArray[Any]]:
        """Return the saved arrays; empty if there is no file, or one of other examples or settings."""
        if self.path is None or not self.path.is_file():
            return {}
        with reading(self.path, "the state of an interrupted training") as arrays:
            ours = np.array_equal(arrays["fingerprint"], self._fingerprint)
        return dict(arrays) if ours else {}

    def write(self, state: Callable[[], Mapping[str, NDArray[Any]]]) -> None:
        """Replace the saved arrays.  ``state`` is called only if there is a file."""
        if self.path is not None:
            with writing(self.path, "wb") as file:
                np.savez(file, **{**state(), "fingerprint": self._fingerprint})  # type: ignore[arg-type]

    def remove(self) -> None:
        """Remove the files."""
        for file in (self.path, self.best):
            if file is not None:
                file.unlink(missing_ok=True)


def train(
    learner: Learner[M],
    passes: int,
    *,
    seed: int | tuple[int, ...] = 0,
    name: str = "training",
    validate: Callable[[M], float] | None = None,
    saved: SavedTraining | None = None,
    stage: int = 0,
    say: Say | None = None,
) -> Trained[M]:
    """Train a learner by passes over its examples, each in a new random order.

    Parameters
    ----------
    passes
        Number of passes.
    seed
        Seed of the order of the examples.
    name
        Name of the training in progress lines.
    validate
        Scores averaged weights on development data.  The weights of the first of the best passes are returned; without
        it, those of the last pass.
    saved
        File for the state after each pass.  It is not removed at the end, because other stages may follow.
    stage
        Index of this training among several that share ``saved``, in order.
    say
        Called with a line of text for each pass, and regularly within a pass.

    Raises
    ------
    InputError
        If there are no examples or no passes.
    """
    if not len(learner):
        raise InputError("examples: expected one example or more, got none")
    if passes < 1:
        raise InputError(f"epochs: expected 1 or more, got {passes}")
    say = say or (lambda line: None)
    best, past = None, saved.read() if saved is not None else {}
    losses: list[float] = []
    scores: list[float] = []
    if past and int(past["stage"]) > stage:
        return Trained(learner.averaged(), ())
    if past and int(past["stage"]) == stage:
        learner.restore(past)
        losses, scores = past["losses"].tolist(), past["scores"].tolist()
        if saved is not None and saved.best is not None and saved.best.is_file():
            best = saved.load(saved.best)
        say(f"{name}: continuing after pass {len(losses)} of {passes}")
    try:
        for number in range(len(losses), passes):
            title = f"{name}, pass {number + 1} of {passes}"
            losses.append(_one_pass(learner, _order(len(learner), seed, number), title, say))
            line = f"{title}: mean loss {losses[-1]:.4g}"
            if validate is not None:
                averaged = learner.averaged()
                scores.append(validate(averaged))
                line += f", {scores[-1]:.2f} on the development data"
                if scores[-1] > max(scores[:-1], default=-np.inf):
                    best = averaged
                    line += ", the best so far"
                    if saved is not None and saved.best is not None:
                        best.save(saved.best)  # type: ignore[attr-defined]
            say(line)
            if saved is not None:
                reached = {"stage": np.array(stage), "losses": np.array(losses), "scores": np.array(scores)}
                saved.write(lambda reached=reached: {**learner.state(), **reached})  # type: ignore[misc]
    except KeyboardInterrupt:
        if saved is not None and saved.path is not None and saved.path.is_file():
            say(f"{saved.path} has the state after the last pass: repeat the command to continue from there")
        raise
    return Trained(learner.averaged() if best is None else best, tuple(losses), tuple(scores))


def _order(count: int, seed: int | tuple[int, ...], number: int) -> Ints:
    entropy = (*(seed if isinstance(seed, tuple) else (seed,)), number)
    return np.random.default_rng(entropy).permutation(count)


def _one_pass(learner: Learner[Any], order: Ints, title: str, say: Say) -> float:
    lost = parts = 0.0
    shown = time.monotonic()
    for begin in range(0, len(order), learner.batch):
        own_lost, own_parts = learner.learn(order[begin : begin + learner.batch])
        lost, parts = lost + own_lost, parts + own_parts
        if time.monotonic() - shown > _SECONDS:
            shown = time.monotonic()
            done = min(begin + learner.batch, len(order))
            say(f"{title}: {done:,} of {len(order):,} examples, mean loss {lost / parts:.4g}")
    return lost / parts

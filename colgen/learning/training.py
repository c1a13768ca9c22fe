"""The trainer: passes over examples in random order, for any learner.

A learner takes steps on examples that it is given by number; everything else is here: the order of the examples, the
passes, progress, the choice of the best pass on development data, and the file from which an interrupted training
continues.
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
"""Between two lines of progress within a pass."""


class Learner(Protocol[M_co]):
    """Weights that learn from numbered examples."""

    @property
    def batch(self) -> int:
        """How many examples one call of :meth:`learn` takes."""

    def __len__(self) -> int:
        """The number of examples."""

    def learn(self, examples: Ints) -> tuple[float, float]:
        """Take steps on these examples in turn; return their loss before the steps, and of how many parts it is."""

    def averaged(self) -> M_co:
        """The averaged weights."""

    def state(self) -> Mapping[str, NDArray[Any]]:
        """Arrays from which :meth:`restore` continues."""

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what :meth:`state` returned."""


@dataclass(frozen=True, eq=False)
class Trained(Generic[M]):
    """Weights, and how training went.

    Attributes
    ----------
    weights
        Averaged over all steps where the trainer does that.
    losses
        The mean loss of each pass, before each step.
    scores
        Of each pass on the development data; none without such data.
    objective, bound
        Of trainers that minimise one function of the weights over all examples: its value, and a lower bound on it;
        nan of others.
    """

    weights: M
    losses: tuple[float, ...]
    scores: tuple[float, ...] = ()
    objective: float = float("nan")
    bound: float = float("nan")

    @property
    def passes(self) -> int:
        """The number of passes over the examples."""
        return len(self.losses)

    @property
    def gap(self) -> float:
        """By how much the objective can still fall, at most."""
        return self.objective - self.bound


class SavedTraining:
    """The file from which an interrupted training continues; the best weights so far are in a file beside it.

    Parameters
    ----------
    path
        The file; None: nothing is saved.
    fingerprint
        Of examples and settings: a file with another fingerprint is ignored.
    load
        Reads weights that their method ``save(path)`` wrote.
    """

    def __init__(self, path: Path | None, fingerprint: str, load: Callable[[Path], Any]) -> None:
        self.path, self.load = path, load
        self.best = None if path is None else path.with_name(f"{path.name}.best")
        self._fingerprint = np.frombuffer(fingerprint.encode(), dtype=np.uint8)

    def read(self) -> dict[str, NDArray[Any]]:
        """Return what was saved; nothing if there is no file, or one of other examples or settings.

        Raises
        ------
        InputError
            If the file is something else.
        """
        if self.path is None or not self.path.is_file():
            return {}
        with reading(self.path, "the state of an interrupted training") as arrays:
            ours = np.array_equal(arrays["fingerprint"], self._fingerprint)
        return dict(arrays) if ours else {}

    def write(self, state: Callable[[], Mapping[str, NDArray[Any]]]) -> None:
        """Replace what was saved; the arrays are only made if there is a file for them."""
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
    """Let a learner pass over its examples, each time in another random order.

    Parameters
    ----------
    passes
        Over the examples.
    seed
        Of the order of the examples.
    name
        Of what is learned, for progress.
    validate
        How good averaged weights are on development data: those of the first of the best passes are returned.
        Without it the weights of the last pass are.
    saved
        Where the state is saved after each pass.  It is not removed at the end: other stages may follow.
    stage
        Number of this training among several that share ``saved``, in their order.
    say
        Called with a line of text for each pass, and now and then within one.

    Raises
    ------
    InputError
        If there are no examples or no passes.
    """
    if not len(learner):
        raise InputError("expected examples to learn from, there are none")
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
            say(f"{saved.path} has what was learned so far: the same command continues from there")
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

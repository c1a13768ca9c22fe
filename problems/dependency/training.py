"""Passes over annotated sentences: in what order, what is told, and what an interrupted training goes on from."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colgen.cli.template import Figure
from colgen.core.array_files import reading
from colgen.core.files import writing
from colgen.problems.dependency.evaluation import Attachment

Say = Callable[[str], None]
Arrays = Mapping[str, NDArray[np.generic]]

_SECONDS = 10.0
"""Between two lines that tell how far a pass is."""


def one_pass(order: Sequence[int], learn: Callable[[int], tuple[int, int]], say: Say | None = None) -> float:
    """Learn from sentences one after the other; the share of heads that were wrong before each step.

    Parameters
    ----------
    order
        Numbers of the sentences.
    learn
        Takes a step on a sentence; how many of its heads were wrong, and how many it has.
    say
        Told now and then how far it is.
    """
    wrong = words = 0
    shown = time.monotonic()
    for done, number in enumerate(order, 1):
        missed, length = learn(number)
        wrong += missed
        words += length
        if say is not None and time.monotonic() - shown > _SECONDS:
            shown = time.monotonic()
            say(f"{done:,} of {len(order):,} sentences, {100 * wrong / words:.1f}% wrong")
    return wrong / words


class Kept:
    """The file of what an interrupted training needs to go on.

    Parameters
    ----------
    path
        None: nothing is kept.
    fingerprint
        Of sentences and settings: a file of others is not gone on from.
    """

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        self.path, self._fingerprint = path, fingerprint

    def read(self) -> dict[str, NDArray[np.generic]]:
        """What was kept; nothing if the file is absent, or of other sentences or settings."""
        if self.path is None or not self.path.is_file():
            return {}
        with reading(self.path, "the state of an interrupted training") as arrays:
            ours = bytes(arrays["fingerprint"]).decode() == self._fingerprint
        return dict(arrays) if ours else {}

    def write(self, state: Callable[[], Arrays]) -> None:
        """Keep arrays in place of what was kept; they are made only where there is a file for them."""
        if self.path is not None:
            fingerprint = np.frombuffer(self._fingerprint.encode(), dtype=np.uint8)
            with writing(self.path, "wb") as file:
                np.savez(file, **{**state(), "fingerprint": fingerprint})  # type: ignore[arg-type]

    def remove(self) -> None:
        """The training is over."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def run_passes(passes: range, run: Callable[[int], None], state: Callable[[], Arrays], kept: Kept, say: Say) -> None:
    """Run the passes that are left, and keep the state after each but the last.

    Parameters
    ----------
    passes
        From the first that is left to the last.
    """
    for number in passes:
        try:
            run(number)
        except KeyboardInterrupt:
            if kept.path is not None and kept.path.is_file():
                say(f"what was learned in {number} passes is kept: the same command goes on from there")
            raise
        if number + 1 < passes.stop:
            kept.write(state)


def attachment_figures(reached: Attachment, sentences: int, name: Callable[[str], str]) -> list[Figure]:
    """How good a model's trees are, punctuation included: heads, and relations where there are any.

    Parameters
    ----------
    name
        From ``accuracy``, ``las`` or ``clas`` to the figure's name.
    """
    figures = [Figure(name("accuracy"), reached.uas, "%", sentences, "heads, punctuation included")]
    if reached.las is not None and reached.clas is not None:
        figures += [
            Figure(name("las"), reached.las, "%", sentences, "heads and relations"),
            Figure(name("clas"), reached.clas, "%", sentences, "the same, of content words"),
        ]
    return figures

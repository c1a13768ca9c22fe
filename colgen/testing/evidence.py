"""What a check knows of a problem so far: the parts that it asks, what they returned, what is wrong with them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from colgen.core.columns import Row
from colgen.core.solution import Solution
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem
from colgen.testing.findings import Findings
from colgen.testing.observers import Observer, Session


@dataclass
class Evidence:
    """What all rooms of the check read and add to.

    Attributes
    ----------
    notes
        What could not be checked, and why.
    seen
        Looks at everything that the oracles return, and keeps it.
    sessions
        The linear masters that the engine has worked with, one a run.
    answers
        Whole solutions that the problem was asked to turn into answers.
    rows
        Separated rows, with the names of their separations.
    """

    problem: Problem
    rng: np.random.Generator
    seconds: float
    started: float = field(default_factory=time.monotonic)
    findings: Findings = field(default_factory=Findings)
    notes: list[str] = field(default_factory=list)
    oracles: tuple[Pricing, ...] = ()
    sessions: list[Session] = field(default_factory=list)
    answers: list[Solution] = field(default_factory=list)
    rows: list[tuple[str, Row]] = field(default_factory=list)
    seen: Observer = field(init=False)

    def __post_init__(self) -> None:
        self.watch(())

    @property
    def name(self) -> str:
        """The problem's class."""
        return type(self.problem).__name__

    def watch(self, oracles: tuple[Pricing, ...]) -> None:
        """Take these for the problem's oracles."""
        self.oracles = oracles
        self.seen = Observer(self.findings, self.rng, len(oracles))

    def left(self, share: float = 1.0) -> float:
        """Seconds until this share of the time is used up."""
        return max(self.started + share * self.seconds - time.monotonic(), 0.0)

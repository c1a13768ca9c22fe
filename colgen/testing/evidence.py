"""Data shared by all checks of a problem: its parts, their results, and the findings."""

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
    """Data that all checks read and extend.

    ``notes`` states what could not be checked. ``seen`` checks and keeps everything that the oracles return.
    ``sessions`` are the linear masters of the runs, ``answers`` the integer solutions passed to ``Problem.answer``, and
    ``rows`` the separated rows with the names of their separations.
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
        """Name of the problem's class."""
        return type(self.problem).__name__

    def watch(self, oracles: tuple[Pricing, ...]) -> None:
        """Set the problem's oracles."""
        self.oracles = oracles
        self.seen = Observer(self.findings, self.rng, len(oracles))

    def left(self, share: float = 1.0) -> float:
        """Return the seconds until this share of the time is used up."""
        return max(self.started + share * self.seconds - time.monotonic(), 0.0)

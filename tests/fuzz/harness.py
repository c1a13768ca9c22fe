"""The harness of the fuzz tests: draws instances of a subject, judges what is said of them, and replays failures."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tests.fuzz.engine.subject import EngineSubject
from tests.fuzz.judging import Failure, Fault
from tests.fuzz.templates import TEMPLATES

Say = Callable[[str], None]


class Subject(Protocol):
    """What is tried on random instances: the engine, or a template.

    An instance has a method ``to_dict``, whose data a replay file holds under the name ``key``.
    """

    @property
    def key(self) -> str: ...

    def draw(self, rng: np.random.Generator) -> Any: ...

    def judge(self, instance: Any) -> tuple[Failure | None, int]:
        """What is wrong, None if nothing is; and how many answers were judged."""

    def draw_law(self, rng: np.random.Generator, instance: Any) -> Any:
        """Other units, in which a run has to be the same; None for most instances."""

    def judge_law(self, instance: Any, law: Any) -> tuple[Failure | None, int]: ...

    def smaller(self, instance: Any) -> Iterator[Any]:
        """Smaller instances, the most rewarding ones first."""

    def load(self, data: Mapping[str, Any]) -> Any: ...


SUBJECTS: Mapping[str, Subject] = {"engine": EngineSubject(), **TEMPLATES}
"""By name."""


@dataclass
class Tally:
    """What was seen so far.

    Attributes
    ----------
    runs
        Of the engine, or answers judged.
    faults
        How many of each kind.
    failed
        One replay a failure: kind, words and whatever :func:`replay` needs.
    """

    runs: int = 0
    faults: dict[Fault, int] = field(default_factory=lambda: dict.fromkeys(Fault, 0))
    failed: list[dict[str, Any]] = field(default_factory=list)

    def take(self, failure: Failure, replay: dict[str, Any]) -> None:
        """Count a failure and keep its replay."""
        self.faults[failure.fault] += 1
        self.failed.append({"fault": failure.fault.name, "words": failure.words, **replay})

    def add(self, other: Tally) -> None:
        """Add the counts and failures of another tally."""
        self.runs += other.runs
        self.failed += other.failed
        for fault, count in other.faults.items():
            self.faults[fault] += count


def fuzz(
    name: str,
    seed: int,
    *,
    count: int | None = None,
    seconds: float | None = None,
    shrinking: float = 5.0,
    say: Say = lambda line: None,
) -> Tally:
    """Judge random instances of a subject until there were ``count`` answers, or for so many seconds.

    Parameters
    ----------
    count
        Answers in other units are not counted here, though they are in the tally.
    shrinking
        Seconds for making one failure small; zero keeps it as it was drawn.
    """
    subject, tally, known, judged = SUBJECTS[name], Tally(), set[str](), 0
    for number in numbers(None, seconds):
        if count is not None and judged >= count:
            break
        rng = np.random.default_rng([seed, number])
        instance = subject.draw(rng)
        failure, answers = subject.judge(instance)
        judged += answers
        tally.runs += answers
        law = subject.draw_law(rng, instance) if failure is None else None
        if law is not None:
            failure, answers = subject.judge_law(instance, law)
            tally.runs += answers
        if failure is None:
            continue
        alike = re.sub(r"[-+\d.e]+", "", failure.words)[:40]
        if shrinking and law is None and alike not in known:  # one of each kind
            known.add(alike)
            instance, failure = shrink(subject, instance, failure, shrinking)
        say(f"{name}, seed {seed}, instance {number}: {failure.fault.value}: {failure.words}")
        tally.take(failure, {"what": name, "seed": [seed, number], subject.key: instance.to_dict(), "law": law})
    return tally


def numbers(count: int | None, seconds: float | None) -> Iterator[int]:
    """0, 1, 2, ... as long as there is time."""
    deadline = None if seconds is None else time.monotonic() + seconds
    number = 0
    while (count is None or number < count) and (deadline is None or time.monotonic() < deadline):
        yield number
        number += 1


def shrink(subject: Subject, instance: Any, failure: Failure, seconds: float) -> tuple[Any, Failure]:
    """Return the smallest instance that was found to fail in the same manner, and its failure."""
    deadline = time.monotonic() + seconds
    again = True
    while again and time.monotonic() < deadline:
        again = False
        for candidate in subject.smaller(instance):
            found, _ = subject.judge(candidate)
            if found is not None and found.fault is failure.fault and found.words[:12] == failure.words[:12]:
                instance, failure, again = candidate, found, True
                break
            if time.monotonic() > deadline:
                break
    return instance, failure


def replay(data: Mapping[str, Any]) -> Failure | None:
    """Judge an instance from its file again."""
    subject = SUBJECTS[data["what"]]
    instance = subject.load(data[subject.key])
    failure, _ = subject.judge_law(instance, data["law"]) if data.get("law") else subject.judge(instance)
    return failure


def write_failures(failed: list[dict[str, Any]], directory: Path) -> list[Path]:
    """Write one file a failure."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for failure in failed:
        name = f"{failure['what']}-{failure['fault'].lower()}-{'-'.join(map(str, failure['seed']))}.json"
        path = directory / name
        path.write_text(json.dumps(failure, indent=1) + "\n", encoding="utf-8")
        written.append(path)
    return written

"""Fuzz harness: draws instances of a subject, judges the results, shrinks and replays failures."""

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
    """The tested object: the engine or a template.

    Instances have a method ``to_dict``; replay files store its data under the name ``key``.
    """

    @property
    def key(self) -> str: ...

    def draw(self, rng: np.random.Generator) -> Any: ...

    def judge(self, instance: Any) -> tuple[Failure | None, int]:
        """Return the failure, or None, and the number of judged answers."""

    def draw_law(self, rng: np.random.Generator, instance: Any) -> Any:
        """Draw other units, in which the run must be the same; None for most instances."""

    def judge_law(self, instance: Any, law: Any) -> tuple[Failure | None, int]: ...

    def simplify(self, instance: Any) -> Iterator[Any]:
        """Yield smaller instances, the largest reductions first."""

    def load(self, data: Mapping[str, Any]) -> Any: ...


SUBJECTS: Mapping[str, Subject] = {"engine": EngineSubject(), **TEMPLATES}
"""Subjects by name."""


@dataclass
class Tally:
    """Counts of runs and failures.

    Attributes
    ----------
    runs
        Runs of the engine, or judged answers.
    faults
        Number of failures by kind.
    failed
        One replay per failure: kind, description, and the data that :func:`replay` needs.
    """

    runs: int = 0
    faults: dict[Fault, int] = field(default_factory=lambda: dict.fromkeys(Fault, 0))
    failed: list[dict[str, Any]] = field(default_factory=list)

    def record(self, failure: Failure, replay: dict[str, Any]) -> None:
        """Count a failure and store its replay."""
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
    """Judge random instances of a subject until ``count`` answers are judged, or for ``seconds``.

    Parameters
    ----------
    count
        Number of answers; runs in other units are only counted in the tally.
    shrinking
        Seconds to shrink one failure; zero to keep it unchanged.
    """
    subject, tally, shrunk, judged = SUBJECTS[name], Tally(), set[str](), 0
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
        kind = re.sub(r"[-+\d.e]+", "", failure.words)[:40]
        if shrinking and law is None and kind not in shrunk:
            shrunk.add(kind)
            instance, failure = shrink(subject, instance, failure, shrinking)
        say(f"{name}, seed {seed}, instance {number}: {failure.fault.value}: {failure.words}")
        tally.record(failure, {"what": name, "seed": [seed, number], subject.key: instance.to_dict(), "law": law})
    return tally


def numbers(count: int | None, seconds: float | None) -> Iterator[int]:
    """Yield 0, 1, 2, ... up to a count or a time limit."""
    deadline = None if seconds is None else time.monotonic() + seconds
    number = 0
    while (count is None or number < count) and (deadline is None or time.monotonic() < deadline):
        yield number
        number += 1


def shrink(subject: Subject, instance: Any, failure: Failure, seconds: float) -> tuple[Any, Failure]:
    """Return the smallest instance found with the same kind of failure, and its failure."""
    deadline = time.monotonic() + seconds
    again = True
    while again and time.monotonic() < deadline:
        again = False
        for candidate in subject.simplify(instance):
            new, _ = subject.judge(candidate)
            if new is not None and new.fault is failure.fault and new.words[:12] == failure.words[:12]:
                instance, failure, again = candidate, new, True
                break
            if time.monotonic() > deadline:
                break
    return instance, failure


def replay(data: Mapping[str, Any]) -> Failure | None:
    """Judge the instance of a replay file."""
    subject = SUBJECTS[data["what"]]
    instance = subject.load(data[subject.key])
    failure, _ = subject.judge_law(instance, data["law"]) if data.get("law") else subject.judge(instance)
    return failure


def write_failures(failed: list[dict[str, Any]], directory: Path) -> list[Path]:
    """Write one file per failure; return the paths."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for failure in failed:
        name = f"{failure['what']}-{failure['fault'].lower()}-{'-'.join(map(str, failure['seed']))}.json"
        path = directory / name
        path.write_text(json.dumps(failure, indent=1) + "\n", encoding="utf-8")
        written.append(path)
    return written

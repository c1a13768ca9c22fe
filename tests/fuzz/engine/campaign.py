"""Many cases from one seed: what was run, and what failed."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.engine.drawing import draw_case
from tests.fuzz.engine.judging import Failure, Fault, judge, judge_law
from tests.fuzz.engine.pools import Case
from tests.fuzz.engine.shrinking import failure_of, shrink

_LAWS = 0.1
"""Share of cases that are also run in other units."""


@dataclass
class Tally:
    """What a campaign has seen so far.

    Attributes
    ----------
    runs
        Of the engine, or answers judged.
    faults
        How many of each kind.
    failed
        One replay a failure: kind, words and whatever :meth:`replay` needs.
    """

    runs: int = 0
    faults: dict[Fault, int] = field(default_factory=lambda: dict.fromkeys(Fault, 0))
    failed: list[dict[str, Any]] = field(default_factory=list)

    def take(self, failure: Failure, replay: dict[str, Any]) -> None:
        """Count a failure and keep its replay."""
        self.faults[failure.fault] += 1
        self.failed.append({"fault": failure.fault.name, "words": failure.words, **replay})

    def add(self, other: Tally) -> None:
        """Take in another campaign's."""
        self.runs += other.runs
        self.failed += other.failed
        for fault, count in other.faults.items():
            self.faults[fault] += count


def fuzz_engine(
    seed: int,
    *,
    count: int | None = None,
    seconds: float | None = None,
    shrinking: float = 10.0,
    say: Callable[[str], None] = lambda line: None,
) -> Tally:
    """Run random cases until there were ``count``, or for so many seconds.

    Parameters
    ----------
    shrinking
        Seconds for making one failure small; zero keeps it as it was drawn.
    """
    tally, known = Tally(), set[str]()
    for number in numbers(count, seconds):
        rng = np.random.default_rng([seed, number])
        case, truth = draw_case(rng)
        failure = judge(case, truth)
        tally.runs += 1
        law: list[Any] | None = None
        if failure is None and rng.random() < _LAWS and case.way.time_limit is None:
            law = _draw_factors(rng, case)
            failure = judge_law(case, *law)
            tally.runs += 2
        if failure is None:
            continue
        alike = re.sub(r"[-+\d.e]+", "", failure.words)[:40]
        if shrinking and law is None and alike not in known:  # one of each kind
            known.add(alike)
            try:
                case, failure = shrink(case, failure_of, shrinking)
            except ValueError:  # it does not fail again: the clock was part of it
                say(f"not seen again: {failure.words}")
        say(f"engine, seed {seed}, case {number}: {failure.fault.value}: {failure.words}")
        replay = {"what": "engine", "seed": [seed, number], "case": case.to_dict(), "law": law}
        tally.take(failure, replay)
    return tally


def numbers(count: int | None, seconds: float | None) -> Iterator[int]:
    """0, 1, 2, ... as long as there is time."""
    deadline = None if seconds is None else time.monotonic() + seconds
    number = 0
    while (count is None or number < count) and (deadline is None or time.monotonic() < deadline):
        yield number
        number += 1


def replay_engine(data: dict[str, Any]) -> Failure | None:
    """Run a case from its file again."""
    case = Case.from_dict(data["case"])
    if data.get("law"):
        cost_factor, row_factors = data["law"]
        return judge_law(case, cost_factor, tuple(row_factors))
    return failure_of(case)


def write_failures(failed: list[dict[str, Any]], directory: Path) -> list[Path]:
    """One file a failure, of those that fail differently."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for replay in failed:
        name = f"{replay['what']}-{replay['fault'].lower()}-{'-'.join(map(str, replay['seed']))}.json"
        path = directory / name
        path.write_text(json.dumps(replay, indent=1) + "\n", encoding="utf-8")
        written.append(path)
    return written


def _draw_factors(rng: np.random.Generator, case: Case) -> list[Any]:
    rows = len(case.program.rows)
    equal = rng.random() < 0.5 or any(row.lazy for row in case.program.rows)
    factors = [1.0] * rows
    if not equal and not case.program.unit_artificials:
        factors = [float(2.0**k) for k in rng.integers(-30, 31, rows)]
    return [float(2.0 ** int(rng.integers(-30, 31))), tuple(factors)]

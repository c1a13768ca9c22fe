"""Time limits on every template, and several solves in several threads."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from colgen import NodeLimit, TimeLimit, solve
from tests.fuzz.engine.drawing import draw_case
from tests.fuzz.engine.problem import PoolProblem
from tests.fuzz.harness import numbers
from tests.fuzz.long import INSTANCES, PROBLEMS
from tests.fuzz.templates import TEMPLATES

LIMITS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def overrun(seconds: float, say: Callable[[str], None] = lambda line: None) -> tuple[float, int]:
    """The most by which a run has exceeded 1.05 times its limit, and how many runs were measured.

    The limits of a template are as many as fit into its share of the time, the smallest first; compiling comes before.
    What takes too long, though not twice its limit, is measured three times and the best counts: another process may
    have had the processor.  A run in which some kernel was compiled is no measurement and is repeated.
    """
    worst, count, allowed = 0.0, 0, seconds / len(INSTANCES)
    for name, make in INSTANCES.items():
        instance = make()
        _warm_up(name, instance)
        started = time.monotonic()
        for limit in LIMITS:
            if time.monotonic() + limit > started + allowed:
                break
            over = _over(name, instance, limit)
            for _ in range(2):
                if not 0.1 < over < max(limit, 0.5):
                    break
                over = min(over, _over(name, instance, limit))
            count += 1
            if over > 0.1:
                say(f"{name}: a limit of {limit:g} s is exceeded by {over:.2f} s more than 5%")
            worst = max(worst, over)
    return worst, count


_AGAIN = 3
"""So often is a run that has compiled something repeated, at most."""

_COMPILED = 0.01
"""Less than this in seconds, of all that is called compiling, is looking whether there is something to compile."""


def _warm_up(name: str, instance: Any) -> None:
    """Solve for a second each until nothing new is compiled: a kernel may be met late in a run for the first time."""
    for run in range(2 + _AGAIN):
        result = solve(PROBLEMS[name](instance), stop=TimeLimit(1.0))
        if run and _compiled(result) < _COMPILED:
            return


def _over(name: str, instance: Any, limit: float) -> float:
    """By how much a run exceeds 1.05 times its limit; one that compiles nothing, if there is such a run."""
    over = math.inf
    for _ in range(1 + _AGAIN):
        started = time.monotonic()
        result = solve(PROBLEMS[name](instance), stop=TimeLimit(limit))
        over = min(over, time.monotonic() - started - 1.05 * limit)
        if _compiled(result) < _COMPILED:
            break
    return over


def _compiled(result: Any) -> float:
    return float(result.seconds.get("compiling", 0.0))


def in_threads(
    seed: int,
    *,
    rounds: int | None = None,
    seconds: float | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[int, int]:
    """Solves that failed in threads, or found something else than alone; and how many there were."""
    failed = count = 0
    for number in numbers(rounds, seconds):
        rng = np.random.default_rng([seed, number])
        tasks = _tasks(rng)
        alone = [_outcome(task) for task in tasks]
        with ThreadPoolExecutor(int(rng.integers(2, 9))) as threads:
            together = list(threads.map(_outcome, tasks))
        count += len(tasks)
        for before, now in zip(alone, together, strict=True):
            if before != now:
                failed += 1
                say(f"in threads: {now}, alone: {before}"[:300])
    return failed, count


def _tasks(rng: np.random.Generator) -> list[Callable[[], Any]]:
    tasks: list[Callable[[], Any]] = []
    for _ in range(12):
        if rng.random() < 0.4:
            case, _ = draw_case(rng)
            tasks.append(partial(_engine, case))
        else:
            subject = TEMPLATES[str(rng.choice(list(TEMPLATES)))]
            tasks.append(partial(_template, subject.module, subject.draw(rng)))
    return tasks


def _engine(case: Any) -> Any:
    result = solve(PoolProblem(case), stop=NodeLimit(100))
    return result.termination, result.objective, len(result.nodes)


def _template(module: Any, drawn: Any) -> Any:
    said = module.ask(drawn)[1]
    return said.objective.tolist(), said.proved


def _outcome(task: Callable[[], Any]) -> Any:
    try:
        return task()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

"""Fuzz time limits of every template, and concurrent solves in threads."""

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


def measure_overrun(seconds: float, say: Callable[[str], None] = lambda line: None) -> tuple[float, int]:
    """Return the largest excess over 1.05 times the limit, and the number of measured runs.

    Each template uses its smallest limits that fit into its share of the time, after compilation.  A run that exceeds
    its limit by less than a factor of two is measured three times and the best counts, because another process may have
    used the processor.  A run that compiles a kernel is repeated.
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
"""Maximum number of repetitions of a run that compiles."""

_COMPILED = 0.01
"""Seconds of compilation below which nothing was compiled, only looked up."""


def _warm_up(name: str, instance: Any) -> None:
    """Solve for one second each until nothing is compiled; a kernel may be used late in a run for the first time."""
    for run in range(2 + _AGAIN):
        result = solve(PROBLEMS[name](instance), stop=TimeLimit(1.0))
        if run and _compile_seconds(result) < _COMPILED:
            return


def _over(name: str, instance: Any, limit: float) -> float:
    """Return the excess of a run over 1.05 times its limit, if possible of a run without compilation."""
    over = math.inf
    for _ in range(1 + _AGAIN):
        started = time.monotonic()
        result = solve(PROBLEMS[name](instance), stop=TimeLimit(limit))
        over = min(over, time.monotonic() - started - 1.05 * limit)
        if _compile_seconds(result) < _COMPILED:
            break
    return over


def _compile_seconds(result: Any) -> float:
    return float(result.seconds.get("compiling", 0.0))


def compare_threads(
    seed: int,
    *,
    rounds: int | None = None,
    seconds: float | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> tuple[int, int]:
    """Return how many solves differ between concurrent threads and one thread, and their number."""
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
                say(f"{now} in concurrent threads, {before} alone"[:300])
    return failed, count


def _tasks(rng: np.random.Generator) -> list[Callable[[], Any]]:
    tasks: list[Callable[[], Any]] = []
    for _ in range(12):
        if rng.random() < 0.4:
            case, _ = draw_case(rng)
            tasks.append(partial(_solve_case, case))
        else:
            subject = TEMPLATES[str(rng.choice(list(TEMPLATES)))]
            tasks.append(partial(_solve_sample, subject.module, subject.draw(rng)))
    return tasks


def _solve_case(case: Any) -> Any:
    result = solve(PoolProblem(case), stop=NodeLimit(100))
    return result.termination, result.objective, len(result.nodes)


def _solve_sample(module: Any, sample: Any) -> Any:
    claims = module.evaluate(sample)[1]
    return claims.objective.tolist(), claims.proved


def _outcome(task: Callable[[], Any]) -> Any:
    try:
        return task()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

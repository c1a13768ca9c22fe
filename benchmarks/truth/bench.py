"""``colgen bench truth``: count wrong proofs and false alarms in many runs of the engine and of all templates."""

from __future__ import annotations

import faulthandler
import json
import math
import multiprocessing
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import BenchOptions
from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError
from colgen.cli.template import Figure
from colgen.testing.conformance import check_problem
from tests.fuzz import chains, decompositions
from tests.fuzz.bad_inputs import try_bad_inputs
from tests.fuzz.engine.drawing import draw_case
from tests.fuzz.engine.problem import PoolProblem
from tests.fuzz.forgeries import make_forgeries
from tests.fuzz.handmade import CERTIFICATES
from tests.fuzz.harness import SUBJECTS, Tally, fuzz, write_failures
from tests.fuzz.interrupts import interrupt
from tests.fuzz.judging import Fault, Outcome
from tests.fuzz.limits import compare_threads, measure_overrun
from tests.fuzz.templates import TEMPLATES
from tests.fuzz.twenty_lines import run_programs

MINUTES = 45.0
"""Minutes at full size."""

FAILURES = Path("results/failures")
"""Folder of failures, which ``python -m tests.fuzz --replay FILE`` replays."""

_PROCESSES = 2

_ENGINE_RUNS = 22_000
_CHAIN_ANSWERS = 500_000
_DECOMPOSITIONS = 20_400
_INTERRUPTS = 1_040
_BAD_INPUTS = 1_000
_CONFORMANCE = 200
"""Random problems that are passed to ``check_problem``."""

_TWENTY_LINES = 200
"""Instances of the README's program."""

_ENGINE_SECONDS = 2_400.0
_CHAIN_SECONDS = 300.0
_DECOMPOSITION_SECONDS = 2_400.0
_TEMPLATE_SECONDS = 120.0
_INTERRUPT_SECONDS = 1_200.0
_TWENTY_LINES_SECONDS = 1_000.0
"""Limits in seconds, summed over both processes; results up to then count."""

_COUNTED = {
    chains.NAME: (_CHAIN_ANSWERS, _CHAIN_SECONDS),
    decompositions.NAME: (_DECOMPOSITIONS, _DECOMPOSITION_SECONDS),
}
"""Number of answers and limit in seconds, by template."""

_THREAD_SECONDS = 30.0
_LIMIT_SECONDS = 240.0

_CHUNKS = 8
_ENGINE_PARTS = 3
"""Parts of each chunk; a crash of the reference solver loses only one part."""


_INTERRUPTED, _BAD, _PROGRAMS, _CONFORMING = "interrupts", "bad inputs", "twenty lines", "conformance"


class CrashError(Exception):
    """A process ended during its task; the text is the file and line where it crashed, or empty if unknown."""


class _Workers:
    """One process per calling thread; a crash loses only the task of that process."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[ProcessPoolExecutor] = []
        self._crashes = tempfile.TemporaryDirectory()

    def run(self, task: Callable[[], Any]) -> Any:
        """Run the task in this thread's process and return its result."""
        process: ProcessPoolExecutor | None = getattr(self._own, "process", None)
        if process is None:
            self._own.crash = Path(self._crashes.name) / str(len(self._all))
            process = self._own.process = ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), _enable_crash_log, (self._own.crash,)
            )
            self._all.append(process)
        try:
            return process.submit(task).result()
        except BrokenExecutor:
            self._own.process = None
            frames = re.findall(r'^  File "(.*)", line (\d+)', self._own.crash.read_text(), re.MULTILINE)
            raise CrashError(":".join(frames[0]) if frames else "") from None

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.shutdown(cancel_futures=True)
        self._crashes.cleanup()


def _enable_crash_log(path: Path) -> None:
    """Write a traceback to the file if this process crashes."""
    faulthandler.enable(path.open("w"))  # must stay open


def bench_truth(options: BenchOptions) -> list[Figure]:
    """Measure wrong proofs, false alarms, losses by interrupts, and overrun time limits."""
    minutes = options.minutes if options.minutes is not None else 2.0 if options.quick else MINUTES
    share = min(minutes / MINUTES, 1.0)
    say, seed, started = options.say, options.seed, time.monotonic()

    # Measurements of time run first, without other load.
    say("forgeries ...")
    forged = make_forgeries()
    accepted = [str(each) for each in forged if _is_accepted(each.lines)]
    say("time limits ...")
    worst, limits = measure_overrun(max(share * _LIMIT_SECONDS, 10.0), say)
    say("threads ...")
    threads_failed, threads = compare_threads(seed, seconds=share * _THREAD_SECONDS, say=say)
    say("the engine, the templates, interrupts ...")
    tallies = {name: Tally() for name in SUBJECTS}
    counts = {name: Outcome() for name in (_INTERRUPTED, _BAD, _PROGRAMS, _CONFORMING)}
    lost_tasks = 0
    alarms = [
        f"a correct certificate is rejected: {name}"
        for name, records in CERTIFICATES.items()
        if not _is_accepted(map(json.dumps, records))
    ]
    workers = _Workers()
    with ThreadPoolExecutor(_PROCESSES) as pool, closing(workers):
        futures = [(name, pool.submit(workers.run, task)) for name, task in _tasks(share, seed)]
        for number, (name, future) in enumerate(futures, 1):
            try:
                outcome = future.result()
            except CrashError as crash:  # the reference solver sometimes crashes; keep the counts of other tasks
                where = str(crash)
                reason = f"crashed in {where}" if where else "was killed"
                say(f"{number} of {len(futures)} lost ({name}): its process {reason}")
                lost_tasks += 1
                if where and "scipy" not in Path(where).parts:
                    alarms.append(f"{name}: a crash in {where}")
                continue
            say(f"{number} of {len(futures)} done ({name}), {(time.monotonic() - started) / 60:.1f} minutes")
            if name in counts:
                counts[name].add(outcome)
                continue
            tallies[name].add(outcome)
            for failed in outcome.failed:
                say(f"{name}: {failed['words']}")
            if outcome.failed:
                write_failures(outcome.failed, FAILURES)
    alarms += counts[_CONFORMING].wrong
    for line in [*counts[_INTERRUPTED].wrong, *alarms, *counts[_BAD].wrong, *counts[_PROGRAMS].wrong]:
        say(line)
    for line in accepted:
        say(f"a false certificate is accepted: {line}")
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    if total.failed:
        say(f"{len(total.failed)} failures are in {FAILURES}")
    faults, decomposed = total.faults, tallies[decompositions.NAME]
    by_template = {name: tally.runs for name, tally in tallies.items() if name in TEMPLATES and tally is not decomposed}
    templates = sum(by_template.values())
    runs = tallies["engine"].runs + templates + decomposed.runs
    interrupts, lost = counts[_INTERRUPTED].tried, len(counts[_INTERRUPTED].wrong)
    bad, checked, programs = counts[_BAD], counts[_CONFORMING].tried, counts[_PROGRAMS]
    by_name = ", ".join(f"{name} {number:,}" for name, number in by_template.items())
    cut = "" if share == 1.0 else f"; shortened to {minutes:g} of {MINUTES:g} minutes, seed {seed}"
    cut += f"; {lost_tasks} of {len(futures)} tasks lost" if lost_tasks else ""
    engine = f"random pools, of {_ENGINE_RUNS:,} at full size{cut}"
    models = f"random compact models, of {_DECOMPOSITIONS:,} at full size{cut}"
    return [
        Figure("engine_runs", tallies["engine"].runs, "runs", tallies["engine"].runs, engine),
        Figure("template_runs", templates, "answers", templates, f"{by_name}{cut}"),
        Figure("wrong_proofs", faults[Fault.WRONG_PROOF], "runs", runs, "compared with enumeration"),
        Figure(
            "false_alarms",
            faults[Fault.FALSE_ALARM] + len(alarms),
            "runs",
            runs + checked,
            f"errors, and runs without a proof; {checked} by check_problem",
        ),
        Figure("laws_broken", faults[Fault.LAW], "runs", runs, "units larger by 2^k change a solution or the run"),
        Figure("decompositions", decomposed.runs, "models", decomposed.runs, models),
        Figure(
            "decompositions_wrong",
            decomposed.faults[Fault.WRONG_PROOF],
            "models",
            decomposed.runs,
            "decomposed, two-stage or complete, compared with enumeration or HiGHS without presolve",
        ),
        Figure(
            "decompositions_alarms",
            decomposed.faults[Fault.FALSE_ALARM],
            "models",
            decomposed.runs,
            "errors, and runs without a proof",
        ),
        Figure("twenty_lines", programs.proved, "programs", programs.tried, f"proved in 30 s each{cut}"),
        Figure("bad_inputs", bad.tried, "inputs", bad.tried, f"invalid files, arguments and programs{cut}"),
        Figure("bad_inputs_wrong", len(bad.wrong), "inputs", bad.tried, "without one clear message"),
        Figure(
            "forgeries_refused",
            len(forged) - len(accepted),
            "kinds",
            len(forged),
            f"false certificates; {len(CERTIFICATES)} correct ones are accepted",
        ),
        Figure("interrupts", interrupts, "runs", interrupts, f"SIGINT and SIGTERM at random moments{cut}"),
        Figure("interrupts_lost", lost, "runs", interrupts, "wrong exit code, traceback, or lost results"),
        Figure("threads_failed", threads_failed, "runs", threads, "in 2 to 8 concurrent threads"),
        Figure("limit_overrun_worst", max(worst, 0.0), "s", limits, "beyond 1.05 times the limit, of 0.01 to 10 s"),
        Figure("minutes", (time.monotonic() - started) / 60.0, "min", 1),
    ]


def _is_accepted(lines: Iterable[str]) -> bool:
    """Return whether the checker verifies all of a certificate."""
    try:
        return check(lines).checked
    except WrongError:
        return False


def _tasks(share: float, seed: int) -> list[tuple[str, Callable[[], Any]]]:
    """Return all tasks; the longest kinds are split into many."""

    def count(full: float) -> int:
        return max(math.ceil(share * full / _CHUNKS), 1)

    number = max(math.ceil(share * _INTERRUPTS), 6)
    tasks: list[tuple[str, Callable[[], Any]]] = [
        (_INTERRUPTED, partial(interrupt, number, seed, share * _INTERRUPT_SECONDS + 30.0))
    ]
    for k in range(_CHUNKS):
        own = 1000 * seed + k
        for part in range(_ENGINE_PARTS):
            number, seconds = count(_ENGINE_RUNS / _ENGINE_PARTS), share * _ENGINE_SECONDS / _CHUNKS / _ENGINE_PARTS
            tasks.append(("engine", partial(fuzz, "engine", own + 100 * part, count=number, seconds=seconds)))
        for name in TEMPLATES:
            full, most = _COUNTED.get(name, (None, _TEMPLATE_SECONDS))
            answers = None if full is None else count(full)
            tasks.append((name, partial(fuzz, name, own, count=answers, seconds=share * most / _CHUNKS)))
        numbers = range(k, max(math.ceil(share * _TWENTY_LINES), 1), _CHUNKS)
        tasks.append((_PROGRAMS, partial(run_programs, numbers, seed, share * _TWENTY_LINES_SECONDS / _CHUNKS)))
        tasks.append((_CONFORMING, partial(_conform, own, count(_CONFORMANCE))))
    tasks.append((_BAD, partial(try_bad_inputs, max(math.ceil(share * _BAD_INPUTS), 10), seed)))
    return tasks


def _conform(seed: int, count: int) -> Outcome:
    """Run ``check_problem`` on correct problems; every finding is a false alarm."""
    alarms = []
    for number in range(count):
        case, _ = draw_case(np.random.default_rng([seed, 7, number]))
        report = check_problem(PoolProblem(case), seconds=0.3, seed=number)
        alarms += [f"check_problem, seed {seed}, case {number}: {finding}"[:300] for finding in report.findings[:1]]
    return Outcome(count, alarms)

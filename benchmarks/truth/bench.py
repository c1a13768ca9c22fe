"""``colgen bench truth``: wrong proofs and false alarms, counted over many runs of the engine and of all templates."""

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import BenchOptions
from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError
from colgen.cli.template import Figure
from colgen.testing.conformance import check_problem
from tests.fuzz import chains, decompositions
from tests.fuzz.bad_inputs import bad_inputs
from tests.fuzz.engine.drawing import draw_case
from tests.fuzz.engine.problem import PoolProblem
from tests.fuzz.forgeries import forgeries
from tests.fuzz.handmade import CERTIFICATES
from tests.fuzz.harness import SUBJECTS, Tally, fuzz, write_failures
from tests.fuzz.interrupts import interrupt
from tests.fuzz.judging import Fault
from tests.fuzz.limits import in_threads, overrun
from tests.fuzz.templates import TEMPLATES
from tests.fuzz.twenty_lines import twenty_lines

MINUTES = 45.0
"""At full size."""

FAILURES = Path("results/failures")
"""Where what fails is written, to be replayed by ``python -m tests.fuzz --replay FILE``."""

_PROCESSES = 2

_ENGINE_RUNS = 22_000
_CHAIN_ANSWERS = 500_000
_DECOMPOSITIONS = 20_400
_INTERRUPTS = 1_040
_BAD_INPUTS = 1_000
_CONFORMANCE = 200
"""How many random problems ``check_problem`` is asked about."""

_TWENTY_LINES = 200
"""Instances of the README's program."""

_ENGINE_SECONDS = 2_400.0
_CHAIN_SECONDS = 300.0
_DECOMPOSITION_SECONDS = 2_400.0
_TEMPLATE_SECONDS = 120.0
_INTERRUPT_SECONDS = 1_200.0
_TWENTY_LINES_SECONDS = 1_000.0
"""At most, of both processes together, each; what is there by then counts."""

_COUNTED = {
    chains.NAME: (_CHAIN_ANSWERS, _CHAIN_SECONDS),
    decompositions.NAME: (_DECOMPOSITIONS, _DECOMPOSITION_SECONDS),
}
"""Templates of which so many answers are wanted, in so many seconds."""

_THREAD_SECONDS = 30.0
_LIMIT_SECONDS = 240.0

_CHUNKS = 8
_ENGINE_PARTS = 3
"""Shares of each chunk: the solver that knows the truth may crash, which costs one."""


@dataclass(frozen=True)
class _Task:
    """A share of the work for one process."""

    run: Callable[..., Any]
    arguments: tuple[Any, ...]


_INTERRUPTED, _BAD, _PROGRAMS, _CONFORMING = "interrupts", "bad inputs", "twenty lines", "conformance"


@dataclass
class _Share:
    """What was tried in a share of the work, what of it was wrong, in words, and how much was proved."""

    tried: int = 0
    wrong: list[str] = field(default_factory=list)
    proved: int = 0

    def add(self, other: _Share) -> None:
        """Add another share of the same kind."""
        self.tried += other.tried
        self.wrong += other.wrong
        self.proved += other.proved


class CrashError(Exception):
    """A process has ended in the middle of its share; the words say which file's code it was in, if that is known."""


class _Workers:
    """A process for each thread that runs tasks; one that has ended takes its task with it, and no other."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[ProcessPoolExecutor] = []
        self._crashes = tempfile.TemporaryDirectory()

    def run(self, task: _Task) -> Any:
        """What the task returns."""
        process: ProcessPoolExecutor | None = getattr(self._own, "process", None)
        if process is None:
            self._own.crash = Path(self._crashes.name) / str(len(self._all))
            process = self._own.process = ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), _tell_crashes, (self._own.crash,)
            )
            self._all.append(process)
        try:
            return process.submit(task.run, *task.arguments).result()
        except BrokenExecutor:
            self._own.process = None
            frames = re.findall(r'^  File "(.*)", line (\d+)', self._own.crash.read_text(), re.MULTILINE)
            raise CrashError(":".join(frames[0]) if frames else "") from None

    def close(self) -> None:
        """End all processes."""
        for process in self._all:
            process.shutdown(cancel_futures=True)
        self._crashes.cleanup()


def _tell_crashes(path: Path) -> None:
    """Have this process write where it was if it crashes."""
    faulthandler.enable(path.open("w"))  # open as long as the process is


def bench_truth(options: BenchOptions) -> list[Figure]:
    """Figures of what was proved wrongly, alarmed falsely, lost and overrun."""
    minutes = options.minutes if options.minutes is not None else 2.0 if options.quick else MINUTES
    share = min(minutes / MINUTES, 1.0)
    say, seed, started = options.say, options.seed, time.monotonic()

    # Alone first: what is measured by the clock.
    say("forgeries ...")
    forged = forgeries()
    accepted = [str(each) for each in forged if _is_accepted(each.lines)]
    say("time limits ...")
    worst, limits = overrun(max(share * _LIMIT_SECONDS, 10.0), say)
    say("threads ...")
    threads_failed, threads = in_threads(seed, seconds=share * _THREAD_SECONDS, say=say)
    say("the engine, the templates, interrupts ...")
    tallies = {name: Tally() for name in SUBJECTS}
    others = {name: _Share() for name in (_INTERRUPTED, _BAD, _PROGRAMS, _CONFORMING)}
    gone = 0
    alarmed = [
        f"a true certificate is refused: {name}"
        for name, records in CERTIFICATES.items()
        if not _is_accepted(map(json.dumps, records))
    ]
    workers = _Workers()
    with ThreadPoolExecutor(_PROCESSES) as pool, closing(workers):
        futures = [(name, pool.submit(workers.run, task)) for name, task in _tasks(share, seed)]
        for number, (name, future) in enumerate(futures, 1):
            try:
                found = future.result()
            except CrashError as crash:  # the truth's own solver has been met crashing: what others have counted stays
                where = str(crash)
                said = f"crashed in {where}" if where else "was ended from outside"
                say(f"{number} of {len(futures)} lost ({name}): its process {said}")
                gone += 1
                if where and "scipy" not in Path(where).parts:
                    alarmed.append(f"{name}: a crash in {where}")
                continue
            say(f"{number} of {len(futures)} done ({name}), {(time.monotonic() - started) / 60:.1f} minutes")
            if name in others:
                others[name].add(found)
                continue
            tallies[name].add(found)
            for failed in found.failed:
                say(f"{name}: {failed['words']}")
            if found.failed:
                write_failures(found.failed, FAILURES)
    alarmed += others[_CONFORMING].wrong
    for line in [*others[_INTERRUPTED].wrong, *alarmed, *others[_BAD].wrong, *others[_PROGRAMS].wrong]:
        say(line)
    for line in accepted:
        say(f"a false certificate is accepted: {line}")
    everything = Tally()
    for tally in tallies.values():
        everything.add(tally)
    if everything.failed:
        say(f"{len(everything.failed)} failures are in {FAILURES}")
    faults, taken_apart = everything.faults, tallies[decompositions.NAME]
    by_template = {
        name: tally.runs for name, tally in tallies.items() if name in TEMPLATES and tally is not taken_apart
    }
    templates = sum(by_template.values())
    runs = tallies["engine"].runs + templates + taken_apart.runs
    asked, lost = others[_INTERRUPTED].tried, len(others[_INTERRUPTED].wrong)
    asked_badly, checked, programs = others[_BAD].tried, others[_CONFORMING].tried, others[_PROGRAMS]
    by_name = ", ".join(f"{name} {number:,}" for name, number in by_template.items())
    cut = "" if share == 1.0 else f"; cut short to {minutes:g} of {MINUTES:g} minutes, seed {seed}"
    cut += f"; {gone} of {len(futures)} shares lost" if gone else ""
    engine = f"random pools, of {_ENGINE_RUNS:,} at full size{cut}"
    models = f"random compact models, of {_DECOMPOSITIONS:,} at full size{cut}"
    return [
        Figure("engine_runs", tallies["engine"].runs, "runs", tallies["engine"].runs, engine),
        Figure("template_runs", templates, "answers", templates, f"{by_name}{cut}"),
        Figure("wrong_proofs", faults[Fault.WRONG_PROOF], "runs", runs, "against the truth by enumeration"),
        Figure(
            "false_alarms",
            faults[Fault.FALSE_ALARM] + len(alarmed),
            "runs",
            runs + checked,
            f"errors, and runs without a proof; {checked} by check_problem",
        ),
        Figure("laws_broken", faults[Fault.LAW], "runs", runs, "units larger by 2^k change an answer or the run"),
        Figure("decompositions", taken_apart.runs, "models", taken_apart.runs, models),
        Figure(
            "decompositions_wrong",
            taken_apart.faults[Fault.WRONG_PROOF],
            "models",
            taken_apart.runs,
            "decomposed, two-stage or complete, against enumeration or HiGHS without presolve",
        ),
        Figure(
            "decompositions_alarms",
            taken_apart.faults[Fault.FALSE_ALARM],
            "models",
            taken_apart.runs,
            "errors, and runs without a proof",
        ),
        Figure("twenty_lines", programs.proved, "programs", programs.tried, f"proved in 30 s each{cut}"),
        Figure("bad_inputs", asked_badly, "inputs", asked_badly, f"files, arguments, programs, all wrong{cut}"),
        Figure("bad_inputs_wrong", len(others[_BAD].wrong), "inputs", asked_badly, "not one clear line"),
        Figure(
            "forgeries_refused",
            len(forged) - len(accepted),
            "kinds",
            len(forged),
            f"false certificates; {len(CERTIFICATES)} true ones are accepted",
        ),
        Figure("interrupts", asked, "runs", asked, f"SIGINT and SIGTERM at random moments{cut}"),
        Figure("interrupts_lost", lost, "runs", asked, "other exit code, a traceback, or less than was known"),
        Figure("threads_failed", threads_failed, "runs", threads, "in 2 to 8 threads at once"),
        Figure("limit_overrun_worst", max(worst, 0.0), "s", limits, "beyond 1.05 times the limit, of 0.01 to 10 s"),
        Figure("minutes", (time.monotonic() - started) / 60.0, "min", 1),
    ]


def _is_accepted(lines: Iterable[str]) -> bool:
    """Whether the checker calls all of a certificate true."""
    try:
        return check(lines).checked
    except WrongError:
        return False


def _tasks(share: float, seed: int) -> list[tuple[str, _Task]]:
    """All shares of the work, the longest kinds in many pieces."""

    def count(full: float) -> int:
        return max(math.ceil(share * full / _CHUNKS), 1)

    tasks = [(_INTERRUPTED, _Task(_interrupt, (share, seed)))]
    for k in range(_CHUNKS):
        own = 1000 * seed + k
        for part in range(_ENGINE_PARTS):
            number, seconds = count(_ENGINE_RUNS / _ENGINE_PARTS), share * _ENGINE_SECONDS / _CHUNKS / _ENGINE_PARTS
            tasks.append(("engine", _Task(_fuzz, ("engine", own + 100 * part, number, seconds))))
        for name in TEMPLATES:
            full, most = _COUNTED.get(name, (None, _TEMPLATE_SECONDS))
            answers = None if full is None else count(full)
            tasks.append((name, _Task(_fuzz, (name, own, answers, share * most / _CHUNKS))))
        numbers = range(k, max(math.ceil(share * _TWENTY_LINES), 1), _CHUNKS)
        tasks.append((_PROGRAMS, _Task(_run_programs, (numbers, seed, share * _TWENTY_LINES_SECONDS / _CHUNKS))))
        tasks.append((_CONFORMING, _Task(_conform, (own, count(_CONFORMANCE)))))
    tasks.append((_BAD, _Task(_ask_badly, (max(math.ceil(share * _BAD_INPUTS), 10), seed))))
    return tasks


def _interrupt(share: float, seed: int) -> _Share:
    found = interrupt(max(math.ceil(share * _INTERRUPTS), 6), seed, share * _INTERRUPT_SECONDS + 30.0)
    return _Share(found.asked, list(found.lost))


def _ask_badly(count: int, seed: int) -> _Share:
    return _Share(*bad_inputs(count, seed))


def _run_programs(numbers: Iterable[int], seed: int, seconds: float) -> _Share:
    found = twenty_lines(numbers, seed, seconds)
    return _Share(found.tried, found.wrong, found.proved)


def _fuzz(name: str, seed: int, count: int | None, seconds: float) -> Tally:
    return fuzz(name, seed, count=count, seconds=seconds)


def _conform(seed: int, count: int) -> _Share:
    """Ask ``check_problem`` about correct problems; what it finds is a false alarm."""
    alarms = []
    for number in range(count):
        case, _ = draw_case(np.random.default_rng([seed, 7, number]))
        report = check_problem(PoolProblem(case), seconds=0.3, seed=number)
        alarms += [f"check_problem, seed {seed}, case {number}: {finding}"[:300] for finding in report.findings[:1]]
    return _Share(count, alarms)

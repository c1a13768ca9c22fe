"""Ctrl-C and SIGTERM at random moments of ``colgen solve`` and of ``solve``: what was known by then must be said.

Runs are forked from one process that has imported and compiled everything.  Each writes the rounds that it sees to a
pipe, so that what was known when the signal came is known outside.
"""

from __future__ import annotations

import contextlib
import json
import math
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import colgen
from colgen.cli import solve
from colgen.core.result import Iteration
from tests.fuzz.long import write_all

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""The exit codes that these signals must end in."""

_LONGEST = 1.2
"""Seconds after which a signal is sent at the latest."""

_PATIENCE = 5.0
"""Seconds that a run may take to end."""


@dataclass
class Interrupted:
    """How many runs were interrupted, and what was wrong with those that did not end as they should."""

    asked: int = 0
    lost: list[str] = field(default_factory=list)
    slowest: float = 0.0


def interrupt(count: int, seed: int, seconds: float = math.inf) -> Interrupted:
    """Interrupt runs of all templates in turn, in a process of their own."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(count, seed, seconds, sender))
    process.start()
    sender.close()
    try:
        outcome: Interrupted = receiver.recv()
    except EOFError:
        outcome = Interrupted(0, ["the process that starts the runs has ended"])
    process.join()
    return outcome


def _serve(count: int, seed: int, seconds: float, sender: Any) -> None:
    outcome, rng, deadline = Interrupted(), random.Random(seed), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        files = write_all(directory)
        for template, file in files.items():  # imports and compiles
            with open(os.devnull, "w") as nowhere:
                sys.stdout, sys.stderr = nowhere, nowhere
                _by_command(template, file, directory, time_limit=1.0)
                sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        names = list(files)
        tries = 0
        while outcome.asked < count and tries < 3 * count and time.monotonic() < deadline:
            template = names[tries % len(names)]
            tries += 1
            _interrupt_one(template, files[template], directory, rng, outcome)
    sender.send(outcome)


def _interrupt_one(template: str, file: Path, directory: Path, rng: random.Random, outcome: Interrupted) -> None:
    by_command = rng.random() < 0.7
    sent = signal.SIGINT if rng.random() < 0.8 or not by_command else signal.SIGTERM
    delay = rng.uniform(0.0, _LONGEST)
    run = _by_command if by_command else _by_library
    for path in (directory / "out.json", directory / "streams"):
        path.unlink(missing_ok=True)
    child, pipe = forked(directory, lambda: run(template, file, directory))
    begun = os.read(pipe, 1)  # the run's first line: start-up is over
    time.sleep(delay)
    known = _known(begun + _drained(pipe))
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, sent)
    signalled = time.monotonic()
    code = waited(child, _PATIENCE)
    os.close(pipe)
    took = time.monotonic() - signalled
    what = f"{template}, {'command' if by_command else 'library'}, {sent.name} after {delay:.3f} s"
    if code in (0, 1, 3) and known.get("begun") and _termination(directory) not in (None, "INTERRUPTED"):
        return  # it had ended by itself
    outcome.asked += 1
    outcome.slowest = max(outcome.slowest, took)
    fault = _fault(code, CODES[sent], known, directory)
    if fault is not None:
        outcome.lost.append(f"{what}: {fault}")


def _fault(code: int | None, wanted: int, known: dict[str, Any], directory: Path) -> str | None:
    streams = directory / "streams"
    said = streams.read_text(errors="replace") if streams.exists() else ""
    if code is None:
        return f"it had not ended after {_PATIENCE:g} s"
    if "Traceback" in said or "unexpected" in said:
        return f"exit code {code} and: {said.strip().splitlines()[-1][:200]}"
    if code != wanted:
        return f"exit code {code}, expected {wanted}: {said.strip()[-200:]}"
    if not known.get("begun"):
        return None  # the file was being read: there is nothing to say
    try:
        content = json.loads((directory / "out.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"no answer was written ({error})"
    sign = known["sign"]
    for name, better in (("objective", sign), ("dual_bound", -sign)):
        before, now = known.get(name), content[name]
        if before is None or not math.isfinite(before):
            continue
        if now is None or better * (now - before) > 1e-6 * max(1.0, abs(before)):
            return f"{name} {now} is written, but {before:.10g} was known"
    if content["objective"] is not None and content.get("answer", True) is None:
        return "the answer is missing"
    return None


def _termination(directory: Path) -> str | None:
    try:
        return str(json.loads((directory / "out.json").read_text(encoding="utf-8"))["termination"])
    except (OSError, ValueError, KeyError):
        return None


# --- the runs --------------------------------------------------------------------------------------------------------


def forked(directory: Path, run: Callable[[], int]) -> tuple[int, int]:
    """A child that runs; its process and the pipe that it reports to."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child:
        os.close(sender)
        return child, receiver
    code = 1
    try:
        os.close(receiver)
        streams = os.open(directory / "streams", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(streams, 1)
        os.dup2(streams, 2)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        for number, ends in CODES.items():  # a signal that comes before the run begins is the shell's affair
            signal.signal(number, partial(_ended_by_the_shell, ends))
        _watch(sender)
        code = run()
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _watch(pipe: int) -> None:
    """Report the call of ``solve`` and each of its rounds."""
    real = colgen.solve
    os.write(pipe, b"started\n")

    def tell(iteration: Iteration) -> None:
        bounds = [value if math.isfinite(value) else None for value in (iteration.incumbent, iteration.global_bound)]
        os.write(pipe, (json.dumps(bounds) + "\n").encode())

    def watched(problem: Any, **options: Any) -> Any:
        options["progress"] = tell
        os.write(pipe, b"begun\n")
        return real(problem, **options)

    vars(solve)["solve"] = watched


def _by_command(template: str, file: Path, directory: Path, time_limit: float | None = None) -> int:
    from colgen.cli.main import main

    arguments = ["solve", template, str(file), "--json", str(directory / "out.json"), "--quiet"]
    return main(arguments if time_limit is None else [*arguments, "--time-limit", str(time_limit)])


def _ended_by_the_shell(code: int, number: int, frame: Any) -> None:
    os._exit(code)


_OUTSIDE = ("_by_library", "holding", "__enter__", "__exit__")
"""Who is at work before a run holds signals, and after it."""


def _by_library(template: str, file: Path, directory: Path) -> int:
    from colgen.cli.template import load_template

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        loaded = load_template(template)
        problem = loaded.problem(loaded.read(file))
    except KeyboardInterrupt:  # before the call of solve it is the script's affair
        return CODES[signal.SIGINT]
    try:
        result = vars(solve)["solve"](problem)
    except KeyboardInterrupt as interrupt:
        if traceback.extract_tb(interrupt.__traceback__)[-1].name in _OUTSIDE:
            return CODES[signal.SIGINT]
        raise
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after it, likewise
    (directory / "out.json").write_text(json.dumps(result.to_dict()), encoding="utf-8")
    return CODES[signal.SIGINT] if result.termination is colgen.Termination.INTERRUPTED else 0


# --- what is known outside -------------------------------------------------------------------------------------------


def _drained(pipe: int) -> bytes:
    os.set_blocking(pipe, False)
    parts = []
    while True:
        try:
            part = os.read(pipe, 1 << 16)
        except BlockingIOError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def _known(told: bytes) -> dict[str, Any]:
    lines = told.decode().split("\n")[:-1]
    known: dict[str, Any] = {"begun": "begun" in lines}
    rounds = [json.loads(line) for line in lines if line.startswith("[")]
    if rounds:
        known["objective"], known["dual_bound"] = rounds[-1]
    pairs = [(o, b) for o, b in rounds if o is not None and b is not None]
    # An incumbent is never better than the bound: that tells which way is better.
    known["sign"] = 1 if all(o >= b for o, b in pairs) else -1
    return known


def waited(child: int, seconds: float) -> int | None:
    """The exit code of a child; None if it had to be killed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None

"""Fuzz Ctrl-C and SIGTERM at random moments of ``colgen solve`` and ``solve``: results up to then must be reported.

Runs are forked from one process that has imported and compiled everything.  Each run writes its rounds to a pipe, so
the parent process has the results up to the signal.
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
from functools import partial
from pathlib import Path
from typing import Any

import colgen
from colgen.cli import solve
from colgen.core.result import Iteration
from tests.fuzz.judging import Outcome
from tests.fuzz.long import write_all

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Required exit codes by signal."""

_LONGEST = 1.2
"""Latest time of a signal in seconds."""

_PATIENCE = 5.0
"""Seconds that a run may take to end after the signal."""


def interrupt(count: int, seed: int, seconds: float = math.inf) -> Outcome:
    """Interrupt runs of all templates in turn, in a separate process."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(count, seed, seconds, sender))
    process.start()
    sender.close()
    try:
        outcome: Outcome = receiver.recv()
    except EOFError:
        outcome = Outcome(0, ["the process that starts the runs ended"])
    process.join()
    return outcome


def _serve(count: int, seed: int, seconds: float, sender: Any) -> None:
    outcome, rng, deadline = Outcome(), random.Random(seed), time.monotonic() + seconds
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
        while outcome.tried < count and tries < 3 * count and time.monotonic() < deadline:
            template = names[tries % len(names)]
            tries += 1
            _interrupt_one(template, files[template], directory, rng, outcome)
    sender.send(outcome)


def _interrupt_one(template: str, file: Path, directory: Path, rng: random.Random, outcome: Outcome) -> None:
    by_command = rng.random() < 0.7
    sent = signal.SIGINT if rng.random() < 0.8 or not by_command else signal.SIGTERM
    delay = rng.uniform(0.0, _LONGEST)
    run = _by_command if by_command else _by_library
    for path in (directory / "out.json", directory / "streams"):
        path.unlink(missing_ok=True)
    child, pipe = fork_run(directory, lambda: run(template, file, directory))
    begun = os.read(pipe, 1)  # the run's first line, after startup
    time.sleep(delay)
    known = _parse_rounds(begun + _drain(pipe))
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, sent)
    code = wait_for_exit(child, _PATIENCE)
    os.close(pipe)
    what = f"{template}, {'command' if by_command else 'library'}, {sent.name} after {delay:.3f} s"
    if code in (0, 1, 3) and known.get("begun") and _termination(directory) not in (None, "INTERRUPTED"):
        return  # it ended before the signal
    outcome.tried += 1
    fault = _find_fault(code, CODES[sent], known, directory)
    if fault is not None:
        outcome.wrong.append(f"{what}: {fault}")


def _find_fault(code: int | None, expected: int, known: dict[str, Any], directory: Path) -> str | None:
    streams = directory / "streams"
    output = streams.read_text(errors="replace") if streams.exists() else ""
    if code is None:
        return f"still running after {_PATIENCE:g} s"
    if "Traceback" in output or "unexpected" in output:
        return f"exit code {code} and: {output.strip().splitlines()[-1][:200]}"
    if code != expected:
        return f"exit code {code}, expected {expected}: {output.strip()[-200:]}"
    if not known.get("begun"):
        return None  # the file was being read, so there are no results
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
            return f"{name} {now} is reported, worse than {before:.10g} before the signal"
    if content["objective"] is not None and content.get("answer", True) is None:
        return "the answer is missing"
    return None


def _termination(directory: Path) -> str | None:
    try:
        return str(json.loads((directory / "out.json").read_text(encoding="utf-8"))["termination"])
    except (OSError, ValueError, KeyError):
        return None


# --- the runs --------------------------------------------------------------------------------------------------------


def fork_run(directory: Path, run: Callable[[], int]) -> tuple[int, int]:
    """Run a function in a forked child; return its process and the pipe of its reports."""
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
        for number, ends in CODES.items():  # signals before the run are not handled by colgen
            signal.signal(number, partial(_exit_like_shell, ends))
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

    def report(iteration: Iteration) -> None:
        bounds = [value if math.isfinite(value) else None for value in (iteration.incumbent, iteration.global_bound)]
        os.write(pipe, (json.dumps(bounds) + "\n").encode())

    def solve_and_report(problem: Any, **options: Any) -> Any:
        options["progress"] = report
        os.write(pipe, b"begun\n")
        return real(problem, **options)

    vars(solve)["solve"] = solve_and_report


def _by_command(template: str, file: Path, directory: Path, time_limit: float | None = None) -> int:
    from colgen.cli.main import main

    arguments = ["solve", template, str(file), "--json", str(directory / "out.json"), "--quiet"]
    return main(arguments if time_limit is None else [*arguments, "--time-limit", str(time_limit)])


def _exit_like_shell(code: int, number: int, frame: Any) -> None:
    os._exit(code)


_OUTSIDE = ("_by_library", "holding", "__enter__", "__exit__")
"""Functions that run before signals are held, and after."""


def _by_library(template: str, file: Path, directory: Path) -> int:
    from colgen.cli.template import load_template

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        loaded = load_template(template)
        problem = loaded.problem(loaded.read(file))
    except KeyboardInterrupt:  # before the call of solve the script must handle it
        return CODES[signal.SIGINT]
    try:
        result = vars(solve)["solve"](problem)
    except KeyboardInterrupt as interrupt:
        if traceback.extract_tb(interrupt.__traceback__)[-1].name in _OUTSIDE:
            return CODES[signal.SIGINT]
        raise
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # likewise after it
    (directory / "out.json").write_text(json.dumps(result.to_dict()), encoding="utf-8")
    return CODES[signal.SIGINT] if result.termination is colgen.Termination.INTERRUPTED else 0


# --- the parent process ----------------------------------------------------------------------------------------------


def _drain(pipe: int) -> bytes:
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


def _parse_rounds(reports: bytes) -> dict[str, Any]:
    lines = reports.decode().split("\n")[:-1]
    known: dict[str, Any] = {"begun": "begun" in lines}
    rounds = [json.loads(line) for line in lines if line.startswith("[")]
    if rounds:
        known["objective"], known["dual_bound"] = rounds[-1]
    pairs = [(o, b) for o, b in rounds if o is not None and b is not None]
    # An incumbent is never better than the bound, which determines the sense.
    known["sign"] = 1 if all(o >= b for o, b in pairs) else -1
    return known


def wait_for_exit(child: int, seconds: float) -> int | None:
    """Return the exit code of a child; kill it after ``seconds`` and return None."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None

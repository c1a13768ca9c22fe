"""The command line: solve, train, measure, and describe templates."""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence

from colgen.cli.arguments import CLOSED_PIPE, parse_arguments
from colgen.core.signals import ended_by, exit_code, handling_signals, was_interrupted
from colgen.core.text import is_terminal

_COMMANDS = {
    "solve": ("solve", "solve_file"),
    "decompose": ("decompose", "list_blocks"),
    "resume": ("solve", "resume_file"),
    "check": ("main", "check_file"),
    "train": ("bench", "train"),
    "ablation": ("ablation", "ablate"),
    "demo": ("demo", "demo"),
    "warm": ("warm", "warm"),
    "bench": ("bench", "bench"),
    "example": ("templates", "example"),
    "watch": ("watch", "watch"),
    "templates": ("templates", "describe"),
}
"""Module and function of each command, imported on use."""


_OBJECTS = 50_000
"""New objects between garbage collections: the default of 700 costs 14% of the start-up time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    try:
        with handling_signals():  # before slow imports
            try:
                code = _run(argv)
            except KeyboardInterrupt:
                code = _interrupted()
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
    except BrokenPipeError:
        _forget_output()
        return CLOSED_PIPE
    except KeyboardInterrupt:  # before signals were handled, or a second one while the first was reported
        return _interrupted()
    return code


def _run(argv: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if is_terminal(stream):
                stream.reconfigure(errors="replace")  # characters it cannot show become question marks
            else:
                stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    try:
        arguments = parse_arguments(argv)
    except SystemExit as stop:  # argparse has printed an error or the help
        return int(stop.code or 0)
    module, function = _COMMANDS[arguments.command]
    try:
        command = getattr(importlib.import_module(f"colgen.cli.{module}"), function)
        return int(command(arguments))
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if isinstance(error, SystemError) and was_interrupted():  # compiled code converts a KeyboardInterrupt to this
            return _interrupted()
        from colgen.cli.output import explain

        return explain(error, arguments.traceback)


def check_file(arguments: argparse.Namespace) -> int:
    """Check a certificate, with an instance's file if given; return the checker's exit code."""
    from colgen.certificate import checker
    from colgen.cli.output import show
    from colgen.core.files import check_readable

    paths = [path for path in (arguments.file, arguments.instance) if path is not None]
    for path in paths:
        check_readable(path)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        code = checker.main(list(map(str, paths)))
    show(output.getvalue().splitlines())
    return code


def _interrupted() -> int:
    with contextlib.suppress(OSError, ValueError):
        print(ended_by(), file=sys.stderr, flush=True)
    return exit_code()


def _forget_output() -> None:
    """Redirect the output to the null device: Python flushes it at exit and would raise again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())

"""The command line: solve a file, train a model, show what the templates can do, measure."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Sequence

from colgen.arguments import CLOSED_PIPE, INTERRUPTED, parse_arguments
from colgen.commands.demo import demo
from colgen.commands.describing import describe
from colgen.commands.measuring import bench, train
from colgen.commands.output import explain, is_terminal, say
from colgen.commands.solving import solve_file

_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "solve": solve_file,
    "train": train,
    "demo": demo,
    "bench": bench,
    "templates": describe,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if is_terminal(stream):
                stream.reconfigure(errors="replace")  # one that knows no Greek shows question marks, not a traceback
            else:
                stream.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    try:
        code = _run(argv)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        _forget_output()
        return CLOSED_PIPE
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = parse_arguments(argv)
    except SystemExit as stop:  # argparse has said what is wrong, or printed the help
        return int(stop.code or 0)
    try:
        return _COMMANDS[arguments.command](arguments)
    except KeyboardInterrupt:
        say("Interrupted by the user.")
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        return explain(error, arguments.traceback)


def _forget_output() -> None:
    """Point what is left of the output at nothing: Python flushes it at exit, and would complain again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())

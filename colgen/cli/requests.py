"""What was asked for, checked before any work."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from colgen.cli.output import say
from colgen.cli.template import Template
from colgen.core.errors import InputError
from colgen.reporting.figures import INSTALL, can_draw
from colgen.tree.checkpoint import EVERY, Saving

ASKED = {
    "template": str,
    "file": str,
    "model": str | None,
    "option": list,
    "lp": str | None,
    "relaxation": bool,
    "workers": int | None,
    "node_batch": int | None,
    "every": float,
}
"""What is asked again; where output goes is not, for a file from elsewhere shall not say what is written to."""


def saving_of(arguments: argparse.Namespace) -> Saving | None:
    """Where the checkpoints of a command go, with what it was asked for."""
    if arguments.checkpoint is None:
        if arguments.every is not None:
            raise InputError("--every says how often checkpoints are written: name their file with --checkpoint FILE")
        return None
    if str(arguments.file) == "-":
        raise InputError("--checkpoint needs a file that can be read again: name one instead of the standard input (-)")
    if arguments.certificate is not None:
        raise InputError("--certificate: a run that goes on has not seen all proofs: leave --checkpoint out")
    every = EVERY if arguments.every is None else arguments.every
    if not every:
        raise InputError("--every: expected more than no seconds")
    asked: dict[str, Any] = {name: getattr(arguments, name) for name in ASKED} | {"every": every}
    for name in ("file", "model"):
        asked[name] = None if asked[name] is None else str(Path(asked[name]).absolute())
    return Saving(arguments.checkpoint, every, asked)


def skip_of(arguments: argparse.Namespace, template: Template) -> Callable[[str], None] | None:
    """What ``--skip-bad`` names malformed documents to; None: they are errors."""
    if not arguments.skip_bad:
        return None
    if not template.skips:
        raise InputError(f"the template {template.name!r} reads no corpora of documents: leave --skip-bad out")
    return lambda line: say(f"colgen: {line}")


def options_of(arguments: argparse.Namespace) -> dict[str, str]:
    """The pairs of ``--option``."""
    options: dict[str, str] = {}
    for option in arguments.option:
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise InputError(f"--option {option}: expected NAME=VALUE")
        if name in options:
            raise InputError(f"--option {name} is given twice")
        options[name] = value
    return options


def check_destinations(arguments: argparse.Namespace, *more: str) -> None:
    """Before any work: that what is asked for can be written at its end."""
    for option in ("log", "csv", "json", "plot", "picture", "report", "certificate", "checkpoint", *more):
        value = getattr(arguments, option, None)
        if value is None or str(value) == "-":
            continue
        path = Path(value)
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise InputError(f"--{option} {path}: expected the name of a file in an existing folder")
    for option in ("plot", "picture"):
        picture = getattr(arguments, option, None)
        if picture is not None:
            if not can_draw():
                raise InputError(f"--{option} needs matplotlib: {INSTALL}")
            from matplotlib.backend_bases import FigureCanvasBase

            if picture.suffix.lower().lstrip(".") not in FigureCanvasBase.get_supported_filetypes():
                raise InputError(f"--{option} {picture}: expected a name that ends in .png, .pdf or .svg")


def check_data(arguments: argparse.Namespace) -> None:
    """That the folder of the data is one."""
    if arguments.data is not None and not arguments.data.is_dir():
        raise InputError(f"--data {arguments.data}: expected an existing folder")

"""Checks of arguments before any work."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from colgen.checkpoint.file import EVERY, Checkpoint
from colgen.cli.output import say
from colgen.cli.template import Template
from colgen.core.errors import InputError
from colgen.core.files import Named, check_destination, check_distinct
from colgen.reporting.axes import INSTALL, can_draw

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
"""Arguments that a resumed run repeats. Output files are not among them: a foreign checkpoint must not choose them."""


def checkpoint_of(arguments: argparse.Namespace) -> Checkpoint | None:
    """Return the checkpoint that the arguments specify, with these arguments in it."""
    if arguments.checkpoint is None:
        if arguments.every is not None:
            raise InputError("--every sets the time between checkpoints: add --checkpoint FILE")
        return None
    if str(arguments.file) == "-":
        raise InputError("--checkpoint: expected an instance in a file, since the standard input (-) is read only once")
    if arguments.certificate is not None:
        raise InputError("--certificate: not available with --checkpoint, since a resumed run lacks earlier proofs")
    every = EVERY if arguments.every is None else arguments.every
    if not every:
        raise InputError("--every: expected more than 0 seconds")
    asked: dict[str, Any] = {name: getattr(arguments, name) for name in ASKED} | {"every": every}
    for name in ("file", "model"):
        asked[name] = None if asked[name] is None else str(Path(asked[name]).absolute())
    return Checkpoint(arguments.checkpoint, every, asked)


def skip_of(arguments: argparse.Namespace, template: Template) -> Callable[[str], None] | None:
    """Return the function that reports documents skipped by ``--skip-bad``; None: they are errors."""
    if not arguments.skip_bad:
        return None
    if not template.skips:
        raise InputError(f"--skip-bad: the template {template.name!r} reads no documents that could be skipped")
    return lambda line: say(f"colgen: {line}")


def options_of(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the values of ``--option`` by name."""
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
    """Check before any work that all outputs can be written, and that none overwrites an input."""
    outputs = ("log", "csv", "json", "plot", "picture", "report", "solution", "certificate", "checkpoint", *more)
    written = list(_paths(arguments, outputs))
    for option, path in written:
        check_destination(path, f"--{option}")
    inputs = [option for option in ("file", "model", "dec", "train", "dev") if option not in more]
    read: list[Named] = [("the file", path) for path in getattr(arguments, "files", ()) if str(path) != "-"]
    read += [("the file" if option == "file" else f"--{option}", path) for option, path in _paths(arguments, inputs)]
    pairs = [pair.partition("=") for pair in getattr(arguments, "option", ())]
    read += [(f"--option {name}", value) for name, _, value in pairs if Path(value).is_file()]
    kept = [("the previous --checkpoint", f"{path}~") for option, path in written if option == "checkpoint"]
    check_distinct([*((f"--{option}", path) for option, path in written), *kept], read)
    for option in ("plot", "picture"):
        picture = getattr(arguments, option, None)
        if picture is not None:
            if not can_draw():
                raise InputError(f"--{option} needs matplotlib: {INSTALL}")
            from matplotlib.backend_bases import FigureCanvasBase

            if picture.suffix.lower().lstrip(".") not in FigureCanvasBase.get_supported_filetypes():
                raise InputError(f"--{option} {picture}: expected a name that ends in .png, .pdf or .svg")


def _paths(arguments: argparse.Namespace, options: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Yield the files that options name, without standard streams."""
    for option in options:
        value = getattr(arguments, option, None)
        if value is not None and str(value) != "-":
            yield option, Path(value)


def check_data(arguments: argparse.Namespace) -> None:
    """Check that the data folder exists."""
    if arguments.data is not None and not arguments.data.is_dir():
        raise InputError(f"--data {arguments.data}: expected an existing folder")

"""What was asked for, checked before any work."""

from __future__ import annotations

import argparse
from pathlib import Path

from colgen.core.errors import InputError
from colgen.reporting.figures import INSTALL, can_draw


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
    for option in ("log", "csv", "json", "plot", "picture", "report", "certificate", *more):
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

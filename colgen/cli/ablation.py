"""``colgen ablation``: solve files by many methods and tabulate the effort of each."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.output import paint, say, write_json
from colgen.cli.requests import check_destinations
from colgen.cli.template import Template
from colgen.core.errors import InputError
from colgen.core.files import check_readable, write_figure
from colgen.core.signals import ended_by, exit_code, holding_signals
from colgen.problem import Problem
from colgen.reporting.ablation import ablation
from colgen.reporting.methods import BOUNDINGS, CHOICES, HEURISTICS, PRICINGS, STABILIZATIONS, Variant, without

_SETS = {
    "stabilization": STABILIZATIONS,
    "bounding": BOUNDINGS,
    "pricing": PRICINGS,
    "choice": CHOICES,
    "heuristics": HEURISTICS,
}

_PARTS = {"cuts": "separation", "rules": "branching"}


def ablate(arguments: argparse.Namespace) -> int:
    """Solve each file by each method, and print the table."""
    template = templates.load_template(arguments.template)
    check_destinations(arguments)
    names = [_name(file, arguments.files) for file in arguments.files]
    if len(set(names)) < len(names):
        raise InputError("expected each FILE once, but one is named twice")
    problems = {name: _source(template, file) for name, file in zip(names, arguments.files, strict=True)}
    with holding_signals():  # a signal ends the measurements, and those made are still reported
        table = ablation(
            problems,
            _methods(arguments.vary or ["stabilization"], template, next(iter(problems.values()))()),
            time_limit=math.inf if arguments.time_limit is None else arguments.time_limit,
            relaxation=arguments.relaxation,
            say=None if arguments.quiet else say,
        )
    if arguments.json != "-":
        Console(highlight=False).print(paint(str(table)), soft_wrap=True)
    if arguments.json is not None:
        write_json(table.to_dict(), arguments.json)
    if arguments.csv is not None:
        table.to_csv(arguments.csv)
    if arguments.plot is not None:
        write_figure(table.draw().figure, arguments.plot)
    if table.is_interrupted:
        say(ended_by())
        return exit_code()
    return PROVED if table.agree else DIAGNOSTIC


def _source(template: Template, file: Path) -> Callable[[], Problem]:
    """Return a function that makes the problem of a file anew, so that runs share no cached data."""
    check_readable(file)
    if template.texts is not None and template.texts.is_model(file):
        raise InputError(f"{file}: expected an instance, this is a trained model")
    try:
        instance = template.instance(file)
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: expected a text file in UTF-8, but byte {error.start} is not") from error
    return partial(template.problem, instance)


def _methods(varied: list[str], template: Template, problem: Problem) -> dict[str, Variant]:
    methods: dict[str, Variant] = {}
    for part in dict.fromkeys(varied):
        methods |= _SETS[part] if part in _SETS else without(problem, _PARTS[part])
        methods |= template.variants.get(part, {})
    return methods


def _name(file: Path, files: list[Path]) -> str:
    """Return a file's name, or its path if several files have the same name."""
    return str(file) if [other.name for other in files].count(file.name) > 1 else file.name

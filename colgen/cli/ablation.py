"""``colgen ablation``: files solved by many methods, and what each of them took."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.output import say, write_json
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
    """Solve each file by each method, and show the table."""
    template = templates.load_template(arguments.template)
    check_destinations(arguments)
    names = [_name(file, arguments.files) for file in arguments.files]
    if len(set(names)) < len(names):
        raise InputError("a file is named twice: expected each once")
    problems = {name: _source(template, file) for name, file in zip(names, arguments.files, strict=True)}
    with holding_signals():  # what has been measured is reported, whenever the signal comes
        found = ablation(
            problems,
            _methods(arguments.vary or ["stabilization"], template, next(iter(problems.values()))()),
            time_limit=math.inf if arguments.time_limit is None else arguments.time_limit,
            relaxation=arguments.relaxation,
            say=None if arguments.quiet else say,
        )
    if arguments.json != "-":
        print(found)
    if arguments.json is not None:
        write_json(found.to_dict(), arguments.json)
    if arguments.csv is not None:
        found.to_csv(arguments.csv)
    if arguments.plot is not None:
        write_figure(found.draw().figure, arguments.plot)
    if found.is_interrupted:
        say(ended_by())
        return exit_code()
    return PROVED if found.agree else DIAGNOSTIC


def _source(template: Template, file: Path) -> Callable[[], Problem]:
    """Makes the problem of a file anew for each run, so that none finds what another has computed."""
    check_readable(file)
    if template.texts is not None and template.texts.is_model(file):
        raise InputError(f"{file}: expected an instance, this is a trained model")
    try:
        instance = template.instance(file)
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not a text file in UTF-8 (byte {error.start})") from error
    return partial(template.problem, instance)


def _methods(varied: list[str], template: Template, problem: Problem) -> dict[str, Variant]:
    methods: dict[str, Variant] = {}
    for part in dict.fromkeys(varied):
        methods |= _SETS[part] if part in _SETS else without(problem, _PARTS[part])
        methods |= template.variants.get(part, {})
    return methods


def _name(file: Path, files: list[Path]) -> str:
    """A file's name; all of its path where two files have the same."""
    return str(file) if [other.name for other in files].count(file.name) > 1 else file.name

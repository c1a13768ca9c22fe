"""``colgen bench`` and ``colgen train``: what ends in a table of figures."""

from __future__ import annotations

import argparse

from rich.table import Table

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.output import console, say, show_figures
from colgen.cli.requests import check_data, check_destinations, options_of, skip_of
from colgen.cli.template import BenchOptions, TrainOptions, check_options
from colgen.cli.templates import load_all
from colgen.core.errors import InputError
from colgen.solvers.compiling import compile_at_once


def bench(arguments: argparse.Namespace) -> int:
    """Run a benchmark and show its figures."""
    compile_at_once()
    loaded, broken = load_all()
    found = {(t.name, name): function for t in loaded for name, function in t.benchmarks.items()}
    if arguments.list:
        table = Table("benchmark", "template")
        for template_name, name in sorted(found, key=lambda pair: pair[::-1]):
            table.add_row(name, template_name)
        console().print(table)
        return DIAGNOSTIC if broken else PROVED
    named = [key for key in found if arguments.name in (key[1], "/".join(key))]
    if not named:
        known = ", ".join(sorted({name for _, name in found})) or "none"
        asked = "which benchmark?" if arguments.name is None else f"there is no benchmark {arguments.name!r};"
        raise InputError(f"{asked} there are: {known}")
    if len(named) > 1:
        choices = " or ".join("/".join(key) for key in named)
        raise InputError(f"several templates have a benchmark {arguments.name!r}: say {choices}")
    check_data(arguments)
    check_destinations(arguments)
    (key,) = named
    drawn = {(t.name, name) for t in loaded for name in t.drawn_benchmarks}
    if arguments.seed is not None and key not in drawn:
        others = ", ".join(sorted(name for _, name in drawn)) or "no other"
        say(f"colgen: the benchmark {key[1]!r} always measures the same: --seed is read by {others}")
    seed = arguments.seed if arguments.seed is not None else 0
    options = BenchOptions(arguments.data, arguments.quick, say, arguments.plot, minutes=arguments.minutes, seed=seed)
    figures = found[key](options)
    show_figures(arguments, key[1], figures)
    if arguments.plot is not None and not arguments.plot.exists():
        say(f"colgen: the benchmark {key[1]!r} draws nothing: there is no {arguments.plot}")
    return PROVED


def train(arguments: argparse.Namespace) -> int:
    """Train a model and show how good it is."""
    if (arguments.data is None) == (arguments.train is None) or (arguments.dev and not arguments.train):
        raise InputError("colgen train needs --data DIR, or --train FILE with or without --dev FILE")
    template = templates.load_template(arguments.template)
    if template.train is None:
        raise InputError(f"the template {template.name!r} has nothing to train")
    for path in (arguments.train, arguments.dev):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: expected a file")
    if arguments.train is not None and not template.train_files:
        raise InputError(f"the template {template.name!r} learns from a folder: say --data DIR")
    chosen = options_of(arguments)
    check_options(chosen, template.train_options)
    check_data(arguments)
    check_destinations(arguments, "model")
    options = TrainOptions(
        arguments.data or arguments.train.parent,
        arguments.model,
        arguments.seed,
        arguments.quick,
        say,
        arguments.train,
        arguments.dev,
        chosen,
        skip_of(arguments, template),
    )
    show_figures(arguments, template.name, template.train(options))
    return PROVED

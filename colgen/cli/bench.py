"""``colgen bench`` and ``colgen train``: commands that print a table of figures."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from colgen.cli import template as templates
from colgen.cli.arguments import PROVED
from colgen.cli.option import option_values
from colgen.cli.output import say, show_figures
from colgen.cli.requests import check_data, check_destinations, options_of, skip_of
from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.core.errors import InputError
from colgen.core.text import meant

CHECKOUT = Path(__file__).resolve().parents[2]
"""The repository, if this package is not an installed one."""


def bench(arguments: argparse.Namespace) -> int:
    """Run a benchmark and print its figures."""
    benchmarks = load_benchmarks()
    if arguments.list:
        print("\n".join(sorted(benchmarks.BENCHMARKS)))
        return PROVED
    name = arguments.name
    if name not in benchmarks.BENCHMARKS:
        problem = "expected the name of a benchmark" if name is None else f"there is no benchmark {name!r}"
        hint = meant(name or "", list(benchmarks.BENCHMARKS)) or ": `colgen bench --list` lists them"
        raise InputError(f"{problem}{hint}")
    check_data(arguments)
    check_destinations(arguments)
    if arguments.seed is not None and name not in benchmarks.SEEDED:
        others = ", ".join(benchmarks.SEEDED)
        say(f"colgen: --seed has no effect on the benchmark {name!r}; it is used by {others}")
    options = benchmarks.BenchOptions(
        arguments.data,
        arguments.quick,
        say,
        arguments.plot,
        minutes=arguments.minutes,
        seed=arguments.seed if arguments.seed is not None else 0,
    )
    show_figures(arguments, name, benchmarks.load(name)(options))
    if arguments.plot is not None and not arguments.plot.exists():
        say(f"colgen: the benchmark {name!r} draws no plot; {arguments.plot} was not written")
    return PROVED


def load_benchmarks() -> Any:
    """Return the package of benchmarks of this checkout."""
    if not (CHECKOUT / "pyproject.toml").is_file() or not (CHECKOUT / "benchmarks" / "__init__.py").is_file():
        raise InputError(
            "the benchmarks are not part of the installed package: clone the repository and run colgen bench there"
        )
    if str(CHECKOUT) not in sys.path:
        sys.path.append(str(CHECKOUT))  # inherited by processes that a benchmark starts
    return importlib.import_module("benchmarks")


def train(arguments: argparse.Namespace) -> int:
    """Train a model and print how good it is."""
    if (arguments.data is None) == (arguments.train is None) or (arguments.dev and not arguments.train):
        raise InputError("colgen train: expected --data DIR, or --train FILE with an optional --dev FILE")
    template = templates.load_template(arguments.template)
    if template.train is None:
        raise InputError(f"the template {template.name!r} has no training")
    for path in (arguments.train, arguments.dev):
        if path is not None and not path.is_file():
            raise InputError(f"{path}: expected a file")
    if arguments.train is not None and not template.train_files:
        raise InputError(f"the template {template.name!r} learns from a folder: use --data DIR")
    chosen = option_values(options_of(arguments), template.train_options)
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
    show_figures(arguments, template.name, train_model(template.train, options))
    return PROVED


def train_model(make: Callable[[TrainOptions], TrainedModel], options: TrainOptions) -> list[Figure]:
    """Train a model, write it, and return figures of its quality."""
    started = time.perf_counter()
    trained = make(options)
    trained.model.save(options.model)
    options.say(f"wrote {options.model}")
    figures = [*trained.measure()]
    return [*figures, Figure("seconds", time.perf_counter() - started, "s", 1, "reading, training and testing")]

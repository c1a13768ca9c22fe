"""``colgen templates`` and ``colgen example``: the installed templates, their options, and small instances."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.option import Option
from colgen.cli.output import say
from colgen.cli.template import Template
from colgen.core.errors import ColgenError, InputError
from colgen.core.text import is_terminal, wrap

_Value = TypeVar("_Value")


def describe(arguments: argparse.Namespace) -> int:
    """List the templates, or describe one."""
    if arguments.template is not None:
        print(wrap("\n".join(_describe(templates.load_template(arguments.template)))))
        return PROVED
    titles, broken = _for_each(templates.title_of)
    if titles:
        table = Table("template", "solves", box=None, pad_edge=False)
        for name, title in titles.items():
            table.add_row(name, Text(title))
        Console().print(table)
        print("\n`colgen templates NAME` describes one of them.")
    elif not broken:
        print("No problem template is installed.")
    return DIAGNOSTIC if broken else PROVED


def _describe(template: Template) -> Iterator[str]:
    """Yield the commands and options of a template, and the format of its files."""
    yield f"{template.name}: {template.title}"
    yield f"source: {template.source}\n"
    yield f"colgen solve {template.name} FILE" + (" [--option NAME=VALUE ...]" if template.options else "")
    yield from _options(template.options)
    if template.example is not None:
        yield f"colgen example {template.name} > FILE{template.suffix}"
    if template.texts is not None:
        yield f"colgen solve {template.name} FILE --model MODEL [--option NAME=VALUE ...]"
        yield f"colgen solve {template.name} MODEL < FILE"
        yield from _options(template.texts.options)
    if template.train is not None:
        files = " (or --train FILE [--dev FILE])" if template.train_files else ""
        yield f"colgen train {template.name} --data DIR{files} --model MODEL [--option NAME=VALUE ...]"
        yield from _options(template.train_options)
    if template.form:
        yield f"\nFILE: {template.form}"


def _options(options: Mapping[str, Option]) -> Iterator[str]:
    width = max(map(len, options), default=0)
    for name, option in options.items():
        yield f"  {name:{width}}  {option.meaning}"


def load_all() -> tuple[list[Template], int]:
    """Return all templates that can be loaded, and the number of broken ones, which are reported."""
    loaded, broken = _for_each(templates.load_template)
    return list(loaded.values()), broken


def _for_each(function: Callable[[str], _Value]) -> tuple[dict[str, _Value], int]:
    """Return a function's values by the names of templates, without the broken ones, which are reported and counted."""
    found, broken = {}, 0
    for name in templates.template_names():
        try:
            found[name] = function(name)
        except ColgenError as error:
            broken += 1
            say(f"colgen: {error}")
    return found, broken


def example(arguments: argparse.Namespace) -> int:
    """Write the template's example to standard output, byte by byte."""
    template = templates.load_template(arguments.template)
    if template.example is None:
        raise InputError(f"the template {template.name!r} has no example")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"example{template.suffix}"
        template.example(path)
        content = path.read_bytes()
    where, binary = f"colgen example {template.name} > example{template.suffix}", b"\0" in content
    if binary and is_terminal(sys.stdout):
        raise InputError(f"the example is binary and cannot be shown on a terminal: use `{where}`")
    if template.suffix and not is_terminal(sys.stdout):
        what = "the example is binary: " if binary else ""
        say(f"colgen: {what}save it to a file whose name ends in {template.suffix}, as in `{where}`")
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    return PROVED

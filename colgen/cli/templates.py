"""``colgen templates`` and ``colgen example``: the installed templates, their options, and small instances."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.table import Table
from rich.text import Text

from colgen.cli import template as templates
from colgen.cli.arguments import DIAGNOSTIC, PROVED
from colgen.cli.option import Option
from colgen.cli.output import console, say
from colgen.cli.template import Template
from colgen.core.errors import ColgenError, InputError
from colgen.core.text import is_terminal


def describe(arguments: argparse.Namespace) -> int:
    """List the templates, or describe one."""
    if arguments.template is not None:
        _describe(templates.load_template(arguments.template))
        return PROVED
    loaded, broken = load_all()
    if loaded:
        table = Table("template", "solves", "source")
        for template in loaded:
            table.add_row(template.name, Text(template.title), Text(template.source))
        console().print(table)
    elif not broken:
        print("No problem template is installed.")
    return DIAGNOSTIC if broken else PROVED


def _describe(template: Template) -> None:
    """Print commands and options of a template."""
    print(f"{template.name}: {template.title}\nsource: {template.source}\n")
    print(f"colgen solve {template.name} FILE" + (" [--option NAME=VALUE ...]" if template.options else ""))
    _print_options(template.options)
    if template.example is not None:
        print(f"colgen example {template.name} > FILE{template.suffix}")
    if template.texts is not None:
        print(f"colgen solve {template.name} FILE --model MODEL [--option NAME=VALUE ...]")
        print(f"colgen solve {template.name} MODEL < FILE")
        _print_options(template.texts.options)
    if template.train is not None:
        files = " (or --train FILE [--dev FILE])" if template.train_files else ""
        print(f"colgen train {template.name} --data DIR{files} --model MODEL [--option NAME=VALUE ...]")
        _print_options(template.train_options)
    if template.form:
        print(f"\nFILE: {template.form}")


def _print_options(options: Mapping[str, Option]) -> None:
    width = max(map(len, options), default=0)
    for name, option in options.items():
        print(f"  {name:{width}}  {option.meaning}")


def load_all() -> tuple[list[Template], int]:
    """Return all templates that can be loaded, and the number of broken ones, which are reported."""
    loaded, broken = [], 0
    for name in templates.template_names():
        try:
            loaded.append(templates.load_template(name))
        except ColgenError as error:
            broken += 1
            say(f"colgen: {error}")
    return loaded, broken


def example(arguments: argparse.Namespace) -> int:
    """Write the template's example to standard output, byte by byte."""
    template = templates.load_template(arguments.template)
    if template.example is None:
        raise InputError(f"the template {template.name!r} has no example")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"example{template.suffix}"
        template.example(path)
        content = path.read_bytes()
    where = f"colgen example {template.name} > example{template.suffix}"
    if b"\0" in content and is_terminal(sys.stdout):
        raise InputError(f"the example is binary and cannot be shown on a terminal: use `{where}`")
    if template.suffix and not is_terminal(sys.stdout):
        say(f"colgen: save it to a file whose name ends in {template.suffix}, as `colgen solve` requires")
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    return PROVED

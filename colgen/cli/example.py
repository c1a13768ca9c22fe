"""``colgen example``: a small instance, as the template's files are."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from colgen.cli import template as templates
from colgen.cli.arguments import PROVED
from colgen.cli.output import say
from colgen.core.errors import InputError
from colgen.core.wording import is_terminal


def example(arguments: argparse.Namespace) -> int:
    """Write the template's example to the standard output, byte by byte."""
    template = templates.load_template(arguments.template)
    if template.example is None:
        raise InputError(f"the template {template.name!r} has no example")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"example{template.suffix}"
        template.example(path)
        content = path.read_bytes()
    where = f"colgen example {template.name} > example{template.suffix}"
    if b"\0" in content and is_terminal(sys.stdout):
        raise InputError(f"the example is no text, and no terminal shows it: `{where}` writes it to a file")
    if template.suffix and not is_terminal(sys.stdout):
        say(f"colgen: `colgen solve` takes it from a file whose name ends in {template.suffix}")
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    return PROVED

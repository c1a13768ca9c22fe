"""What the documentation's generator is told besides mkdocs.yml: roles in docstrings, and the index of the solvers."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parents[1]

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`(~?)([\w.]+)`")


class Roles(griffe.Extension):
    """Turns the roles of docstrings into links, where the thing has a place on some page, and into code elsewhere."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(lambda match: _link(obj, *match.groups()), obj.docstring.value)


def _link(obj: griffe.Object, tilde: str, name: str) -> str:
    shown = name.rpartition(".")[2] if tilde else name
    try:
        path = obj.resolve(name)
    except griffe.NameResolutionError:
        path = name
    return f'<autoref identifier="{path}" optional><code>{shown}</code></autoref>'


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the index of the solvers where a page asks for it."""
    return markdown.replace("<!-- solvers -->", _solvers()) if "<!-- solvers -->" in markdown else markdown


def _solvers() -> str:
    """A table for each folder of `solvers`, a line for each module: the first of its docstring."""
    lines = []
    for folder in sorted(path.parent for path in (ROOT / "solvers").glob("*/__init__.py")):
        lines += ["", f"## {folder.name}", "", first_line(folder / "__init__.py"), ""]
        lines += ["| module | what it solves |", "| --- | --- |"]
        modules = sorted(folder.glob("[!_]*.py"))
        lines += [f"| `solvers.{folder.name}.{path.stem}` | {first_line(path)} |" for path in modules]
    return "\n".join(lines)


def first_line(path: Path) -> str:
    """The first sentence of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return ROLE.sub(r"`\2`", " ".join(docstring.split("\n\n")[0].split())).replace("|", "\\|")

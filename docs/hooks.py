"""Hooks of mkdocs: resolve roles in docstrings, and insert generated text into pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parents[1]

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`(~?)([\w.]+)`")


class Roles(griffe.Extension):
    """Turn roles of docstrings into links if their target is on some page, and into code otherwise."""

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
    """Replace the placeholders of a page: the index of the solvers, the benchmarks, the version and its date."""
    for name, make in PLACEHOLDERS.items():
        if f"<!-- {name} -->" in markdown:
            markdown = markdown.replace(f"<!-- {name} -->", make())
    return markdown


def _solvers() -> str:
    """Return a table for each folder of `solvers`, with the first sentence of each module's docstring."""
    lines = []
    for folder in sorted(path.parent for path in (ROOT / "solvers").glob("*/__init__.py")):
        lines += ["", f"## {folder.name}", "", first_line(folder / "__init__.py"), ""]
        lines += ["| module | problem |", "| --- | --- |"]
        modules = sorted(folder.glob("[!_]*.py"))
        lines += [f"| `colgen.solvers.{folder.name}.{path.stem}` | {first_line(path)} |" for path in modules]
    return "\n".join(lines)


def first_line(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return ROLE.sub(r"`\2`", " ".join(docstring.split("\n\n")[0].split())).replace("|", "\\|")


def _benchmarks() -> str:
    """Return the page of `benchmarks/`, with paths of pictures relative to this site's pages."""
    return (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8").replace("](../docs/", "](")


def _citation_field(field: str) -> str:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    return re.search(rf"^{field}: (.*)$", citation, re.MULTILINE)[1]  # type: ignore[index]


PLACEHOLDERS: dict[str, Callable[[], str]] = {
    "solvers": _solvers,
    "benchmarks": _benchmarks,
    "version": lambda: _citation_field("version"),
    "date": lambda: _citation_field("date-released"),
}
"""Functions that return the text for a placeholder `<!-- name -->`."""

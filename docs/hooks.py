"""Hooks of mkdocs: resolve roles in docstrings, link names to the pages that use them, insert generated text."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import griffe
import nbformat

ROOT = Path(__file__).parents[1]

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`(~?)([\w.]+)`")


BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r"^# (.*)$", re.MULTILINE)
USES = 4
"""Largest number of pages that the reference lists below a name."""


class Roles(griffe.Extension):
    """Turn roles of docstrings into links, and list the pages whose code uses a name.

    A role whose target is on no page becomes code.
    """

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(lambda match: _link(obj, *match.groups()), obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Add the pages that use them to the docstrings of a package's names."""
        seen: list[griffe.Object] = []
        for name, pages in _uses().items():
            if name.startswith(f"{pkg.path}."):
                try:
                    target = pkg[name.removeprefix(f"{pkg.path}.")]
                    found = target.final_target if isinstance(target, griffe.Alias) else target
                except (KeyError, griffe.AliasResolutionError):
                    continue
                if found.docstring is not None and found not in seen:
                    seen.append(found)
                    links = [f'<a href="../{page}.html">{title}</a>' for _, page, title in sorted(pages)[:USES]]
                    found.docstring.parsed.append(griffe.DocstringSectionText(f"Used in {', '.join(links)}."))


@cache
def _uses() -> dict[str, list[tuple[int, str, str]]]:
    """Return, for each dotted name in the code of pages and notebooks, minus its uses, the page and its title."""
    uses: dict[str, list[tuple[int, str, str]]] = {}
    for page, title, code in _code():
        tree = ast.parse(code)
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        origin = {"colgen": "colgen"}
        for node in imports:
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            origin |= {name.asname or name.name: f"{prefix}{name.name}" for name in node.names}
        names = (ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute))
        heads = ((origin.get(name.partition(".")[0]), name) for name in names)
        for name, count in Counter(".".join([head, *name.split(".")[1:]]) for head, name in heads if head).items():
            uses.setdefault(name, []).append((-count, page, title))
    return uses


def _code() -> Iterator[tuple[str, str, str]]:
    """Yield each page without its suffix, its title and its code."""
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        title = TITLE.search(text)
        name = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        yield name, title[1] if title else name, "\n".join(BLOCK.findall(text))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        title = TITLE.search(cells[0].source)
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        code = re.sub(r"^[%!].*$", "", code, flags=re.MULTILINE)
        yield f"notebooks/{path.stem}", title[1].partition(":")[0] if title else path.stem, code


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


def on_page_content(content: str, **_: Any) -> str:
    """Exclude source code from the search; mkdocs calls this for every page."""
    mark = '<details class="mkdocstrings-source"'
    return content.replace(mark, f"{mark} data-search-exclude")


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

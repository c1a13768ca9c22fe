"""Notebooks as pages, with what they print and draw.

`COLGEN_NOTEBOOKS=run mkdocs build`, which is what `make docs` does, executes those whose outputs are not kept from a
former build with the same notebook and the same code.  Without the variable nothing is executed: pages show what is
kept, and else the code alone.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "notebooks"
MOST = 600
"""Seconds that a cell may take on a slow machine."""

FRAGMENT = re.compile(r'<div data-shown="([\w.]+)"></div>')
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")

_shown: dict[str, str] = {}
"""HTML that results and frames show themselves by: put into the page after Markdown has been read."""


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add a page for each notebook, and its pictures: called by mkdocs once it knows the files of docs/."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = _with_outputs(path)
        pictures: dict[str, bytes] = {}
        text = "\n\n".join(_parts(path.stem, notebook, pictures))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def on_page_content(content: str, page: Page, **_: Any) -> str:
    """Put in what results and frames show of themselves: called by mkdocs for every page."""
    return FRAGMENT.sub(lambda match: f'<div class="shown">{_shown[match[1]]}</div>', content)


def _with_outputs(path: Path) -> Any:
    """The notebook with outputs of the present code; where nothing may be executed, of that which last ran it."""
    text = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    kept = KEPT / f"{path.stem}-{text}-{_code()}.ipynb"
    may_run = os.environ.get("COLGEN_NOTEBOOKS") == "run"
    found = kept if may_run else next(KEPT.glob(f"{path.stem}-{text}-*.ipynb"), kept)
    if found.is_file():
        return nbformat.read(found, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    if may_run:
        from nbclient import NotebookClient

        where = {"metadata": {"path": str(path.parent)}}
        NotebookClient(notebook, timeout=MOST, resources=where).execute()
        KEPT.mkdir(parents=True, exist_ok=True)
        for old in KEPT.glob(f"{path.stem}-*.ipynb"):
            old.unlink()
        nbformat.write(notebook, kept)
    return notebook


@cache
def _code() -> str:
    """A digest of all modules that a notebook may import."""
    found = hashlib.sha256()
    for package in ("colgen", "problems", "solvers"):
        for path in sorted((ROOT / package).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _parts(name: str, notebook: Any, pictures: dict[str, bytes]) -> Iterator[str]:
    """The page's text, piece by piece; what is drawn goes to `pictures`."""
    heading = name
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            yield LINK.sub(lambda match: f"]({_from_page(match[1])}", cell.source)
            heading = next(iter(re.findall(r"^#+ (.*)", cell.source, re.MULTILINE)), heading)
        elif cell.source.strip():
            yield f"```python\n{cell.source}\n```"
            for k, output in enumerate(cell.get("outputs", ())):
                yield from _output(f"{name}_{number}_{k}", output, heading, pictures)
        if number == 0:
            yield f"*The notebook itself is `notebooks/{name}.ipynb`.*"


def _from_page(link: str) -> str:
    """A notebook's link, which leads from `notebooks/`, as the page's, which stands in `docs/notebooks/`."""
    return link.replace("../docs/", "../") if link.startswith("../docs/") else link.replace(".ipynb", ".md")


def _output(name: str, output: Any, heading: str, pictures: dict[str, bytes]) -> Iterator[str]:
    if output.output_type == "stream":
        if output.name == "stdout":
            yield _said(output.text)
    elif output.output_type in ("display_data", "execute_result"):
        data = output.data
        if "image/png" in data:
            pictures[f"{name}.png"] = base64.b64decode(data["image/png"])
            yield f"![{heading}]({name}.png)"
        elif "text/html" in data:
            _shown[name] = data["text/html"]
            yield f'<div data-shown="{name}"></div>'
        else:
            yield _said(data.get("text/plain", ""))


def _said(text: str) -> str:
    """What was printed, as one block of HTML: blank lines must not end it."""
    lines = html.escape(text.rstrip("\n")).replace("\n", "&#10;")
    return f'<pre class="said"><code>{lines}</code></pre>'

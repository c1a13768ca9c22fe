"""Convert notebooks into pages with their outputs.

`COLGEN_NOTEBOOKS=run mkdocs build`, used by `make docs`, executes each notebook unless its outputs are stored from a
build with the same notebook and the same code.  Without the variable nothing is executed: pages show stored outputs,
or the code alone.
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
STORED = ROOT / "build" / "notebooks"
CELL_TIMEOUT = 600
"""Limit in seconds for a cell on a slow machine."""

PICTURES = ("draw_routes(", "plotting.bounds(", "draw_colouring(")
"""Calls in the gallery whose pictures the home page shows."""

FRAGMENT = re.compile(r'<div data-shown="([\w.]+)"></div>')
FOLD = {
    '<div data-fold="start"></div>': "<details><summary>Solution</summary>",
    '<div data-fold="end"></div>': "</details>",
}
"""Marks before and after the cells of a solution, and the HTML that replaces them."""
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")

_html_outputs: dict[str, str] = {}
"""HTML of results and frames, inserted into the page after Markdown has been converted."""


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add a page for each notebook, and its pictures; mkdocs calls this after listing the files of docs/."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = _with_outputs(path)
        pictures: dict[str, bytes] = {}
        text = "\n\n".join(_parts(path.stem, notebook, pictures))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    return files


def on_page_markdown(markdown: str, files: Files, **_: Any) -> str:
    """Insert the pictures of the home page; mkdocs calls this for every page."""
    return markdown.replace("<!-- pictures -->", _pictures(files)) if "<!-- pictures -->" in markdown else markdown


def _pictures(files: Files) -> str:
    """Return three pictures of the gallery as links to it; where it has not been executed, another picture."""
    cells = nbformat.read(ROOT / "notebooks" / "gallery.ipynb", as_version=4).cells
    shown, heading = [], ""
    for number, cell in enumerate(cells):
        heading = next(iter(re.findall(r"^## (.*)", cell.source, re.MULTILINE)), heading)
        name = f"notebooks/gallery_{number}_0.png"
        if any(call in cell.source for call in PICTURES) and files.get_file_from_path(name):
            anchor = re.sub(r"\W+", "-", heading.lower())
            shown.append(f"[![{heading}]({name})<br>{heading}](notebooks/gallery.md#{anchor})")
    if len(shown) != len(PICTURES):
        shown = ["![Six delivery routes, and the two bounds of the run that meet at their length](answer.png)"]
    return '<div class="pictures" markdown>\n\n' + "\n".join(shown) + "\n\n</div>"


def on_page_content(content: str, page: Page, **_: Any) -> str:
    """Insert the HTML of results and frames, and fold solutions; mkdocs calls this for every page."""
    for mark, tag in FOLD.items():
        content = content.replace(mark, tag)
    return FRAGMENT.sub(lambda match: f'<div class="shown">{_html_outputs[match[1]]}</div>', content)


def _with_outputs(path: Path) -> Any:
    """Return the notebook with outputs of the current code, or of the last code that ran it if it may not run now."""
    text = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    stored = STORED / f"{path.stem}-{text}-{_code()}.ipynb"
    may_run = os.environ.get("COLGEN_NOTEBOOKS") == "run"
    found = stored if may_run else next(STORED.glob(f"{path.stem}-{text}-*.ipynb"), stored)
    if found.is_file():
        return nbformat.read(found, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    if may_run:
        from nbclient import NotebookClient

        resources = {"metadata": {"path": str(path.parent)}}
        NotebookClient(notebook, timeout=CELL_TIMEOUT, coalesce_streams=True, resources=resources).execute()
        STORED.mkdir(parents=True, exist_ok=True)
        for old in STORED.glob(f"{path.stem}-*.ipynb"):
            old.unlink()
        nbformat.write(notebook, stored)
    return notebook


@cache
def _code() -> str:
    """Return a digest of all modules that a notebook may import."""
    digest = hashlib.sha256()
    for package in ("colgen", "problems", "solvers"):
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _parts(name: str, notebook: Any, pictures: dict[str, bytes]) -> Iterator[str]:
    """Yield the parts of the page's text, and add its images to `pictures`.  Cells tagged as a solution are folded."""
    heading = name
    in_solution = False
    start, end = FOLD
    for number, cell in enumerate([*notebook.cells, nbformat.v4.new_code_cell()]):
        if in_solution != ("solution" in cell.metadata.get("tags", ())):
            yield end if in_solution else start
            in_solution = not in_solution
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
    """Convert a link relative to `notebooks/` into one relative to `docs/notebooks/`."""
    return link.replace("../docs/", "../") if link.startswith("../docs/") else link.replace(".ipynb", ".md")


def _output(name: str, output: Any, heading: str, pictures: dict[str, bytes]) -> Iterator[str]:
    if output.output_type == "stream":
        if output.name == "stdout":
            yield _printed(output.text)
    elif output.output_type in ("display_data", "execute_result"):
        data = output.data
        if "image/png" in data:
            pictures[f"{name}.png"] = base64.b64decode(data["image/png"])
            yield f"![{heading}]({name}.png)"
        elif "text/html" in data:
            # Without the attributes of pandas, the theme styles its tables as all others.
            _html_outputs[name] = data["text/html"].replace(' border="1" class="dataframe"', "")
            yield f'<div data-shown="{name}"></div>'
        else:
            yield _printed(data.get("text/plain", ""))


def _printed(text: str) -> str:
    """Return printed text as one HTML block, in which blank lines are encoded because they would end it."""
    lines = html.escape(text.rstrip("\n")).replace("\n", "&#10;")
    return f'<pre class="printed"><code>{lines}</code></pre>'

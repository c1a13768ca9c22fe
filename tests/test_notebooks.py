"""Every notebook runs from top to bottom; those of all templates and of a proof in the fast tests."""

import json
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs the dev extra")
nbclient = pytest.importorskip("nbclient", reason="needs the dev extra")

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FAST = ("overview", "certificate")
WITHOUT_PICTURES = ("certificate", "learning")
MOST = 100
"""Seconds that a notebook may take."""


OF_NO_TEMPLATE = {"overview", "gallery", "classroom", "certificate", "decomposition", "learning"}
OF_THE_ENGINE = {"stabilization", "branching", "cuts"}


def templates():
    return {path.parent.name for path in (ROOT / "problems").glob("*/template.py")}


def cells(path):
    return ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]


def test_there_is_a_notebook_for_each_template_and_for_what_is_taught():
    assert {path.stem for path in NOTEBOOKS} == templates() | OF_NO_TEMPLATE | OF_THE_ENGINE


@pytest.mark.parametrize("name", sorted(templates() | OF_THE_ENGINE))
def test_a_notebook_asks_a_question_measures_and_ends_with_an_exercise_that_is_solved(name):
    first, *others = cells(ROOT / "notebooks" / f"{name}.ipynb")
    assert re.search(r"question[^:]*: [^*]+\?\*\*", " ".join(first.split()))
    assert any(re.search(r"\b(compare|ablation)\(", cell) for cell in others)
    exercise = next(k for k, cell in enumerate(others) if cell.startswith("## Exercise"))
    assert "*Solution" in "".join(others[exercise:])
    assert all(cell.startswith("## ") is False for cell in others[exercise + 1 :])


def test_every_notebook_has_its_page():
    listed = re.findall(r"notebooks/(\w+)\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in FAST else pytest.mark.slow) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=MOST, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    if path.stem == "certificate":
        said = "".join(o.get("text", "") for c in notebook.cells for o in c.get("outputs", ()))
        assert "Proved optimal: 453." in said
        assert "lie.jsonl, line 5: the least reduced cost of pricing problem 0 is -2, not 0\nexit code 4" in said
    pictures = [o for c in notebook.cells for o in c.get("outputs", ()) if "image/png" in o.get("data", {})]
    assert bool(pictures) != (path.stem in WITHOUT_PICTURES)

"""Every notebook runs from top to bottom; that of all templates in the fast tests."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs the dev extra")
nbclient = pytest.importorskip("nbclient", reason="needs the dev extra")

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FAST = ("overview",)
MOST = 100
"""Seconds that a notebook may take."""


def test_there_is_a_notebook_for_each_template_and_one_for_all():
    templates = {path.parent.name for path in (ROOT / "problems").glob("*/template.py")}
    assert {path.stem for path in NOTEBOOKS} == templates | {"overview"}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in FAST else pytest.mark.slow) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=MOST, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    pictures = [o for c in notebook.cells for o in c.get("outputs", ()) if "image/png" in o.get("data", {})]
    assert pictures

"""Every notebook runs from top to bottom; those of all templates and of a proof in the fast tests."""

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


def test_there_is_a_notebook_for_each_template_one_for_all_a_proof_by_hand_and_decompositions():
    templates = {path.parent.name for path in (ROOT / "problems").glob("*/template.py")}
    assert {path.stem for path in NOTEBOOKS} == templates | {"overview", "certificate", "decomposition", "learning"}


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
        assert "lie.jsonl, line 5: the least reduced cost of pricing problem 0 is -2, not 0\nexit code 1" in said
    pictures = [o for c in notebook.cells for o in c.get("outputs", ()) if "image/png" in o.get("data", {})]
    assert bool(pictures) != (path.stem in WITHOUT_PICTURES)

"""Every notebook runs from top to bottom, without PyTorch and without data; three of them run in the fast tests.

Each asks a question in its first cell, and its last cell checks and prints the answer.
"""

import importlib.util
import json
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs the dev extra")
nbclient = pytest.importorskip("nbclient", reason="needs the dev extra")

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FAST = ("overview", "certificate", "learning")
WITHOUT_PICTURES = ("certificate",)
TIME_LIMIT = 100
"""Limit in seconds for a cell."""
WITHOUT_TORCH = """
import sys


class WithoutTorch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, WithoutTorch)
"""


OF_NO_TEMPLATE = {
    "overview",
    "gallery",
    "classroom",
    "certificate",
    "decisions",
    "decomposition",
    "learning",
    "networks",
}
OF_THE_ENGINE = {"stabilization", "branching", "cuts"}


def templates():
    return {path.parent.name for path in (ROOT / "problems").glob("*/template.py")}


def read(name):
    return json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def cells(name):
    return ["".join(cell["source"]) for cell in read(name)]


def test_there_is_a_notebook_for_each_template_and_topic():
    assert {path.stem for path in NOTEBOOKS} == templates() | OF_NO_TEMPLATE | OF_THE_ENGINE


@pytest.mark.parametrize("name", sorted(templates() | OF_THE_ENGINE))
def test_notebook_has_a_measurement_and_an_exercise_before_the_answer(name):
    assert any(re.search(r"\b(compare|ablation)\(", cell) for cell in cells(name))
    assert [cell.splitlines()[0] for cell in cells(name) if cell.startswith("## ")][-2:] == ["## Exercise", "## Answer"]


@pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])
def test_notebook_asks_a_question_and_ends_with_its_answer(name):
    first, *_, heading, last = cells(name)
    assert re.search(r"question[^:]*: [^*]+\?\*\*", " ".join(first.split()))
    assert heading.startswith("## Answer")
    assert len(re.findall(r"^assert ", last, re.MULTILINE)) >= 1
    assert last.count("print(") == 1


@pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])
def test_solution_follows_its_exercise_and_is_folded(name):
    exercise = solution = False
    for cell in read(name):
        text, in_solution = "".join(cell["source"]), "solution" in cell["metadata"].get("tags", ())
        assert in_solution or "*Solution" not in text
        assert cell["metadata"].get("jupyter", {}).get("source_hidden", False) == in_solution  # JupyterLab folds these
        assert solution or not in_solution or exercise, "a solution without an exercise"
        exercise, solution = text.startswith("## Exercise"), in_solution


def test_no_notebook_reads_data():
    for path in NOTEBOOKS:
        assert not re.search("COLGEN_DATA|shared/", path.read_text(encoding="utf-8")), path.stem


def test_every_notebook_has_its_page():
    listed = re.findall(r"notebooks/(\w+)\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(listed) == [path.stem for path in NOTEBOOKS]


@pytest.fixture
def pages():
    pytest.importorskip("mkdocs", reason="needs the docs extra")
    spec = importlib.util.spec_from_file_location("pages_of_notebooks", ROOT / "docs" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_page_shows_tables_of_pandas_in_its_own_style(pages):
    pandas = pytest.importorskip("pandas", reason="needs the notebooks extra")
    v4 = nbformat.v4
    shown = v4.new_output("execute_result", {"text/html": pandas.DataFrame({"a": [1]}).to_html()})
    notebook = v4.new_notebook(cells=[v4.new_code_cell("frame", outputs=[shown])])
    *_, fragment, _ = pages._parts("page", notebook, {})
    assert "<table>" in pages.on_page_content(fragment, None)


def test_a_page_folds_the_cells_of_a_solution_and_nothing_else(pages):
    markdown = pytest.importorskip("markdown", reason="needs the docs extra")
    solution = {"metadata": {"tags": ["solution"]}}
    v4 = nbformat.v4
    notebook = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# Title"),
            v4.new_code_cell("first = 1", **solution),
            v4.new_markdown_cell("*second*", **solution),
            v4.new_markdown_cell("## Answer"),
            v4.new_code_cell("third = 3", **solution),
        ]
    )
    text = "\n\n".join(pages._parts("one", notebook, {}))
    page = pages.on_page_content(markdown.markdown(text, extensions=["pymdownx.superfences"]), page=None)
    folded = re.findall(r"<details><summary>Solution</summary>(.*?)</details>", page, re.DOTALL)
    assert "first" in folded[0]
    assert "<em>second</em>" in folded[0]
    assert "third" in folded[1]
    assert "Title" not in folded[0]
    assert "Answer" not in "".join(folded)
    assert page.count("<details>") == page.count("</details>") == 2


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=() if path.stem in FAST else pytest.mark.slow) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_TORCH))
    client = nbclient.NotebookClient(notebook, timeout=TIME_LIMIT, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    if path.stem == "certificate":
        output = "".join(o.get("text", "") for c in notebook.cells for o in c.get("outputs", ()))
        assert "Proved optimal: 453." in output
        assert re.search(r"lie\.jsonl, line 5: .*pricing problem 0 .*-2, not 0\nexit code 4", output)
    pictures = [o for c in notebook.cells for o in c.get("outputs", ()) if "image/png" in o.get("data", {})]
    assert bool(pictures) != (path.stem in WITHOUT_PICTURES)


@pytest.mark.slow
def test_learning_runs_with_torch():
    pytest.importorskip("torch")
    notebook = nbformat.read(ROOT / "notebooks" / "learning.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=TIME_LIMIT).execute()
    assert any("a network finds" in o.get("text", "") for c in notebook.cells for o in c.get("outputs", ()))

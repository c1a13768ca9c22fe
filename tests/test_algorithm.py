"""The page of the whole algorithm links to functions that exist; promises are cited where the code keeps them."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "algorithm.md").read_text(encoding="utf-8")
LINKS = sorted(set(re.findall(r"\]\[(colgen[\w.]+)\]", PAGE)))
PROMISES = re.findall(r"^(\d+)\. \*\*", (ROOT / "docs" / "promises.md").read_text(encoding="utf-8"), re.MULTILINE)


def find(name):
    """Return the object of a dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("name", LINKS)
def test_a_link_leads_to_a_documented_function(name):
    found = find(name)
    assert inspect.getdoc(found), name
    assert re.search(rf"\[`(?:\w+\.)?{found.__name__}`\]\[{re.escape(name)}\]", PAGE), "the text is another name"


@pytest.fixture(scope="module")
def documented():
    """The objects on the API pages, and the modules that are shown completely."""
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    names = [name for page in pages for name in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.M)]
    extras = {
        "colgen.torch",
        "colgen.torch_sums",
        "colgen.jax",
        "colgen.transformers",
        "colgen.problems.learning_heads",
    }
    return [find(name) for name in names if name not in extras]


@pytest.mark.parametrize("name", LINKS)
def test_each_function_is_on_an_api_page(name, documented):
    shown = {id(each) for each in documented}
    assert id(find(name)) in shown or id(find(name.rpartition(".")[0])) in shown


def test_each_function_of_the_source_page_is_linked():
    page = (ROOT / "docs" / "api" / "algorithm.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: (\S+)", page, re.MULTILINE)) <= set(LINKS)


def test_the_pseudocode_has_at_most_300_lines():
    blocks = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == len(re.findall(r"^## \d", PAGE, re.MULTILINE))
    assert sum(block.count("\n") for block in blocks) <= 300


@pytest.mark.parametrize("folders", [("colgen", "problems", "solvers"), ("tests",)])
def test_each_promise_is_cited(folders):
    """By at least one comment or docstring of the code, and by at least one test; numbers that do not exist are not."""
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py") if path != Path(__file__)]
    cited = {n for path in files for n in re.findall(r"[Pp]romise (\d+)", path.read_text(encoding="utf-8"))}
    assert [str(k + 1) for k in range(len(PROMISES))] == PROMISES
    assert cited == set(PROMISES)

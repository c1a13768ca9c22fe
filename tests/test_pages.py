"""The code that the pages show runs, and does what they say."""

import re
from pathlib import Path

import colgen
from colgen import Termination

ROOT = Path(__file__).parent.parent


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_example_of_the_readme(capsys):
    (example,) = blocks("README.md")
    names: dict = {}
    exec(compile(example, "README.md", "exec"), names)
    result = names["result"]
    assert result.is_optimal
    assert result.objective == 453
    assert result.root_bound <= 452.25 + 1e-6
    assert capsys.readouterr().out.startswith("Proved optimal.\nobjective 453, dual bound 453")
    cut = sum(rolls * pattern for pattern, rolls in result.answer)
    assert (cut >= [97, 610, 395, 211]).all()


def test_page_names_every_termination():
    page = (ROOT / "docs" / "how_it_works.md").read_text(encoding="utf-8")
    assert [reason.name for reason in Termination if f"`{reason.name}`" not in page] == []


def test_page_names_every_diagnostic():
    page = (ROOT / "docs" / "how_it_works.md").read_text(encoding="utf-8")
    names = [name for name in vars(colgen.errors) if name.endswith("Error") and name != "ColgenError"]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_links_of_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"

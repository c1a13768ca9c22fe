"""The code on the pages runs and prints the shown output; links, names and commands on the pages are valid."""

import contextlib
import importlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys

import pytest

import colgen
from colgen import Termination
from colgen.cli.arguments import parse_arguments
from colgen.cli.template import load_template, template_names
from tests.pages import ROOT, blocks

DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
WITH_CODE = [page for page in PAGES if any(language == "python" for language, _ in blocks(f"docs/{page}"))]


def normalize(output):
    """Return an output without differences between runs and machines: seconds become 0, white space one blank."""
    return re.sub(r"\d[\d.e-]* s\b", "0 s", " ".join(output.split()))


def run(page):
    """Execute a page's Python blocks like one script: in order and in one namespace.

    Every output is shown right after its block, except where a page includes a program of the README.  A ```text```
    block is compared with the output; ```console``` shows output that differs between machines.
    """
    names: dict = {"__name__": "__main__"}
    all_blocks = blocks(page)
    for (language, text), (follower, shown) in zip(all_blocks, [*all_blocks[1:], ("", "")], strict=True):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, page, "exec"), names)
            if printed.getvalue() and ("python", text) not in blocks("README.md"):
                assert follower in ("text", "console"), f"{page}: this output is not shown:\n{printed.getvalue()}"
                assert follower == "console" or normalize(printed.getvalue()) == normalize(shown), page
    return names


def test_examples_of_the_readme(capsys):
    programs = [text for language, text in blocks("README.md") if language == "python"]
    assert len(programs) == 2
    for program in programs:
        names: dict = {}
        exec(compile(program, "README.md", "exec"), names)
        (shown,) = re.findall(r"print\(.*  # (Proved optimal\. .*), \.\.\.", program)
        assert normalize(capsys.readouterr().out).startswith(shown)
    result = names["result"]
    assert result.root_bound <= 452.25 + 1e-6
    cut = sum(rolls * pattern for pattern, rolls in result.answer)
    assert (cut >= [97, 610, 395, 211]).all()


def test_picture_of_the_readme_is_drawn_from_a_run(tmp_path, monkeypatch):
    image = pytest.importorskip("matplotlib.image", reason="needs matplotlib, which pictures are drawn with")
    monkeypatch.syspath_prepend(DOCS)
    picture = importlib.import_module("readme_picture")
    monkeypatch.setattr(picture, "PICTURE", tmp_path / "answer.png")
    picture.main()
    drawn, committed = (image.imread(folder / "answer.png") for folder in (tmp_path, DOCS))
    assert drawn.shape == committed.shape
    assert drawn.std() > 0.1


@pytest.mark.parametrize("page", [page for page in WITH_CODE if page != "tutorial.md"])
def test_code_of_a_page_runs_and_prints_the_shown_output(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an empty directory
    run(f"docs/{page}")


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE)
def test_blocks_of_a_page_run_as_one_script(page, tmp_path):
    code = "\n".join(text for language, text in blocks(f"docs/{page}") if language == "python")
    (tmp_path / "page.py").write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_tutorial_ends_with_a_proof_and_its_mistakes_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run("docs/tutorial.md")
    assert names["result"].is_optimal
    assert [line.objective for line in names["comparison"]] == pytest.approx([285, 285])
    assert "<svg" in (tmp_path / "relaxation.html").read_text(encoding="utf-8")
    causes = ["had the opposite sign", "either best() is not exact", "one coefficient explains it"]
    for finding, cause in zip(names["found"].values(), causes, strict=True):
        assert cause in finding.message
    for oracle in names["found"]:
        problem = names["GeneralizedAssignment"](names["small"])
        problem.oracle = oracle
        with pytest.raises(colgen.ColgenError, match=oracle.__name__):
            colgen.solve(problem)


def commands():
    """Yield every command line of the pages, in shell blocks and in running text."""
    for page in ["README.md", *(f"docs/{page}" for page in PAGES)]:
        shell = [line for language, text in blocks(page) if language == "sh" for line in text.splitlines()]
        quoted = re.findall(r"`(colgen [^`]+)`", (ROOT / page).read_text(encoding="utf-8"))
        yield from ((page, line) for line in [*shell, *quoted] if line.startswith("colgen "))


def test_commands_of_the_pages_are_valid(capsys):
    shown = list(commands())
    assert len(shown) > 30
    for page, line in shown:
        words = shlex.split(line.replace("[", "").replace("]", ""), comments=True)  # [--option ...] is optional
        end = next((k for k, word in enumerate(words) if word in ("<", ">", "|")), len(words))
        words = [word for word in words[1:end] if word != "..."]
        if (words[0] in ("solve", "train") and len(words) < 3) or "--help" in words or " solve ... " in line:
            continue  # only names of commands and options
        try:
            arguments = parse_arguments([{"S": "1", "N": "1", "COMMAND": "demo"}.get(word, word) for word in words])
        except SystemExit:
            pytest.fail(f"{page}: {line}: {capsys.readouterr().err}")
        template = getattr(arguments, "template", None)
        assert template in (None, "NAME", "TEMPLATE", *template_names()), f"{page}: {line}"


def test_options_of_the_commands_on_the_pages_exist():
    for page, line in commands():
        command, name = [*line.split(), "", ""][1:3]
        if command not in ("solve", "train") or name not in template_names():
            continue
        template = load_template(name)
        of_texts = {} if template.texts is None else template.texts.options
        known = {**of_texts, **template.options} if command == "solve" else template.train_options
        for option in re.findall(r"--option (\w+)=", line):
            assert option in known, f"{page}: {line}"


def test_page_names_every_termination():
    page = (DOCS / "how_it_works.md").read_text(encoding="utf-8")
    assert [reason.name for reason in Termination if f"`{reason.name}`" not in page] == []


def test_page_names_every_diagnostic():
    page = (DOCS / "when_it_goes_wrong.md").read_text(encoding="utf-8")
    names = [name for name in vars(colgen.core.errors) if name.endswith("Error") and name != "ColgenError"]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_every_public_name_is_in_the_reference():
    # A module in the reference includes all of its public names.
    places = set()
    for page in (DOCS / "api").glob("*.md"):
        places |= set(re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), re.MULTILINE))
    missing = []
    for name in colgen.__all__:
        value = getattr(colgen, name)
        module = getattr(value, "__module__", getattr(value, "__name__", ""))  # a name, or a module
        if f"colgen.{name}" not in places and module not in places:
            missing.append(name)
    assert missing == []


def test_every_template_has_a_page_and_a_reference():
    for template in sorted(path.parent.name for path in (ROOT / "problems").glob("*/template.py")):
        assert (DOCS / "templates" / f"{template}.md").is_file(), template
        assert (DOCS / "api" / f"{template}.md").is_file(), template


def test_glossary_has_the_terms_of_the_project():
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = re.search(r"^## Terms\n(.*?)^## ", (DOCS / "internals.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    quoted = " ".join(re.findall(r"^> ?(.*)$", words[1], re.MULTILINE))
    listed = [re.sub(r" \(.*?\)", "", word).strip(" .") for word in re.split(r",(?![^(]*\))|\. ", quoted)]
    assert len(listed) > 30
    assert [word for word in listed if f"**{word}**" not in glossary] == []


def test_links_of_the_pages_exist():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(DOCS / page for page in PAGES)]:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            path = (page.parent / link).resolve()
            if path.parent == DOCS / "notebooks":  # pages converted from notebooks when the site is built
                path = ROOT / "notebooks" / f"{path.stem}.ipynb"
            assert path.exists(), f"{page.name}: {link}"


def levels(entries):
    """Yield the entries of each level of the navigation."""
    yield entries
    for entry in entries:
        for below in entry.values() if isinstance(entry, dict) else ():
            if isinstance(below, list):
                yield from levels(below)


def test_navigation_is_short_at_every_level_and_lists_every_page():
    yaml = pytest.importorskip("mkdocs.utils.yaml", reason="needs mkdocs, which the documentation is built with")
    top, *others = levels(yaml.yaml_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert len(top) <= 6
    assert [level for level in others if len(level) > 10] == []
    listed = [
        page
        for level in [top, *others]
        for entry in level
        for page in ([entry] if isinstance(entry, str) else entry.values())
    ]
    notebooks = [f"notebooks/{path.stem}.md" for path in (ROOT / "notebooks").glob("*.ipynb")]
    assert sorted(page for page in listed if isinstance(page, str)) == sorted([*PAGES, *notebooks])


def check_site():
    """Return the module that opens the site in a browser."""
    spec = importlib.util.spec_from_file_location("check_site", ROOT / ".ci" / "check_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_words_of_the_field_are_in_titles_headings_or_tags():
    lost = []
    for word, page in check_site().SEARCHES.items():
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        found = re.findall(r"^tags: \[(.*)\]$|^#+ (.*)$", text, re.MULTILINE)
        lost += [] if any(word.lower() in " ".join(pair).lower() for pair in found) else [f"{word}: {page}"]
    assert lost == []


def test_browser_finds_a_page_that_scrolls_sideways_a_console_error_and_a_lost_word(tmp_path, monkeypatch):
    site = check_site()
    paths = site.programs()
    if None in paths:
        pytest.skip("Chromium or chromedriver is not installed")
    body = "<meta name='viewport' content='width=device-width'><main>{}</main>"
    (tmp_path / "wide.html").write_text(body.format("<p style='width: 800px'>a</p>"), encoding="utf-8")
    (tmp_path / "wrong.html").write_text(body.format("<script>nothing()</script>"), encoding="utf-8")
    (tmp_path / "index.html").write_text(body.format("<div style='overflow: auto'><p style='width: 800px'>a</p></div>"))
    monkeypatch.setattr(site, "PAGES", ("index", "wide", "wrong", "none"))
    monkeypatch.setattr(site, "WIDTHS", (390, 1440))
    monkeypatch.setattr(site, "PATIENCE", 1)
    monkeypatch.setattr(site, "SEARCHES", {"Farkas": "how_it_works"})
    with site.browser(*paths) as session:
        wide, *wrong, missing = site.findings(session, tmp_path)
        (lost,) = site.lost_searches(session, tmp_path)
    assert wide.startswith("wide at 390 px: 4")
    assert ["nothing is not defined" in message for message in wrong] == [True, True]
    assert missing == "none: the site has no such page"
    assert lost == "a search for Farkas finds nothing, not how_it_works"


def test_pictures_of_the_home_page_are_drawn_once_in_the_gallery(monkeypatch):
    pytest.importorskip("mkdocs", reason="needs mkdocs, which the documentation is built with")
    monkeypatch.syspath_prepend(DOCS)
    gallery = (ROOT / "notebooks" / "gallery.ipynb").read_text(encoding="utf-8")
    assert [gallery.count(call) for call in importlib.import_module("notebooks").PICTURES] == [1, 1, 1]


def test_the_reference_links_pages_that_use_a_name(monkeypatch):
    pytest.importorskip("griffe", reason="needs griffe, which the documentation is built with")
    monkeypatch.syspath_prepend(DOCS)
    uses = importlib.import_module("hooks")._uses()
    assert "vehicle_routing_by_hand" in {page for _, page, _ in uses["colgen.Labelling"]}
    assert "notebooks/gallery" in {page for _, page, _ in uses["colgen.plotting.bounds"]}
    counts = [count for count, _, _ in uses["colgen.OraclePricing"]]
    assert max(counts) < 0


def test_formulas_in_prose_are_set_as_formulas():
    # Apart from code, formulas, links and tags, a page has no letter with an index and no sum, product or bracket.
    apart = r"^---\n.*?^---$|^```.*?^```$|^    .*?$|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)|<[^>\n]*>"
    formula = r"(?<![\w.$/\\-])[A-Za-zΑ-Ωα-ω]_(?:[A-Za-zα-ω]{1,3}|\d)(?![\w(])|[Σ∈ᵀ⌊⌈Α-Ωα-ω]"
    for page in PAGES:
        prose = re.sub(apart, "", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        assert re.findall(formula, prose) == [], page


def test_formulas_become_mathml(monkeypatch):
    pytest.importorskip("latex2mathml", reason="needs latex2mathml, which the documentation is built with")
    monkeypatch.syspath_prepend(DOCS)
    drawn = importlib.import_module("maths").on_page_content('<span class="arithmatex">\\(x_{1}\\)</span>')
    assert drawn.startswith('<span class="formula"><math')
    assert "<msub><mi>x</mi>" in drawn

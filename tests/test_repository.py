"""One version everywhere, exact versions in constraints.txt, and nothing of one machine in the tree."""

import importlib.metadata
import json
import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import jinja2
import yaml

from colgen.core.renamed import METHODS, RENAMED

ROOT = Path(__file__).parents[1]
PACKAGES = ("colgen", "problems", "solvers")

NOT_OURS = {"__pycache__", "build", "data", "dist", "results", "site"}  # directories that .gitignore names as well
KEPT = {".ci", ".github"}

# The patterns hold no full name or path themselves, so that this file passes its own tests.
REGISTRY = re.compile(r"(?:pypi|pythonhosted|anaconda|npmjs)\.(?:org|io|com|python)\b")
MACHINE_PATH = re.compile(r"(?<![\w.~)}>-])/(?:work|root|tmp|home|Users|opt|mnt)\b")


def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def files(directory: Path = ROOT) -> Iterator[Path]:
    """Return the files of the project: those in git, also in a copy without git."""
    for path in sorted(directory.iterdir()):
        if path.is_dir():
            hidden = path.name.startswith(".") and path.name not in KEPT
            generated = path.name == "__pycache__" or (directory == ROOT and path.name in NOT_OURS)
            if not (hidden or generated or path.name.endswith(".egg-info")):
                yield from files(path)
        elif path.suffix not in {".pyc", ".nbi", ".nbc"}:
            yield path


def lines_that_match(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        text = text.replace("\\n", " \n")  # a notebook keeps the line ends of its cells escaped
        matching = [line.strip() for line in text.splitlines() if pattern.search(line)]
        found += [f"{path.relative_to(ROOT)}: {line}" for line in matching]
    return found


def test_version_is_the_same_everywhere():
    version = pyproject()["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert importlib.metadata.version("colgen") == version
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [version]
    released = re.findall(r"^## \[(\d[^]]*)\] - (\d{4}-\d{2}-\d{2})$", changelog, re.MULTILINE)
    assert released[0][0] == version
    assert re.findall(r"^date-released: (\S+)$", citation, re.MULTILINE) == [released[0][1]]


def test_one_sentence_describes_the_project():
    sentence = pyproject()["project"]["description"]
    sentence = sentence[0].lower() + sentence[1:]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    for page in ("README.md", "docs/index.md"):
        assert f"# colgen colgen is {sentence}." in " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert citation["abstract"].strip() == f"colgen is {sentence}."


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


def test_the_package_is_marked_as_typed():
    assert (ROOT / "colgen" / "py.typed").is_file()


def test_constraints_are_names_and_versions_alone():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!]+", line)] == []


def test_constraints_pin_every_declared_requirement():
    def normal(name: str) -> str:
        return re.sub(r"[-_.]+", "-", name).lower()

    project = pyproject()["project"]
    declared = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    pinned = {normal(line.partition("==")[0]) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {normal(re.match(r"[\w.-]+", requirement)[0]) for requirement in declared} - pinned == set()
    assert "colgen" not in pinned


def test_the_conda_recipe_has_the_requirements_of_the_project():
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    recipe = jinja2.Template((ROOT / ".ci" / "conda" / "meta.yaml").read_text(encoding="utf-8")).render(
        load_file_data=lambda name, from_recipe_dir: pyproject(),
        load_file_regex=lambda load_file, from_recipe_dir, regex_pattern: re.match(regex_pattern, constraints),
        PYTHON="python",
    )
    asked, project = yaml.safe_load(recipe), pyproject()["project"]
    needed = [requirement.replace(">=", " >=") for requirement in project["dependencies"]]
    assert asked["requirements"]["run"] == [f"python {project['requires-python']}", *needed]
    most = [re.split(" <=", requirement) for requirement in asked["requirements"]["run_constrained"]]
    assert [name for name, _ in most] == [requirement.partition(" ")[0] for requirement in needed]
    assert all(f"{name}=={version}" in constraints.splitlines() for name, version in most)


def test_the_container_is_built_from_the_constraints():
    lines = (ROOT / ".ci" / "Dockerfile").read_text(encoding="utf-8")
    assert "--constraint constraints.txt" in lines
    assert "FROM python:" + pyproject()["project"]["requires-python"].removeprefix(">=") in lines


def test_no_file_names_a_package_registry():
    assert lines_that_match(REGISTRY) == []


def test_no_file_names_a_path_of_one_machine():
    assert lines_that_match(MACHINE_PATH) == []


def test_the_patterns_find_what_they_should():
    assert REGISTRY.search("https://" + "pypi" + ".org/simple")
    assert REGISTRY.search("files." + "pythonhosted" + ".org")
    for path in ("tmp", "root/.cache", "home/ann/colgen", "work/main"):
        assert MACHINE_PATH.search("see " + "/" + path)
        assert MACHINE_PATH.search('"' + "/" + path + '"')
    for text in ("#!/usr/bin/env bash", "head/root/modifier", "a / b", "problems/work/x"):
        assert not MACHINE_PATH.search(text)


def test_notebooks_hold_no_outputs():
    for path in files():
        if path.suffix == ".ipynb":
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            kept = [i for i, cell in enumerate(cells) if cell.get("outputs") or cell.get("execution_count")]
            assert kept == [], f"{path.name}: clear with python -m nbconvert --clear-output --inplace"


def test_the_changelog_lists_every_old_name_with_its_new_form():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for owner, names in RENAMED.items():
        for old, new in names.items():
            if owner == "replace_parts":
                assert f"| `{owner}({old}=...)` | `{new}` |" in changelog
            else:
                assert f"| `{owner}({old}=...)` | `{owner}({new})` |" in changelog
    for owner, names in METHODS.items():
        for old, new in names.items():
            assert f"| `{owner}.{old}` | `{new}` |" in changelog

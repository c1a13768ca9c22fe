"""Sections of text with titles: files of JSON lines, and docstrings of installed packages."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from colgen import InputError
from colgen.core.files import parse_json, read_text
from colgen.problems.title_path.text import is_content, words

PACKAGES = ("networkx", "numpy", "scipy")
"""Packages of every installation."""

_MIN_WORDS = 40
"""Docstrings with fewer words are skipped."""


@dataclass(frozen=True)
class Section:
    """A text and its title."""

    title: str
    text: str
    name: str = ""

    @property
    def num_content_words(self) -> int:
        """The number of content words in the title."""
        return sum(map(is_content, words(self.title)))


def read_sections(folder: Path) -> list[list[Section]]:
    """Return the sections of all files of JSON lines in a folder or its subfolder ``titles``, by file name.

    Sections without text or without a content word in their title are omitted.

    Raises
    ------
    InputError
        If a line is not an object with ``title`` and ``text``; the message has the file and the line.
    """
    paths = sorted(folder.glob("*.jsonl")) or sorted((folder / "titles").glob("*.jsonl"))
    if not paths:
        raise InputError(f"{folder}: expected files with names ending in jsonl, found none")
    files = [read_file(path) for path in paths]
    return [[one for one in sections if one.num_content_words and words(one.text)] for sections in files]


def read_file(path: Path) -> list[Section]:
    """Return the sections of a file of JSON lines, one per line; empty lines are ignored."""
    sections = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        record = parse_json(line, str(path), number)
        title, text = (record.get("title"), record.get("text")) if isinstance(record, dict) else (None, None)
        if not isinstance(title, str) or not isinstance(text, str):
            raise InputError(f"{path}, line {number}: expected an object with the strings title and text")
        sections.append(Section(title, text, f"{path.stem}:{number}"))
    return sections


def split(files: Sequence[Sequence[Section]]) -> tuple[list[Section], list[Section]]:
    """Split each file's sections in their order: two thirds for training, one third for testing."""
    train = [one for file in files for one in file[: 2 * len(file) // 3]]
    test = [one for file in files for one in file[2 * len(file) // 3 :]]
    if not train or not test:
        raise InputError(f"expected sections for training and testing, got {len(train)} and {len(test)}")
    return train, test


# --- docstrings ------------------------------------------------------------------------------------------------------


def docstrings(packages: Sequence[str] = PACKAGES, most: int | None = None) -> list[Section]:
    """Return first lines of docstrings as titles with the rest as texts, by module and line.

    The sources are not imported. Text below the headings "Examples", "References" and "See Also" is omitted, and so are
    private functions, tests, and short docstrings. There are at most ``most`` sections per package.
    """
    found: list[Section] = []
    for package in packages:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise InputError(f"package {package!r} is not installed, so its docstrings cannot be read")
        sections = _package_sections(Path(spec.origin).parent)
        found += [section for section, _ in zip(sections, range(most), strict=False)] if most else list(sections)
    return found


def _package_sections(root: Path) -> Iterator[Section]:
    seen: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        if any(part.startswith(("_", "test", "conftest", "setup", "distutils")) for part in parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):  # for example a template that looks like a module
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                section = _parse_docstring(ast.get_docstring(node), ".".join((root.name, *parts[:-1], node.name)))
                if section is not None and section.title not in seen:
                    seen.add(section.title)
                    yield section


def _parse_docstring(docstring: str | None, name: str) -> Section | None:
    if docstring is None:
        return None
    first, _, rest = inspect.cleandoc(docstring).partition("\n")
    body = re.split(r"\n(?:Examples?|References|See Also)\n-{3,}", rest)[0]
    body = re.sub(r"^[-=~]{3,}$|:[a-z]+:|[`*\\$]", " ", body, flags=re.MULTILINE)
    section = Section(first.strip().rstrip("."), body, name)
    if not section.num_content_words or len(words(body)) < _MIN_WORDS:
        return None
    return section

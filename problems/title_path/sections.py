"""Sections of text with titles: files of JSON lines, and the docstrings of installed packages."""

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
"""Every installation has these."""

_LEAST_WORDS = 40
"""Docstrings with less text are passed over."""


@dataclass(frozen=True)
class Section:
    """A text and its title."""

    title: str
    text: str
    name: str = ""

    @property
    def num_content_words(self) -> int:
        """Of the title."""
        return sum(map(is_content, words(self.title)))


def read_sections(folder: Path) -> list[list[Section]]:
    """The sections of all files of JSON lines of a folder, file by file in the order of their names.

    The folder of the corpora will do, if it has a folder ``titles``.  Sections without a content word in their title,
    or without text, are left out.

    Raises
    ------
    InputError
        With file and line, where a line is no object with ``title`` and ``text``.
    """
    paths = sorted(folder.glob("*.jsonl")) or sorted((folder / "titles").glob("*.jsonl"))
    if not paths:
        raise InputError(f"{folder}: expected files whose names end in jsonl, there are none")
    files = [read_file(path) for path in paths]
    return [[one for one in sections if one.num_content_words and words(one.text)] for sections in files]


def read_file(path: Path) -> list[Section]:
    """The sections of a file of JSON lines, one a line, empty lines passed over."""
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
    """Two thirds to train on and one to test on, in their order within each file."""
    train = [one for file in files for one in file[: 2 * len(file) // 3]]
    test = [one for file in files for one in file[2 * len(file) // 3 :]]
    if not train or not test:
        raise InputError(f"expected sections to train on and to test on, there are {len(train)} and {len(test)}")
    return train, test


# --- docstrings ------------------------------------------------------------------------------------------------------


def docstrings(packages: Sequence[str] = PACKAGES, most: int | None = None) -> list[Section]:
    """First lines of docstrings as titles, what follows as their texts, in the order of modules and lines.

    The sources are read and not imported.  What stands below a heading "Examples", "References" or "See Also" is left
    out, and so are private functions, tests, and docstrings with little text.

    Parameters
    ----------
    packages
        Names of installed packages.
    most
        Sections of a package.
    """
    found: list[Section] = []
    for package in packages:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise InputError(f"there is no package {package!r} whose docstrings could be read")
        sections = _of_package(Path(spec.origin).parent)
        found += [section for section, _ in zip(sections, range(most), strict=False)] if most else list(sections)
    return found


def _of_package(root: Path) -> Iterator[Section]:
    seen: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        if any(part.startswith(("_", "test", "conftest", "setup", "distutils")) for part in parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):  # a template, say, that only looks like a module
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                section = _of_docstring(ast.get_docstring(node), ".".join((root.name, *parts[:-1], node.name)))
                if section is not None and section.title not in seen:
                    seen.add(section.title)
                    yield section


def _of_docstring(docstring: str | None, name: str) -> Section | None:
    if docstring is None:
        return None
    first, _, rest = inspect.cleandoc(docstring).partition("\n")
    body = re.split(r"\n(?:Examples?|References|See Also)\n-{3,}", rest)[0]
    body = re.sub(r"^[-=~]{3,}$|:[a-z]+:|[`*\\$]", " ", body, flags=re.MULTILINE)
    section = Section(first.strip().rstrip("."), body, name)
    if not section.num_content_words or len(words(body)) < _LEAST_WORDS:
        return None
    return section

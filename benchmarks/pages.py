"""Figures on pages: sentences and rows of tables whose numbers come from ``benchmarks/*.json``.

``python -m benchmarks.pages`` writes the numbers into the pages, and the tests compare them.  ``pages.toml`` lists for
each page the texts with figures; ``{engine[rounds_200]}`` is the value of ``rounds_200`` in ``engine.json``.  A format
follows a colon: ``:.1f`` as in Python, ``:3`` for three significant digits, ``ms`` at its end for seconds shown as
milliseconds.  ``.n`` is the number of instances, ``.inverse`` the reciprocal.  ``{engine[a / b]}`` is the quotient of
two figures and ``{engine[a - b]}`` their difference.

In ``benchmarks/README.md`` the tables of name, value, unit and n are written as well, from the file of their section.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter

from colgen.core.text import significant

HERE = Path(__file__).parent
ROOT = HERE.parent

_SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"^\| figure \| value \| unit \| n \|\n(?:\|.*\n)+", re.MULTILINE)
_ROW = re.compile(r"^\| `([^`]+)` .*$", re.MULTILINE)


class Value(float):
    """The value of a figure, with the formats of the pages."""

    n = 0
    unit = ""

    @property
    def inverse(self) -> Value:
        """Return the reciprocal."""
        return Value(1.0 / self)

    def __format__(self, spec: str) -> str:
        if spec.endswith("ms"):
            return format(Value(1000.0 * self), spec[:-2])
        if spec.isdigit():
            rounded = float(f"{self:.{spec}g}")
            return f"{rounded:,.0f}" if rounded >= 10.0 ** (int(spec) - 1) else f"{self:#.{spec}g}"
        return super().__format__(spec) if spec else significant(self)


class Figures(dict[str, Value]):
    """The figures of a file by name, with the quotient and the difference of any two."""

    def __missing__(self, name: str) -> Value:
        parts = re.fullmatch("(.+) ([-/]) (.+)", name)
        if parts is None:
            raise KeyError(name)
        first, operator, second = parts.groups()
        value = Value(self[first] / self[second] if operator == "/" else self[first] - self[second])
        value.n = self[first].n
        return value


def read_figures(folder: Path = HERE) -> dict[str, Figures]:
    """Return the figures by file and name."""
    figures: dict[str, Figures] = {}
    for path in sorted(folder.glob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8")):
            value = Value(entry["value"])
            value.n, value.unit = entry["n"], entry["unit"]
            figures.setdefault(path.stem, Figures())[entry["name"]] = value
    return figures


def read_texts() -> dict[str, list[str]]:
    """Return the texts with figures by page."""
    return tomllib.loads((HERE / "pages.toml").read_text(encoding="utf-8"))


def matches(text: str, page: str) -> Iterator[re.Match[str]]:
    """Yield the places of a text on a page: any numbers may stand for its figures, any white space for a blank."""
    pattern = ""
    for literal, name, _, _ in Formatter().parse(text):
        pattern += re.sub(r"(\\?\s)+", r"\\s+", re.escape(literal))
        pattern += "" if name is None else r"(-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?)"
    return re.finditer(rf"(?<![\w.,]){pattern}" if text[0] == "{" else pattern, page)


def with_figures(page: str, texts: Sequence[str], figures: Mapping[str, Mapping[str, Value]]) -> str:
    """Return a page with the current figures in its texts; raise ValueError for a text that it does not have."""
    for text in texts:
        values = [
            Formatter().vformat(f"{{{name}:{spec}}}", (), figures)
            for _, name, spec, _ in Formatter().parse(text)
            if name
        ]
        found = list(matches(text, page))
        if not found:
            raise ValueError(f"the page does not have the text {text!r}")
        for match in reversed(found):
            for group in reversed(range(len(values))):
                start, end = match.span(group + 1)
                page = page[:start] + values[group] + page[end:]
    return page


def with_rows(page: str, figures: Mapping[str, Mapping[str, Value]]) -> str:
    """Return the page of all benchmarks with the current tables of name, value, unit and n."""

    def section(match: re.Match[str]) -> str:
        known = figures.get(match[1], {})

        def row(found: re.Match[str]) -> str:
            value = known[found[1]]
            return f"| `{found[1]}` | {value} | {value.unit} | {value.n:,} |"

        return f"## {match[1]}\n{_TABLE.sub(lambda table: _ROW.sub(row, table[0]), match[2])}"

    return _SECTION.sub(section, page)


def main() -> int:
    """Write the figures into the pages."""
    figures = read_figures()
    for name, texts in read_texts().items():
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        page.write_text(updated(name, text, texts, figures), encoding="utf-8")
    return 0


def updated(name: str, page: str, texts: Sequence[str], figures: Mapping[str, Mapping[str, Value]]) -> str:
    """Return the text of a page with the current figures."""
    page = with_rows(page, figures) if name == "benchmarks/README.md" else page
    return with_figures(page, texts, figures)


if __name__ == "__main__":
    sys.exit(main())

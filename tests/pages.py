"""The code blocks of the pages, with included sections resolved as mkdocs does."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]

SNIPPET = re.compile(r'^( *)--8<-- "([^":]+):(\w+)"$', re.MULTILINE)
"""A line that includes a named section of another file."""

FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page in order, as (language, text)."""
    text = SNIPPET.sub(_section, (ROOT / page).read_text(encoding="utf-8"))
    return [(language, textwrap.dedent(block)) for _, language, block in FENCE.findall(text)]


def _section(match: re.Match[str]) -> str:
    indent, path, name = match.groups()
    text = (ROOT / path).read_text(encoding="utf-8")
    section = text.split(f"[start:{name}] -->\n")[1].split(f"<!-- --8<-- [end:{name}]")[0]
    return textwrap.indent(section, indent)

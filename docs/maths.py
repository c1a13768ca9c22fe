"""Convert formulas, and letters with an index, into MathML when pages are built, so that pages need no network."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
"""The output of the Markdown extension `pymdownx.arithmatex` for inline and display formulas."""


APART = re.compile(
    r"^```.*?^```$|^    .*?$|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)|<[^>\n]*>", re.DOTALL | re.MULTILINE
)
"""Code, formulas, links and tags, which stay unchanged."""

INDEXED = re.compile(r"(?:(?<=[Α-Ωα-ωᵀ])|(?<![\w.$/\\-]))([A-Za-zΑ-Ωα-ω])_([A-Za-zα-ω]{1,3}|\d)(?![\w(])")
"""A letter with an index in running text: c_j, π_i, s_hmc."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Turn letters with an index into formulas; mkdocs calls this for every page."""
    kept, begin = [], 0
    for match in APART.finditer(markdown):
        kept += [INDEXED.sub(r"$\1_{\2}$", markdown[begin : match.start()]), match[0]]
        begin = match.end()
    return "".join([*kept, INDEXED.sub(r"$\1_{\2}$", markdown[begin:])])


def on_page_content(content: str, **_: Any) -> str:
    """Replace the formulas of a page by MathML; mkdocs calls this for every page."""
    return FORMULA.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    element, formula = match.groups()
    display = "block" if element == "div" else "inline"
    return f'<{element} class="formula">{convert(html.unescape(formula).strip(), display=display)}</{element}>'

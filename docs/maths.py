"""Formulas between dollar signs, and letters with an index, become MathML as pages are built: nothing is fetched."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
"""What the Markdown extension `pymdownx.arithmatex` makes of a formula in a line, or of one that stands alone."""


APART = re.compile(
    r"^```.*?^```$|^    .*?$|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)|<[^>\n]*>", re.DOTALL | re.MULTILINE
)
"""Code, formulas, links and tags: what stays as it is."""

INDEXED = re.compile(r"(?:(?<=[Α-Ωα-ωᵀ])|(?<![\w.$/\\-]))([A-Za-zΑ-Ωα-ω])_([A-Za-zα-ω]{1,3}|\d)(?![\w(])")
"""A letter with an index in running text: c_j, π_i, s_hmc."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Make formulas of letters with an index: called by mkdocs for every page."""
    kept, begin = [], 0
    for match in APART.finditer(markdown):
        kept += [INDEXED.sub(r"$\1_{\2}$", markdown[begin : match.start()]), match[0]]
        begin = match.end()
    return "".join([*kept, INDEXED.sub(r"$\1_{\2}$", markdown[begin:])])


def on_page_content(content: str, **_: Any) -> str:
    """Put MathML in place of the formulas of a page: called by mkdocs for every page."""
    return FORMULA.sub(_drawn, content)


def _drawn(match: re.Match[str]) -> str:
    element, formula = match.groups()
    display = "block" if element == "div" else "inline"
    return f'<{element} class="formula">{convert(html.unescape(formula).strip(), display=display)}</{element}>'

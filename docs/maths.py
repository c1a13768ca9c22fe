"""Convert formulas into MathML when pages are built, so that pages need no network."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
"""The output of the Markdown extension `pymdownx.arithmatex` for inline and display formulas."""


def on_page_content(content: str, **_: Any) -> str:
    """Replace the formulas of a page by MathML; mkdocs calls this for every page."""
    return FORMULA.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    element, formula = match.groups()
    mathml = convert(html.unescape(formula).strip(), display="block" if element == "div" else "inline")
    if element == "div":
        return f'<div class="formula" data-search-exclude>{mathml}</div>'
    length = " long" if len(formula) > 60 else ""  # scrolls on small screens, in its own box
    return f'<span class="formula{length}">{mathml}</span>'

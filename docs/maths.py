"""Formulas between dollar signs become MathML as pages are built: browsers draw it, and nothing is fetched."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
"""What the Markdown extension `pymdownx.arithmatex` makes of a formula in a line, or of one that stands alone."""


def on_page_content(content: str, **_: Any) -> str:
    """Put MathML in place of the formulas of a page: called by mkdocs for every page."""
    return FORMULA.sub(_drawn, content)


def _drawn(match: re.Match[str]) -> str:
    element, formula = match.groups()
    display = "block" if element == "div" else "inline"
    return f'<{element} class="formula">{convert(html.unescape(formula).strip(), display=display)}</{element}>'

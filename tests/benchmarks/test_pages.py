"""The figures on the pages are those of ``benchmarks/*.json``."""

import re
from pathlib import Path

import pytest

from benchmarks.pages import Figures, Value, matches, read_figures, read_texts, updated, with_figures, with_rows

ROOT = Path(__file__).parents[2]
OTHERS = {"docs/thousand_workers.md"}
"""Pages whose figures come from a simulation, which the page describes."""

PAGES = {"README.md", *(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md"))} - OTHERS

CLAIM = re.compile(
    r"\d[\d,.]*\s+times\s+(as\s+(fast|long)|the\s+(\w+\s+)?(calls|rounds|iterations|seconds|speed))"
    r"|\d[\d,.]*\s+(words|tokens|sentences)(/s|\s+per\s+second)"
    r"|(prove[sd]?|takes?)\b[^.|]{0,40}?\s\d[\d,.]*\s+(ms|µs|s|seconds)\b"
)
"""A figure of speed."""

FIGURES = {
    "engine": {"speed": Value(12.3456), "count": Value(1234.0), "seconds": Value(0.04282), "share": Value(0.125)}
}
FIGURES["engine"]["speed"].n = 1500


@pytest.mark.parametrize("page", read_texts())
def test_figures_on_a_page_are_those_measured(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text == updated(page, text, read_texts()[page], read_figures()), "run: python -m benchmarks.pages"


def unmeasured(text, known):
    """Return the figures of speed in a text, outside of code, that no known text has."""
    text = re.sub(r"^```.*?^```$", lambda block: " " * len(block[0]), text, flags=re.DOTALL | re.MULTILINE)
    spans = [match.span() for each in known for match in matches(each, text)]
    claims = CLAIM.finditer(text)
    return [c[0] for c in claims if not any(start < c.end() and c.start() < end for start, end in spans)]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_figures_of_speed_on_a_page_are_measured(page):
    assert unmeasured((ROOT / page).read_text(encoding="utf-8"), read_texts().get(page, ())) == []


def test_a_figure_of_speed_that_is_not_measured_is_found():
    known = ["Twelve models are solved {engine[speed]:.0f} times as fast"]
    text = "Twelve models are solved 12 times as fast, one 40 times as\nfast, at 3,000 words per second; it takes 2 s."
    assert unmeasured(text, known) == ["40 times as\nfast", "3,000 words per second", "takes 2 s"]
    assert unmeasured("```sh\nrun  # takes 2 s\n```\n", ()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{engine[speed]:.1f} times as fast", "12.3 times as fast"),
        ("{engine[speed].n:,} runs", "1,500 runs"),
        ("{engine[count]:3} a second", "1,230 a second"),
        ("{engine[seconds]:2ms} ms", "43 ms"),
        ("{engine[share].inverse:2} times", "8.0 times"),
        ("{engine[share]}", "0.125"),
        ("{engine[count]}", "1,234"),
    ],
)
def test_figures_are_written_into_a_text(text, expected):
    old = re.sub(r"\{.*?\}", "9,999.5", text)
    assert with_figures(f"Before {old}, and after.", [text], FIGURES) == f"Before {expected}, and after."


def test_a_text_may_be_wrapped_and_keeps_its_lines():
    text = "solves {engine[speed]:.0f} of {engine[count]:,.0f} models"
    assert with_figures("It solves 1\nof 2 models.", [text], FIGURES) == "It solves 12\nof 1,234 models."


def test_a_text_that_is_not_on_the_page_is_an_error():
    with pytest.raises(ValueError, match="does not have the text"):
        with_figures("It solves many models.", ["solves {engine[speed]:.0f} models"], FIGURES)


def test_tables_of_a_section_are_written_from_its_file():
    head = "| figure | value | unit | n |\n| --- | --- | --- | --- |\n"
    page = f"## engine\n\n{head}| `speed` | 1 | s | 2 |\n\n| `speed` | 1 |\n\n## other\n\n{head}"
    assert with_rows(page, FIGURES) == page.replace("| 1 | s | 2 |", "| 12.35 |  | 1,500 |")
    with pytest.raises(KeyError, match="lost"):
        with_rows(page.replace("`speed` | 1 | s", "`lost` | 1 | s"), FIGURES)


def test_quotients_and_differences_of_figures_are_written_into_a_text():
    figures = {"engine": Figures(FIGURES["engine"])}
    text = "{engine[speed / share]:.1f} and {engine[share - speed]:.2f} of {engine[count / speed].n:,}"
    assert with_figures("9 and 9 of 9", [text], figures) == "98.8 and -12.22 of 0"
    with pytest.raises(KeyError, match="lost"):
        with_figures("9", ["{engine[speed / lost]}"], figures)


def compared_rows():
    """Yield the rows of the tables of published and measured figures."""
    for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0][:6] != "figure" and cells[0] != "---":
            yield cells


def test_published_figures_that_agree_are_within_a_quarter_of_those_measured():
    rows = list(compared_rows())
    assert len(rows) > 60
    for figure, published, here, agrees, reason in rows:
        assert agrees in ({""} if here == "not measured" or published == "not read" else {"yes", "in part", "no"}), (
            figure
        )
        assert reason or agrees == "yes", f"{figure}: add the reason"
        pairs = zip(*(re.findall(r"-?\d[\d,.]*\d|\d", cell) for cell in (published, here)), strict=True)
        numbers = [] if agrees != "yes" else [[float(text.replace(",", "")) for text in pair] for pair in pairs]
        assert all(abs(a - b) <= 0.25 * min(abs(a), abs(b)) + 1e-9 for a, b in numbers), figure

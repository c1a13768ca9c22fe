"""Text for messages."""

import io
import math

import pytest

from colgen.core.text import LONGEST, is_terminal, number, one_line, percent, plural, significant


@pytest.mark.parametrize("text", ["", "as it is", "é ≤ 漢"])
def test_printable_text_is_unchanged(text):
    assert one_line(text) == text


def test_control_characters_are_escaped():
    assert one_line("a\nb\t\x1b[31mred\x00") == r"a\nb\t\x1b[31mred\x00"


@pytest.mark.parametrize("longest", [20, 50, LONGEST])
def test_the_middle_of_a_long_line_is_left_out(longest):
    text = "begin " + "x" * 1000 + " end"
    short = one_line(text, longest)
    assert len(short) == longest
    assert short.startswith("begin ")
    assert short.endswith(" end")
    assert " ... " in short
    assert one_line(text, None) == text


def test_files_and_closed_streams_are_not_terminals():
    stream = io.StringIO()
    assert not is_terminal(stream)
    stream.close()
    assert not is_terminal(stream)
    assert not is_terminal(None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, "0"), (3.0, "3"), (1234.56, "1,235"), (12.34567, "12.35"), (0.00012345, "0.000123"), (float("nan"), "nan")],
)
def test_significant(value, expected):
    assert significant(value) == expected


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [(453.0, 10, "453"), (1 / 3, 4, "0.3333"), (math.inf, 10, "none"), (-math.inf, 8, "none"), (math.nan, 8, "none")],
)
def test_objectives_and_bounds(value, digits, expected):
    assert number(value, digits) == expected


@pytest.mark.parametrize(("share", "expected"), [(0.0, "0%"), (0.012345, "1.23%"), (math.inf, "infinite")])
def test_gaps(share, expected):
    assert percent(share) == expected


@pytest.mark.parametrize(("count", "expected"), [(0, "0 rounds"), (1, "1 round"), (2000, "2,000 rounds")])
def test_one_round_and_several(count, expected):
    assert plural(count, "round") == expected

"""Text for messages."""

import io
import math

import numpy as np
import pytest

from colgen import (
    Checkpoint,
    Column,
    Columns,
    Method,
    Parallel,
    Record,
    RestrictedMIP,
    Row,
    Rows,
    RyanFoster,
    Sense,
    StrongBranching,
    TimeLimit,
    WarmStart,
    Wentges,
    solve,
)
from colgen.core.stop import AnyOf, Stalled
from colgen.core.text import (
    LONGEST,
    Described,
    is_terminal,
    meant,
    number,
    one_line,
    percent,
    plural,
    significant,
    wrap,
)
from tests.toys import CuttingStock


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


class Part(Described):
    def __init__(self, share=0.5, parts=(), then=None, *, least=math.inf):
        self.share, self.parts, self.then, self.least = share, parts, then, least


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (Part(), "Part()"),
        (Part(0.25, least=3), "Part(share=0.25, least=3)"),
        (Part(parts=(Part(), object()), then=print), "Part(parts=(Part(), object), then=print)"),
        (Part(then=np.zeros((3000, 2))), "Part(then=ndarray of 3000 x 2)"),
        (Part(then=Sense.MAXIMIZE), "Part(then=Sense.MAXIMIZE)"),
        (Part(parts=list(range(3000))), "Part(parts=[0, 1, 2, 3, 4, 5, ...])"),
        (AnyOf(TimeLimit(3), Stalled(2)), "AnyOf(TimeLimit(seconds=3), Stalled(rounds=2))"),
        (Checkpoint("run.bin"), "Checkpoint(path='run.bin')"),
        (Method(rounding=print, heuristics=()), "Method(heuristics=(), rounding=print)"),
        (Parallel(workers=2), "Parallel(workers=2)"),
        (Record(duals=True, on_node=print), "Record(duals=True, on_node=print)"),
    ],
)
def test_described_objects_name_the_arguments_that_differ_from_their_defaults(thing, expected):
    assert repr(thing) == expected


def test_public_objects_are_one_short_line_without_addresses():
    many = {("cover", k): 1.0 for k in range(3000)}
    column = Column(1.0, many, structure=np.arange(3000))
    result = solve(CuttingStock(), record=Record(duals=True))
    small = [column, Column(-1e-300 / 7, {}, key=("x" * 300, 1)), *result.iterations, *result.nodes, *result.pool]
    small += [result.iterations[0].duals, Columns.of((column,)), result.pool, result.solution]
    others = [Row(("a", 1), 0.0, coefficients=many), WarmStart(duals=many, columns=[column] * 3000), result]
    others += [result.certificate, result.pool.basis, CuttingStock(), CuttingStock().method(), CuttingStock().pricing()]
    others += [Rows(Sense.MINIMIZE), RestrictedMIP(), Wentges(), RyanFoster("cover"), StrongBranching()]
    for longest, things in ((99, small), (300, others)):
        for thing in things:
            text = repr(thing)
            assert len(text) <= longest, text
            assert " at 0x" not in text, text
            assert "\n" not in text, text


def test_irregular_plurals():
    assert [plural(count, "leaf", "leaves") for count in (1, 2)] == ["1 leaf", "2 leaves"]


def test_a_mistyped_name_is_guessed():
    assert meant("sovle", ["check", "solve"]) == "; did you mean 'solve'?"
    assert meant("paint", ["check", "solve"]) == ""
    assert meant("--modle", ["--json", "--model"], "--") == "; did you mean '--model'?"
    assert meant("--foo", ["--option"], "--") == ""


def test_long_lines_are_broken_at_blanks_to_fit_the_terminal(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "one two-three four\n  five six seven\n\naverylongword"
    assert wrap(text, io.StringIO()) == text
    monkeypatch.setenv("COLUMNS", "12")
    assert wrap(text, io.StringIO()) == "one\ntwo-three\nfour\n  five six\n    seven\n\naverylongword"

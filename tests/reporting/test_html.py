"""Notebook views of objects."""

import dataclasses
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from colgen import Column, Columns, Problem, Solution, solve
from colgen.reporting.html import show_answer
from colgen.testing.findings import Finding, Report
from tests.toys import CuttingStock


def parsed(shown):
    """Parse HTML that must be well-formed XML too."""
    return ElementTree.fromstring(f"<div>{shown}</div>")


@pytest.fixture(scope="module")
def result():
    return solve(CuttingStock())


def test_a_result_is_one_line_and_a_summary(result):
    assert repr(result) == f"<Result: {' '.join(str(result).splitlines())}>"
    shown = parsed(result._repr_html_())
    assert "Proved optimal." in "".join(shown.itertext())
    assert len(shown.findall(".//svg")) == 1
    assert len(shown.findall(".//tr")) == 1 + len(result.answer)


def test_a_result_without_rounds_or_answer_has_a_view():
    nothing = solve(CuttingStock(), relaxation=True)
    assert parsed(nothing._repr_html_()).findall(".//tr") == []


@dataclasses.dataclass
class Load:
    machine: int
    tasks: tuple


@pytest.mark.parametrize(
    ("answer", "head", "first"),
    [
        ([(1, 4, 7), (3, 2)], "number|members", "1|1 4 7"),
        ([(1, 4), (3, 2)], "number|members", "1|1 4"),
        ([((1, 0, 2), 5.0)], "structure|value", "1 0 2|5"),
        ([[("a", 1), ("b", 2)]], "number|members", "1|a 1; b 2"),
        ([3, 0, 4], "index|value", "0|3"),
        ({"Oslo": 0.25}, "name|value", "Oslo|0.25"),
        ([{"customers": [1, 4], "back_at": 2.50}], "customers|back at", "1 4|2.5"),
        ([{"rolls": 2, "pieces": [{"width": 9, "copies": 1}]}], "rolls|pieces", "2|width 9, copies 1"),
        ([Load(2, (5, 6)), Load(0, ())], "machine|tasks", "2|5 6"),
        ([{"a": None}, {"b": 1}], "index|value", "0|a "),
    ],
)
def test_an_answer_is_a_table_with_headings(answer, head, first):
    rows = ["|".join(cell.text or "" for cell in row) for row in parsed(show_answer(answer)).findall(".//tr")]
    assert rows[:2] == [head, first]
    assert len(rows) == 1 + len(answer)


def test_only_the_first_lines_of_an_answer_are_read():
    shown = parsed(show_answer(range(10**9), 3))
    assert len(shown.findall(".//tr")) == 4
    assert "and 999,999,997 more" in "".join(shown.itertext())


def test_a_solution_shows_the_columns_in_use():
    columns = [(Column(1.0, {("demand", i): 1.0}, f"<{i}>"), 0.5) for i in range(20)]
    shown = parsed(Solution(10.0, columns, {("open", "Oslo"): 1.0, ("budget", None): 3.0})._repr_html_())
    rows = ["|".join(row.itertext()) for row in shown.findall(".//tr")]
    assert rows[:2] == ["in use|value", "<0>|0.5"]
    assert "and 14 more" in "".join(shown.itertext())
    few = parsed(Solution(10.0, (), {("open", "Oslo"): 1.0, ("budget", None): 3.0})._repr_html_())
    assert ["|".join(row.itertext()) for row in few.findall(".//tr")][1:] == ["open[Oslo]|1", "budget|3"]


class Escaping(CuttingStock):
    """<b>Bold</b> & more."""

    def answer(self, solution):
        return {"<script>": "<i>"}


def test_all_texts_are_escaped():
    problem = Escaping()
    problem.name = "<img src=x>"
    shown = problem._repr_html_() + solve(problem)._repr_html_()
    assert "<script>" not in shown
    assert "<i>" not in shown
    assert "<img" not in shown
    assert "<b>Bold" not in shown
    assert "<Bold>" not in "".join(parsed(shown).itertext())
    assert "&lt;script&gt;" in shown


def test_a_problem_is_one_line_and_shows_its_data_and_methods():
    problem = CuttingStock()
    problem.matrix, problem.silent, problem._hidden = np.zeros((300, 300)), None, 7
    line = repr(problem)
    assert line.startswith("<CuttingStock: demands=(97, 610, 395, 211), oracle=Knapsack, cost=1.0")
    assert "\n" not in line
    assert len(line) <= 300
    shown = "".join(parsed(problem._repr_html_()).itertext())
    assert "ndarray of 300 x 300" in shown
    assert "_hidden" not in shown
    assert "It defines master, pricing, branching." in shown
    assert repr(Problem()) == "<Problem>"


def test_a_solution_and_a_check_are_one_line(result):
    used = len(result.solution.columns)
    assert repr(result.solution) == f"<Solution: objective 453, {used} columns and 0 variables in use>"
    finding = Finding("bound", "Knapsack", "is <wrong>", 3)
    report = Report("CuttingStock", (finding,), ("not all was <seen>",), 5, 1, 0.5)
    assert repr(report) == "<Report: CuttingStock: 1 finding (5 priced points, 1 column, 0.5 s)>"
    shown = parsed(report._repr_html_())
    rows = ["|".join(row.itertext()) for row in shown.findall(".//tr")]
    assert rows == ["kind|where|finding|times", "bound|Knapsack|is <wrong>|3"]
    assert "not all was <seen>" in "".join(shown.itertext())


def test_columns_show_their_coefficients(result):
    shown = parsed(result.pool._repr_html_())
    assert f"{len(result.pool)} columns" in "".join(shown.itertext())
    assert "demand[" in "".join(shown.itertext())
    batch = Columns([1.0, 2.0], [0, 1, 1], [0], [3.0], np.array([7, 8]))
    assert repr(batch) == "<Columns: 2, of 1 coefficient>"

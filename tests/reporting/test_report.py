"""Reports as one HTML page."""

import base64
import dataclasses
import json
import re
from html.parser import HTMLParser

import pytest

from colgen import IterationLimit, Method, Record, solve
from colgen.core.errors import InputError
from colgen.core.result import NodeRecord
from colgen.problems.chain_map import ChainMAP, random
from colgen.problems.coreference import Coreference
from colgen.problems.coreference import random as random_scores
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.reporting.report import report, side_by_side
from tests.assignment import assignment

pytest.importorskip("matplotlib")


class Reader(HTMLParser):
    """Counts elements, and fails for tags that do not match."""

    EMPTY = frozenset({"meta", "br", "img", "link", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.count, self.text = [], {}, []

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


@pytest.mark.parametrize(
    ("problem", "options"),
    [
        (
            CuttingStock(CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211))),
            {"record": Record(duals=True)},
        ),
        (Coreference(random_scores(12, 0), contracted=False), {}),
        (ChainMAP(random(0, chains=3, labels=6), start=1), {"record": Record(duals=True)}),
        (CuttingStock(CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211))), {"stop": IterationLimit(1)}),
    ],
    ids=["cutting_stock", "coreference", "chain_map", "stopped"],
)
def test_a_page_is_complete_and_loads_nothing(problem, options, tmp_path):
    result = solve(problem, **options)
    path = tmp_path / "run.html"
    result.report(path, "A <run>")
    page, reader = path.read_text(encoding="utf-8"), read(path)
    assert "A &lt;run&gt;" in page
    assert result.termination.value in " ".join(reader.text)
    assert reader.count["svg"] >= 3
    assert reader.count["tr"] > len(result.iterations)
    for source in re.findall(r"""(?:src|href)\s*=\s*["']([^"']*)""", page):
        assert source.startswith(("#", "data:")), source  # within the page


def test_without_matplotlib_the_page_has_no_pictures(tmp_path, monkeypatch):
    result = solve(CuttingStock(CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211))))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result.report(tmp_path / "run.html")
    reader = read(tmp_path / "run.html")
    assert "svg" not in reader.count
    assert "Pictures need matplotlib" in " ".join(reader.text)
    assert reader.count["tr"] > len(result.iterations)


def test_long_logs_are_cut_in_the_middle(tmp_path):
    result = solve(CuttingStock(CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211))))
    long = dataclasses.replace(result, iterations=[*result.iterations] * 300)
    long.report(tmp_path / "long.html")
    reader = read(tmp_path / "long.html")
    assert "left out" in " ".join(reader.text)
    assert reader.count["tr"] < 600


def test_a_report_says_how_it_was_run_and_holds_its_data(tmp_path):
    result = solve(CuttingStock(CuttingStockInstance(10, (3, 4, 5), (4, 3, 2))))
    path = tmp_path / "run.html"
    result.report(path, about={"seed": 7, "<b>": "<script>alert(1)</script>"})
    page = path.read_text(encoding="utf-8")
    told = "".join(read(path).text)
    for expected in ("seed7", "versions", "colgen", "machine", "Answer", "<script>alert(1)</script>"):
        assert expected in told
    assert "<script>alert" not in page
    rounds = re.search(r'download="rounds.csv" href="data:text/csv;base64,([^"]+)"', page)
    lines = base64.b64decode(rounds.group(1)).decode().splitlines()
    assert len(lines) == 1 + len(result.iterations)
    kept = re.search(r'download="run.json" href="data:application/json;base64,([^"]+)"', page)
    assert json.loads(base64.b64decode(kept.group(1)))["objective"] == result.objective


def test_the_first_screen_has_figures_and_settings_and_the_answer_has_headings(tmp_path):
    problem = CuttingStock(CuttingStockInstance(10, (3, 4, 5), (4, 3, 2), "rolls"))
    result = solve(problem, time_limit=60, method=Method(heuristics=()))
    path = tmp_path / "run.html"
    report(result, path, about={"seed": 7}, answer=[{"width_of": 3, "pieces": [1, 2]}])
    first, rest = "|".join(read(path).text).split("|Answer|")
    processor = f"|processor seconds|{result.processor_seconds:.3g}|"
    for expected in ("|gap|0%|", processor, "|seed|7|", "|problem|CuttingStock rolls|", "|heuristics|none|"):
        assert expected in first
    assert "|stop rules|TimeLimit(seconds=60)|" in first
    assert "|versions|Python" in first
    assert rest.strip("\n|").startswith("width of|pieces|3|1 2|")
    result.report(path)
    assert "|structure|value|" in "|".join(read(path).text)


def test_a_run_that_branched_has_a_tree_with_every_node(tmp_path):
    result = solve(CuttingStock(CuttingStockInstance(10, (3, 4, 5), (4, 3, 2))))
    nodes = [NodeRecord(k, 0 if k else None, min(k, 1), 3.0, "branched" if k == 0 else "pruned") for k in range(3)]
    dataclasses.replace(result, nodes=nodes).report(tmp_path / "run.html")
    assert len(re.findall(r'data-p="0?"', (tmp_path / "run.html").read_text(encoding="utf-8"))) == 3
    read(tmp_path / "run.html")


def test_two_runs_stand_side_by_side_under_their_names(tmp_path):
    problem = CuttingStock(CuttingStockInstance(10, (3, 4, 5), (4, 3, 2)))
    results = {"whole": solve(problem), "<cut>": solve(problem, stop=IterationLimit(1))}
    side_by_side(results, tmp_path / "two.html", "Two & two")
    page, reader = (tmp_path / "two.html").read_text(encoding="utf-8"), read(tmp_path / "two.html")
    assert "<cut>" not in page
    assert page.count("<h3>&lt;cut&gt;</h3>") == 2
    assert page.count('download="rounds.csv"') == 2
    assert page.count("<script>") == 1
    told = " ".join(reader.text)
    assert all(result.termination.value in told for result in results.values())
    assert reader.count["svg"] >= 4
    assert "stop rules|none|IterationLimit(rounds=1)" in "|".join(reader.text)


def test_what_is_no_result_does_not_stand_beside_others(tmp_path):
    for wrong in ({}, {"one": 1}):
        with pytest.raises(InputError, match="results: expected"):
            side_by_side(wrong, tmp_path / "none.html")


def test_columns_and_nodes_are_tables(tmp_path):
    result = solve(assignment(4, 9, 1), method=Method(heuristics=()))
    result.report(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    nodes, columns, log = (part.split("</table>")[0].count("<tr>") - 1 for part in page.split('<div class="log">')[1:])
    assert nodes == len(result.nodes) > 1
    assert columns == len(result.pool)
    assert log == len(result.iterations)
    assert page.count('class="filter"') == 3
    assert str(result.solution.columns[0][0].structure) in page.split("Columns of the last master")[1]


def test_of_many_columns_those_in_use_are_shown(tmp_path, monkeypatch):
    monkeypatch.setattr("colgen.reporting.report._SHOWN", 3)
    result = solve(CuttingStock(CuttingStockInstance(10, (3, 4, 5), (4, 3, 2))))
    result.report(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8").split("Columns of the last master")[1]
    assert "columns of larger reduced cost are left out" in page
    shown = page.split("</table>")[0]
    assert all(str(column.structure) in shown for column, _ in result.solution.columns[:3])

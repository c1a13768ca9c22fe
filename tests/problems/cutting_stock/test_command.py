import json

import numpy as np
import pytest

from colgen import solve
from colgen.cli.main import main as cli
from colgen.cli.template import load_template
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, uniform, write
from colgen.problems.cutting_stock.command import TEMPLATE, _num_patterns
from tests.twins.cutting_stock import patterns, tiny

TEXTBOOK = CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211))


def test_template_is_installed():
    assert load_template("cutting_stock") is TEMPLATE


def test_lines_and_data_agree():
    result = solve(CuttingStock(TEXTBOOK))
    data = TEMPLATE.data(TEXTBOOK, result.answer)
    assert sum(entry["rolls"] for entry in data) == 453
    answer = []
    for entry in data:
        used = sum(piece["width"] * piece["copies"] for piece in entry["pieces"])
        assert used + entry["waste"] == TEXTBOOK.roll
        assert [TEXTBOOK.widths[piece["item"]] for piece in entry["pieces"]] == [p["width"] for p in entry["pieces"]]
        answer.append((tuple((piece["item"], piece["copies"]) for piece in entry["pieces"]), entry["rolls"]))
    assert TEXTBOOK.check(answer) == 453

    lines = TEMPLATE.lines(TEXTBOOK, result.answer)
    assert len(lines) == len(data)
    first = " + ".join(f"{piece['copies']} x {piece['width']}" for piece in data[0]["pieces"])
    assert lines[0].startswith(f"{data[0]['rolls']} x  {first}")


def test_long_answers_are_shortened_for_people():
    instance = uniform(60, 1)
    result = solve(CuttingStock(instance))
    lines, data = TEMPLATE.lines(instance, result.answer), TEMPLATE.data(instance, result.answer)
    assert len(data) > 31 == len(lines)
    shown = sum(int(line.split(" x ")[0].replace(",", "")) for line in lines[:-1])
    rest = instance.check(result.answer) - shown
    assert lines[-1] == f"and {len(data) - 30} more patterns for {rest:,} rolls (--json writes all of them)"


def test_solve_a_file(tmp_path, capsys):
    path, out = tmp_path / "textbook.txt", tmp_path / "answer.json"
    write(TEXTBOOK, path)
    assert cli(["solve", "cutting_stock", str(path), "--json", str(out), "--quiet"]) == 0
    assert "objective   453" in capsys.readouterr().out
    content = json.loads(out.read_text())
    assert content["objective"] == content["dual_bound"] == 453
    assert sum(entry["rolls"] for entry in content["answer"]) == 453


def test_solve_a_malformed_file(tmp_path, capsys):
    path = tmp_path / "bad.txt"
    path.write_text("1\n10\neleven\n")
    assert cli(["solve", "cutting_stock", str(path)]) not in (0, 1)
    assert "bad.txt, line 3: expected integers" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(20))
def test_number_of_patterns_is_that_of_enumeration(seed):
    instance = tiny(np.random.default_rng(seed))
    assert _num_patterns(instance) == len(list(patterns(instance)))

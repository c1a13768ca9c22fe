"""`colgen ablation`: files solved by many methods."""

import json

from colgen.problems import assignment, colouring, cutting_stock
from tests.cli.stub import run


def test_a_file_is_solved_by_each_method(capsys, install, file, tmp_path):
    table, lines = tmp_path / "a.json", tmp_path / "a.csv"
    code, out, err = run(capsys, "ablation", "stub", file, "--json", table, "--csv", lines)
    assert code == 0
    assert out.splitlines()[1].startswith("default")
    assert "instance.txt, no stabilization: " in err
    content = json.loads(table.read_text(encoding="utf-8"))
    assert {line["instance"] for line in content["lines"]} == {"instance.txt"}
    assert len(lines.read_text(encoding="utf-8").splitlines()) == 1 + len(content["lines"])


def test_the_varied_part_can_be_chosen(capsys, install, file, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("3 6 2", encoding="utf-8")
    picture = tmp_path / "a.png"
    words = ("--vary", "choice", "--vary", "rules", "--vary", "cuts", "--quiet", "--plot", picture)
    code, out, err = run(capsys, "ablation", "stub", file, other, *words)
    assert (code, err) == (0, "")
    names = [line[:20].strip() for line in out.splitlines()]
    assert [name.split("  ")[0] for name in names[1:5]] == [
        "default",
        "most fractional",
        "pseudo-costs",
        "strong branching",
    ]
    assert "no branching" in out
    assert picture.stat().st_size > 1000


def test_cuts_that_a_template_omits_are_added(capsys, tmp_path):
    machines, graph = tmp_path / "machines.txt", tmp_path / "graph.col"
    assignment.write(assignment.random(3, 12, 1), machines)
    colouring.write(colouring.mycielski(4), graph)
    for template, file in (("assignment", machines), ("colouring", graph)):
        code, out, _ = run(capsys, "ablation", template, file, "--vary", "cuts", "--relaxation", "--json", "-")
        content = json.loads(out)
        assert (code, content["agree"]) == (0, True)
        without, put_in = content["lines"]
        assert (without["method"], put_in["method"]) == ("default", "with cuts")
        assert put_in["dual_bound"] > without["dual_bound"] + 1e-3


def test_exchanges_that_a_template_omits_are_added(capsys, tmp_path):
    rolls = tmp_path / "rolls.txt"
    cutting_stock.write(cutting_stock.uniform(8, 0), rolls)
    code, out, _ = run(capsys, "ablation", "cutting_stock", rolls, "--relaxation", "--json", "-")
    content = json.loads(out)
    assert (code, content["agree"]) == (0, True)
    bounds = {line["method"]: line["dual_bound"] for line in content["lines"]}
    assert abs(bounds["exchanges by subsets"] - bounds["default"]) < 1e-6


def test_json_is_the_only_standard_output(capsys, install, file):
    code, out, _ = run(capsys, "ablation", "stub", file, "--relaxation", "--json", "-")
    assert code == 0
    assert json.loads(out)["relaxation"] is True


def test_bad_input_is_reported(capsys, install, file, tmp_path):
    for argv, expected in (
        (["nothing", file], "there is no template 'nothing'"),
        (["stub", tmp_path / "missing.txt"], "missing.txt cannot be read"),
        (["stub", file, file], "expected each FILE once"),
        (["stub", file, "--csv", tmp_path], "expected the name of a file in an existing folder"),
    ):
        code, out, err = run(capsys, "ablation", *argv)
        assert (code, out) == (2, "")
        assert expected in err
        assert len(err.splitlines()) == 1

"""Output files of commands: JSON, logs, pictures, reports."""

import dataclasses
import json

import pytest

from colgen import Termination
from colgen.cli.output import paint
from colgen.cli.solve import _write_file
from tests.cli.stub import (
    STUB,
    picture,
    run,
)


def test_solve_writes_json_log_plot_and_report(capsys, install, file, tmp_path):
    pytest.importorskip("matplotlib")
    paths = {name: tmp_path / f"out.{name}" for name in ("json", "csv", "png", "html", "svg")}
    install(dataclasses.replace(STUB, draw=picture))
    wanted = {"--json": "json", "--log": "csv", "--plot": "png", "--report": "html", "--picture": "svg"}
    options = [word for option, name in wanted.items() for word in (option, paths[name])]
    code, _, _ = run(capsys, "solve", "stub", file, *options)
    assert code == 0
    content = json.loads(paths["json"].read_text(encoding="utf-8"))
    assert content["template"] == "stub"
    assert content["file"] == str(file)
    assert content["termination"] == "OPTIMAL"
    assert content["objective"] == content["dual_bound"]
    assert sorted(task for part in content["answer"] for task in part["tasks"]) == list(range(6))
    assert len(paths["csv"].read_text(encoding="utf-8").splitlines()) == content["rounds"] + 1
    assert paths["png"].read_bytes().startswith(b"\x89PNG")
    page = paths["html"].read_text(encoding="utf-8")
    assert "Proved optimal." in page
    assert "<th>tasks</th>" in page  # the template's names
    assert "<svg" in paths["svg"].read_text(encoding="utf-8")
    code, _, _ = run(capsys, "solve", "stub", file, "--relaxation", "--picture", tmp_path / "none.png")
    assert (code, (tmp_path / "none.png").exists()) == (0, False)  # a relaxation has no answer to draw


def test_json_is_the_only_standard_output(capsys, install, file):
    code, out, _ = run(capsys, "solve", "stub", file, "--json", "-")
    assert code == 0
    assert json.loads(out)["message"] == "Proved optimal."


def test_data_that_is_not_plain(capsys, install, file):
    install(dataclasses.replace(STUB, data=lambda instance, result: {1j}))
    code, _, err = run(capsys, "solve", "stub", file, "--json", "-")
    assert code == 4
    assert "cannot be written as JSON" in err


def test_a_failed_file_does_not_prevent_the_others(capsys, install, file):
    folder = file.parent
    table, page = folder / "log.csv", folder / "page.html"
    table.write_text("old")
    asked = ("--json", "/dev/full", "--log", str(table), "--report", str(page))
    code, out, err = run(capsys, "solve", "stub", str(file), *asked)
    assert code == 2
    assert "Proved" in out
    assert err == "colgen: /dev/full: No space left on device\n"
    assert "old" not in table.read_text()
    assert page.exists()
    assert not list(folder.glob(".colgen*"))


@pytest.mark.parametrize(
    ("text", "colour", "words"),
    [
        ("Proved optimal among ten candidates.", "green", "Proved optimal"),
        ("a.txt: Proved infeasible: no answer satisfies all rows. objective none", "red", "Proved infeasible"),
        ("Stopped at the time\nlimit.", "yellow", "Stopped at the time\nlimit"),
        ("Stopped by an error.", "red", "Stopped by an error"),
        ("Interrupted by the user.", "yellow", "Interrupted by the user"),
        ("2 instances, 0 proved optimal", "", ""),
    ],
)
def test_the_end_of_a_run_has_a_colour(text, colour, words):
    spans = [(span.style, text[span.start : span.end]) for span in paint(text).spans]
    assert spans == ([(colour, words)] if colour else [])


def test_every_end_of_a_run_has_a_colour():
    assert all(paint(end.value).spans for end in Termination)


def test_colours_need_a_terminal_and_respect_no_color(capsys, install, file, monkeypatch, coloured):
    assert "\x1b" not in run(capsys, "solve", "stub", file)[1]
    coloured()
    assert "\x1b[32mProved optimal\x1b[0m." in run(capsys, "solve", "stub", file)[1]
    _write_file("a.txt: Proved infeasible: no answer satisfies all rows.\nProved optimal\t")
    assert capsys.readouterr().out.startswith("a.txt: \x1b[31mProved infeasible\x1b[0m: no answer")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(capsys, "solve", "stub", file)[1]

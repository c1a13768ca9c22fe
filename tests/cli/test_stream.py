"""Many instances from one text: written one by one, summed up, kept when something ends the run."""

import io
import json

import pytest

from colgen.cli.stream import Tally, write_all
from tests.cli.stub import (
    became,
    run,
)


@pytest.mark.parametrize(
    ("words", "code", "summary"),
    [
        ("OPTIMAL OPTIMAL", 0, "2 instances, 2 proved optimal, "),
        ("OPTIMAL INFEASIBLE", 1, "2 instances, 1 proved optimal (not number 2), 1 proved infeasible, "),
        ("TIME_LIMIT OPTIMAL INFEASIBLE", 3, "3 instances, 1 proved optimal (not number 1, 3), 1 proved infeasible, "),
        (8 * "GAP_LIMIT ", 3, "8 instances, 0 proved optimal (not number 1, 2, 3, 4, 5, ...), "),
    ],
)
def test_all_instances_are_written_and_summed_up(capsys, several, words, code, summary):
    found, out, err = several(capsys, words)
    assert found == code
    assert out == "".join(f"answer: {word}\n\n" for word in words.split())
    assert err.startswith(f"colgen: {summary}")
    assert len(err.splitlines()) == 1
    assert several(capsys, words, "--quiet") == (code, out, "")


def test_one_instance_of_a_text_has_a_report(capsys, several, file, tmp_path):
    file.write_text("3 6", encoding="utf-8")
    code, out, err = run(capsys, "solve", "several", file, "--model", tmp_path / "m.model", "--node-limit", "99")
    assert (code, err) == (0, "")
    assert "dual bound  " in out


def test_all_instances_as_json_are_an_object_a_line(capsys, several, tmp_path):
    code, out, _ = several(capsys, "OPTIMAL INFEASIBLE TIME_LIMIT", "--json", "-", "--gap", "0.1")
    assert code == 3
    records = [json.loads(line) for line in out.splitlines()]
    assert [r["number"] for r in records] == [1, 2, 3]
    assert [r["answer"] for r in records] == ["OPTIMAL", None, "TIME_LIMIT"]
    assert {r["bound_source"] for r in records} == {"colgen"}
    assert [r["termination"] for r in records] == ["OPTIMAL", "INFEASIBLE", "TIME_LIMIT"]
    assert {(r["objective"], r["dual_bound"], r["gap"]) for r in records} == {(2.0, None, None)}  # one stop rule
    code, out, _ = several(capsys, "OPTIMAL OPTIMAL", "--json", tmp_path / "out.jsonl")
    assert out.count("answer: OPTIMAL") == 2
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("last", "code", "says"),
    [
        ("broken", 2, "colgen: line of 'broken': expected something else"),
        ("ctrl-c", 130, "Interrupted by the user."),
        ("INTERRUPTED", 130, "Interrupted by the user."),
    ],
)
def test_what_was_solved_before_the_end_is_kept(capsys, several, tmp_path, last, code, says):
    found, out, err = several(capsys, f"OPTIMAL OPTIMAL {last} OPTIMAL", "--json", tmp_path / "out.jsonl")
    assert found == code
    written = 3 if last == "INTERRUPTED" else 2
    assert out.count("answer: ") == written
    assert len((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()) == written
    assert err.splitlines()[0].startswith(f"colgen: {written} instances, 2 proved optimal")
    assert err.splitlines()[1] == says


@pytest.mark.parametrize("argv", [["solve", "several", "MODEL"], ["solve", "several", "-", "--model", "MODEL"]])
def test_a_model_reads_the_standard_input(capsys, several, tmp_path, monkeypatch, argv):
    argv = [word.replace("MODEL", str(tmp_path / "m.model")) for word in argv]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\ufeffOPTIMAL\r\nOPTIMAL".encode())))
    code, out, err = run(capsys, *argv)
    assert (code, out.count("answer: OPTIMAL\n")) == (0, 2)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"OPTIMAL\n\xff")))
    code, out, err = run(capsys, *argv)
    assert (code, out.count("answer: OPTIMAL\n")) == (2, 1)
    assert err.splitlines()[1] == "colgen: the standard input, line 2: not a text in UTF-8"
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert err == "colgen: the standard input: expected something to solve, there is nothing\n"


def test_the_live_line_leaves_standard_output_alone(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # to rich, standard error is a terminal then
    solved = [became(word, []) for word in ("OPTIMAL", "INFEASIBLE")]
    tally = Tally()
    write_all(iter(solved), tally, print, None, live=True)
    out, err = capsys.readouterr()
    assert out == "answer: OPTIMAL\n\nanswer: INFEASIBLE\n\n"
    assert "2 instances, 1 proved optimal (not number 2)" in err
    assert "answer" not in err


def test_somebody_who_types_is_told(capsys, several, tmp_path, monkeypatch):
    typed = io.StringIO("OPTIMAL\n")
    typed.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", typed)
    code, _, err = run(capsys, "solve", "several", tmp_path / "m.model")
    assert code == 0
    assert err.startswith("colgen: reading the standard input, up to its end (Ctrl-D)\n")


def test_what_does_not_fit_into_the_memory_is_what_was_read(capsys, several, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("OPTIMAL\nhuge\nOPTIMAL\n"))
    code, out, err = run(capsys, "solve", "several", tmp_path / "m.model")
    assert (code, out.count("answer: ")) == (2, 1)
    assert err.splitlines()[1] == "colgen: the standard input: expected an instance that fits into the memory"

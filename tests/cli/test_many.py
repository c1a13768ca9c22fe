"""Many instances of one text: each answer, the summary, and interrupted runs."""

from __future__ import annotations

import io
import json

import pytest

from colgen.cli.many import Tally, write_all
from tests.cli.stub import became, run


@pytest.mark.parametrize(
    ("words", "code", "summary"),
    [
        ("OPTIMAL OPTIMAL", 0, "2 instances, 2 proved optimal, "),
        ("OPTIMAL INFEASIBLE", 1, "2 instances, 1 proved optimal (not number 2), 1 proved infeasible, "),
        ("TIME_LIMIT OPTIMAL INFEASIBLE", 3, "3 instances, 1 proved optimal (not number 1, 3), 1 proved infeasible, "),
        (8 * "GAP_LIMIT ", 3, "8 instances, 0 proved optimal (not number 1, 2, 3, 4, 5, ...), "),
    ],
)
def test_all_instances_are_written_with_a_summary(capsys, several, words, code, summary):
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


def test_json_has_one_object_per_line(capsys, several, tmp_path):
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
def test_answers_before_an_error_are_kept(capsys, several, tmp_path, last, code, says):
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
    assert err.splitlines()[1] == "colgen: the standard input, line 2: expected a text in UTF-8"
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert err == "colgen: the standard input: expected at least one instance, there is none\n"


def test_the_live_line_leaves_standard_output_alone(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # to rich, standard error is a terminal then
    solved = [became(word, []) for word in ("OPTIMAL", "INFEASIBLE")]
    tally = Tally()
    write_all(iter(solved), tally, print, None, live=True)
    out, err = capsys.readouterr()
    assert out == "answer: OPTIMAL\n\nanswer: INFEASIBLE\n\n"
    assert "2 instances, 1 proved optimal (not number 2)" in err
    assert "answer" not in err


def test_reading_from_a_terminal_is_announced(capsys, several, tmp_path, monkeypatch):
    typed = io.StringIO("OPTIMAL\n")
    typed.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", typed)
    code, _, err = run(capsys, "solve", "several", tmp_path / "m.model")
    assert code == 0
    assert err.startswith("colgen: reading standard input until its end (Ctrl-D)\n")


def test_memory_errors_name_the_input(capsys, several, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("OPTIMAL\nhuge\nOPTIMAL\n"))
    code, out, err = run(capsys, "solve", "several", tmp_path / "m.model")
    assert (code, out.count("answer: ")) == (2, 1)
    assert err.splitlines()[1] == "colgen: the standard input: expected an instance that fits into memory"


pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def files(tmp_path):
    found = []
    for seed in (1, 9, 2):  # the second one is infeasible
        found.append(tmp_path / f"{seed}.txt")
        found[-1].write_text("2 4 " + str(seed), encoding="utf-8")
    return found


@pytest.fixture
def here(monkeypatch):
    """Solve in this process, where the stub is installed."""
    from tests.parallel.scripted import Scripted

    monkeypatch.setattr("colgen.parallel.clusters.Processes", lambda count: Scripted(count=count))


def test_files_are_reported_in_order(capsys, install, files, here):
    code, out, err = run(capsys, "solve", "stub", *files, "--workers", 2)
    assert code == 1
    heads = [line for line in out.splitlines() if line.startswith(str(files[0].parent))]
    assert [line.partition(": ")[0] for line in heads] == [str(file) for file in files]
    assert "Proved optimal. objective" in heads[0]
    assert "Proved infeasible" in heads[1]
    assert "3 instances, 2 proved optimal" in err


def test_records_name_their_files(capsys, install, files, here):
    code, out, _ = run(capsys, "solve", "stub", files[0], files[2], "--json", "-")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [record["file"] for record in records] == [str(files[0]), str(files[2])]
    assert all(record["termination"] == "OPTIMAL" and record["answer"] for record in records)
    assert {record["bound_source"] for record in records} == {"colgen"}


@pytest.mark.parametrize("asked", [("--log", "x.csv"), ("--certificate", "x.jsonl"), ("--report", "x.html")])
def test_options_for_one_file_are_refused(capsys, install, files, here, tmp_path, asked):
    code, _, err = run(capsys, "solve", "stub", *files, asked[0], tmp_path / asked[1])
    assert code == 2
    assert f"{asked[0]} applies to one instance" in err


def test_a_missing_file_is_named_before_any_work(capsys, install, files, here, tmp_path):
    code, out, err = run(capsys, "solve", "stub", *files, tmp_path / "none.txt")
    assert (code, out) == (2, "")
    assert "none.txt" in err


def test_an_invalid_cluster_is_refused(capsys, install, files):
    code, _, err = run(capsys, "solve", "stub", files[0], "--cluster", "nowhere")
    assert code == 2
    assert "Dask" in err


@pytest.mark.parametrize("how", ["free", pytest.param("batches", marks=pytest.mark.slow)])
def test_the_tree_of_one_file_is_searched_by_processes(capsys, tmp_path, how):
    """A template of the library: the processes import it."""
    from colgen.problems.assignment import random, write

    machines = random(5, 20, 2)
    file = tmp_path / "machines.txt"
    write(machines, file)
    alone, out, _ = run(capsys, "solve", "assignment", file, "--json", "-")
    code, found, _ = run(capsys, "solve", "assignment", file, "--subtrees", how, "--workers", 2, "--json", "-")
    assert (alone, code) == (0, 0)
    assert json.loads(found)["objective"] == json.loads(out)["objective"]


def test_subtrees_of_several_files_are_refused(capsys, install, files, here):
    code, _, err = run(capsys, "solve", "stub", *files, "--subtrees", "free")
    assert code == 2
    assert "--subtrees applies to one instance: expected one FILE with it" in err

"""``colgen solve`` of several files."""

import json

import pytest

from tests.cli.stub import run

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
    """Whoever solves does it in this process, which knows the stub."""
    from tests.parallel.scripted import Scripted

    monkeypatch.setattr("colgen.parallel.clusters.Processes", lambda count: Scripted(count=count))


def test_files_are_told_in_their_order(capsys, install, files, here):
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
def test_what_is_for_one_file_is_refused(capsys, install, files, here, tmp_path, asked):
    code, _, err = run(capsys, "solve", "stub", *files, asked[0], tmp_path / asked[1])
    assert code == 2
    assert f"{asked[0]} is for one instance" in err


def test_a_missing_file_is_named_before_any_work(capsys, install, files, here, tmp_path):
    code, out, err = run(capsys, "solve", "stub", *files, tmp_path / "none.txt")
    assert (code, out) == (2, "")
    assert "none.txt" in err


def test_a_cluster_that_is_none_is_refused(capsys, install, files):
    code, _, err = run(capsys, "solve", "stub", files[0], "--cluster", "nowhere")
    assert code == 2
    assert "Dask" in err


@pytest.mark.parametrize("how", ["free", pytest.param("batches", marks=pytest.mark.slow)])
def test_the_tree_of_one_file_is_searched_by_processes(capsys, tmp_path, how):
    """A template of the library: the processes import it."""
    from problems.assignment import random, write

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
    assert "--subtrees is for one instance: expected one FILE with it" in err

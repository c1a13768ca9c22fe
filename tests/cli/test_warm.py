"""`colgen warm`: kernels are compiled ahead of time, by a process for each template."""

import dataclasses
import subprocess
import threading
from pathlib import Path

import pytest

from colgen.cli import warm
from tests.cli.stub import STUB, run


@pytest.fixture
def processes(monkeypatch):
    """Record the commands and instances of processes, which end with the given exit codes."""
    started, codes = [], {}

    def start(command, **more):
        assert command[1:4] == ["-m", "colgen", "solve"]
        name, instance = command[4:6]
        started.append((name, Path(instance).read_text(encoding="utf-8")))
        code = codes.get(name, 0)
        return subprocess.CompletedProcess(command, code, stderr="reading\ncolgen: no memory\n" if code else "")

    monkeypatch.setattr(warm.subprocess, "run", start)
    return started, codes


def example(path):
    path.write_text("2 3 0", encoding="utf-8")


def test_each_template_solves_its_example(capsys, install, processes):
    install(*(dataclasses.replace(STUB, name=name, example=example) for name in ("one", "two", "three")))
    code, out, err = run(capsys, "warm")
    assert code == 0
    assert sorted(processes[0]) == [("one", "2 3 0"), ("three", "2 3 0"), ("two", "2 3 0")]
    assert out.startswith("Compiled the kernels of 3 templates in ")
    assert [line.split(":")[0] for line in err.splitlines()] == ["one", "two", "three"]


def test_only_the_templates_that_are_named(capsys, install, processes):
    install(*(dataclasses.replace(STUB, name=name, example=example) for name in ("one", "two")))
    assert run(capsys, "warm", "two")[0] == 0
    assert [name for name, _ in processes[0]] == ["two"]
    assert run(capsys, "warm", "four")[0] == 2


def test_an_example_that_fails_is_reported(capsys, install, processes):
    install(*(dataclasses.replace(STUB, name=name, example=example) for name in ("one", "two")))
    processes[1]["one"] = 4
    code, out, err = run(capsys, "warm")
    assert code == 4
    assert "one: colgen: no memory" in err
    assert out.startswith("Compiled the kernels of 1 template in ")


def test_as_many_processes_at_a_time_as_there_are_processors(capsys, install, monkeypatch):
    install(*(dataclasses.replace(STUB, name=name, example=example) for name in ("one", "two")))
    both = threading.Barrier(2, timeout=30)

    def start(command, **more):
        both.wait()
        return subprocess.CompletedProcess(command, 0, stderr="")

    monkeypatch.setattr(warm.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(warm.subprocess, "run", start)
    assert run(capsys, "warm")[0] == 0

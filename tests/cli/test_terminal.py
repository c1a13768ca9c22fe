"""The output of all commands on terminals of several widths."""

from __future__ import annotations

import dataclasses

import pytest

import benchmarks
from colgen.cli.option import Option
from tests.cli.stub import STUB, demo, engine, run

LONG = "a description that is too long for a single line of a terminal, and is therefore broken at a blank"

STAGES = {"compiling", "setup", "master", "pricing", "separation", "heuristics", "other"}
"""Words of the last line of a run, which lists those that take at least 1% of the time."""

COMMANDS = (
    *("", "--help", "sovle", "--verison", "bench --list", "bench nothing", "bench stub", "bench"),
    *(f"{command} --help" for command in ("solve", "resume", "check", "watch", "train", "ablation", "demo", "warm")),
    *(f"{command} --help" for command in ("example", "bench", "templates")),
    *("templates", "templates stub", "templates nothing", "example stub", "demo", "demo --quick", "warm nothing"),
    *("solve stub FILE", "solve stub FILE SECOND", "solve stub FILE --time-limit 0", "solve stub FILE --relaxation"),
    *("solve stub NONE", "solve stub FILE --tim-limit 3", "solve stub FILE --option x=1", "solve stub"),
    *("ablation stub FILE", "ablation stub FILE --time-limit 0 --vary choice", "ablation stub FILE SECOND"),
    *(
        "check PROOF",
        "check PROOF FILE",
        "check FILE",
        "watch LOG --once",
        "resume FILE",
        "train stub --data . --model m",
    ),
)


@pytest.fixture
def commands(install, monkeypatch, tmp_path, capsys):
    """Return a function that runs a command on a terminal of some width, as lines."""
    monkeypatch.setattr(benchmarks, "load", lambda name: engine)
    monkeypatch.setitem(benchmarks.BENCHMARKS, "stub", "")
    slow = demo(proof="Stopped at the time limit.", dual_bound=11.0, brute_force="an enumeration of all of the sets")
    template = dataclasses.replace(
        STUB,
        title=LONG,
        source=LONG,
        options={"problem": Option(LONG)},
        read=lambda path, problem="": STUB.read(path),
        example=lambda path: path.write_text("3 6 1\n", encoding="utf-8"),
        suffixes=(".text",),
        demo=(demo(), slow),
    )
    install(template)
    monkeypatch.setattr("colgen.cli.template.title_of", lambda name: template.title)
    names = {word: tmp_path / word.lower() for word in ("FILE", "SECOND", "NONE", "PROOF", "LOG")}
    monkeypatch.chdir(tmp_path)
    for word, seed in (("FILE", 1), ("SECOND", 2)):
        names[word].write_text(f"3 6 {seed}", encoding="utf-8")
    names = {word: path.name for word, path in names.items()}
    assert run(capsys, "solve", "stub", "file", "--certificate", "proof", "--log", "log", "--quiet")[0] == 0

    def lines(command: str, width: int) -> list[str]:
        monkeypatch.setenv("COLUMNS", str(width))
        _, out, err = run(capsys, *(names.get(word, word) for word in command.split()))
        return (out + err).splitlines()

    return lines


@pytest.mark.parametrize("command", COMMANDS)
def test_lines_fit_eighty_characters_and_no_word_is_broken(command, commands):
    narrow, wide = commands(command, 80), commands(command, 1000)
    assert max(map(len, narrow)) <= 80
    words = [word for line in narrow for word in line.split() if word.isalpha()]
    assert set(words) <= {word for line in wide for word in line.split()} | STAGES


@pytest.mark.parametrize(
    "command", ["templates", "solve stub FILE", "ablation stub FILE", "bench stub", "solve --help"]
)
@pytest.mark.parametrize("width", [60, 120])
def test_other_widths_are_used(command, width, commands):
    assert max(map(len, commands(command, width))) <= width

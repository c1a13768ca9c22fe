"""The command line, over a small stub template; and once as a program."""

import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import colgen
from colgen import ColgenError, InputError, Termination
from colgen.cli import main as cli
from colgen.cli import template
from colgen.cli.arguments import CLOSED_PIPE
from colgen.cli.output import significant
from colgen.cli.stream import Tally, write_all
from colgen.cli.template import BenchOptions, DemoLine, Figure, Material, Solved, Template, TrainOptions
from tests.assignment import Assignment, assignment


def read(path: Path) -> Assignment:
    """A file of ``machines tasks seed``."""
    words = path.read_text(encoding="utf-8").split()
    if len(words) != 3 or not all(word.isdigit() for word in words):
        raise InputError(f"{path}, line 1: expected three whole numbers: machines, tasks, seed")
    problem = assignment(*map(int, words))
    if words[2] == "9":
        problem.capacities[:] = 3  # no task fits
    return problem


def lines(instance: Assignment, result: colgen.Result) -> list[str]:
    return [f"machine {machine}: tasks {list(tasks)}" for (machine, tasks), _ in result.answer]


def data(instance: Assignment, result: colgen.Result) -> list:
    return [{"machine": machine, "tasks": list(tasks)} for (machine, tasks), _ in result.answer]


def picture(instance: Assignment, result: colgen.Result):
    from matplotlib.figure import Figure

    return Figure()


def demo(brute_force: float | None = 12.0, objective: float = 12.0, **more):
    words = ("gap 0", 7, 1234, "all of them", 0.5, 0.01234)
    return lambda: [DemoLine("three [small] tasks", objective, brute_force, *words, **more)]


def engine(options: BenchOptions) -> list[Figure]:
    options.say("measuring")
    quick = 1.0 if options.quick else 2.0
    return [
        Figure("rounds", 1234567.0, "1/s", 3, "more is better"),
        Figure("time", 0.0123456, "s", 5),
        Figure("quick", quick, "", 1),
        Figure("none", float("inf"), "s", 0),
    ]


def train(options: TrainOptions) -> list[Figure]:
    """Learns nothing, and writes what it was asked for."""
    options.say("learning")
    options.model.write_text(f"{options.data.name} {options.seed} {options.quick}", encoding="utf-8")
    return [Figure("accuracy", 0.75, "", 4, "of four")]


def score(material: Material, model: Path, options: dict[str, str]) -> Assignment:
    """A text of ``machines tasks``; the model holds the seed."""
    unknown = set(options) - {"tasks"}
    if unknown:
        raise InputError(f"there is no option {min(unknown)!r}; there is tasks")
    machines, tasks = material.text.split()
    return assignment(int(machines), int(options.get("tasks", tasks)), int(model.read_text(encoding="utf-8")))


def solve_all(material: Material, model: Path, options: dict[str, str], stop: list):
    """A word a line: what became of it, ``broken``, ``interrupted``, ``ctrl-c``; one line is one instance."""
    if material.path is not None and len(material.path.read_text(encoding="utf-8").splitlines()) == 1:
        return None
    return (became(word, stop) for word in material.lines())


def became(word: str, stop: list) -> Solved:
    if word == "broken":
        raise InputError("line of 'broken': expected something else")
    if word == "ctrl-c":
        raise KeyboardInterrupt
    answer = None if word == "INFEASIBLE" else word
    return Solved([f"answer: {word}", ""], answer, Termination[word], 1.0 + len(stop), float("inf"))


STUB = Template(
    "stub",
    "generalized assignment",
    "the tests",
    read,
    lambda instance: instance,
    lines,
    data,
    demo=(demo(), demo(None)),
    benchmarks={"engine": engine},
)


@pytest.fixture
def install(monkeypatch):
    """Install templates instead of those of this environment."""

    def install(*templates: Template) -> None:
        def load(name: str) -> Template:
            for one in templates:
                if one.name == name:
                    return one
            raise InputError(f"there is no template {name!r}")

        monkeypatch.setattr("colgen.cli.template.template_names", lambda: [t.name for t in templates])
        monkeypatch.setattr("colgen.cli.template.load_template", load)

    install(STUB)
    return install


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "instance.txt"
    path.write_text("3 6 1", encoding="utf-8")
    return path


def run(capsys, *argv) -> tuple[int, str, str]:
    code = cli.main([str(word) for word in argv])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err or "--traceback" in argv
    return code, out, err


# --- help ------------------------------------------------------------------------------------------------------------


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"colgen {colgen.__version__}\n", "")


def test_help_is_one_screen_with_an_example_for_each_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert len(out.splitlines()) <= 40
    for command in ("solve", "train", "demo", "bench", "templates"):
        assert f"  colgen {command}" in out
    for exit_code in ("0", "1", "2", "3", "4", "130"):
        assert f"\n  {exit_code}  " in out


@pytest.mark.parametrize("command", ["solve", "train", "demo", "bench", "templates"])
def test_help_of_each_command_fits_a_screen_and_has_an_example(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"  colgen {command}" in out
    assert len(out.splitlines()) <= 50
    assert max(map(len, out.splitlines())) <= 90


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ([], "COMMAND"),
        (["sovle"], "invalid choice: 'sovle'"),
        (["solve", "stub", "x", "model"], "unrecognized arguments: model (see colgen solve --help)"),
        (["solve", "stub"], "FILE"),
        (["solve", "stub", "x", "--gap", "much"], "expected a number, zero or more, not 'much'"),
        (["solve", "stub", "x", "--time-limit", "nan"], "expected a number, zero or more, not 'nan'"),
        (["solve", "stub", "x", "--node-limit", "0"], "expected a whole number, one or more, not '0'"),
        (["train", "stub", "--model", "m"], "--data"),
        (["train", "stub", "--model", "m", "--data", ".", "--train", "x"], "--data DIR, or --train FILE"),
        (["train", "stub", "--model", "m", "--data", ".", "--dev", "x"], "--train FILE with or without --dev"),
        (["train", "stub", "--data", "."], "--model"),
        (["train", "stub", "--data", ".", "--model", "m", "--seed", "-1"], "expected a whole number, zero or more"),
    ],
)
def test_usage_errors_are_one_sentence(capsys, install, argv, expected):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1


# --- solve -----------------------------------------------------------------------------------------------------------


def test_solve_prints_answer_bounds_and_times(capsys, install, file):
    code, out, err = run(capsys, "solve", "stub", file)
    assert code == 0
    assert err == ""  # no progress where there is no terminal
    assert out.startswith("machine ")
    for expected in ("Proved optimal.", "objective   ", "dual bound  ", "gap         0%", " rounds, ", "seconds: "):
        assert expected in out


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
    assert "Proved optimal." in paths["html"].read_text(encoding="utf-8")
    assert "<svg" in paths["svg"].read_text(encoding="utf-8")
    code, _, _ = run(capsys, "solve", "stub", file, "--relaxation", "--picture", tmp_path / "none.png")
    assert (code, (tmp_path / "none.png").exists()) == (0, False)  # a relaxation has no answer to draw


def test_json_on_standard_output_stands_alone(capsys, install, file):
    code, out, _ = run(capsys, "solve", "stub", file, "--json", "-")
    assert code == 0
    assert json.loads(out)["message"] == "Proved optimal."


def test_relaxation_has_no_answer(capsys, install, file):
    code, out, _ = run(capsys, "solve", "stub", file, "--relaxation", "--json", "-")
    assert code == 0
    assert json.loads(out)["answer"] is None
    _, out, _ = run(capsys, "solve", "stub", file, "--relaxation")
    assert "This is the relaxation" in out
    assert "machine" not in out


def test_infeasible(capsys, install, file):
    file.write_text("2 4 9", encoding="utf-8")
    code, out, _ = run(capsys, "solve", "stub", file, "--json", "-")
    assert code == 1
    assert json.loads(out)["termination"] == "INFEASIBLE"
    _, out, _ = run(capsys, "solve", "stub", file)
    assert out.startswith("Proved infeasible")
    assert "objective   none" in out


def test_a_limit_is_reached(capsys, install, file):
    code, out, _ = run(capsys, "solve", "stub", file, "--time-limit", "0")
    assert code == 3
    assert "Stopped at the time limit." in out


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["solve", "other", "FILE"], "there is no template 'other'"),
        (["solve", "stub", "DIR/missing.txt"], "missing.txt cannot be read: No such file"),
        (["solve", "stub", "DIR"], "expected a file, this is a directory"),
        (["solve", "stub", "FILE", "--json", "DIR/no/x.json"], "--json"),
        (["solve", "stub", "FILE", "--log", "DIR"], "expected the name of a file in an existing folder"),
        (["solve", "stub", "FILE", "--plot", "DIR/x.txt"], "expected a name that ends in .png"),
        (["solve", "stub", "FILE", "--picture", "DIR/x.png"], "the template 'stub' draws no answers"),
    ],
)
def test_bad_input_is_one_sentence(capsys, install, file, argv, expected):
    argv = [word.replace("FILE", str(file)).replace("DIR", str(file.parent)) for word in argv]
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("content", [b"3 x 1", b"", b"\xff\xfe\x00"])
def test_malformed_files(capsys, install, file, content):
    file.write_bytes(content)
    code, out, err = run(capsys, "solve", "stub", file)
    assert (code, out) == (2, "")
    assert str(file) in err
    assert len(err.splitlines()) == 1


def test_traceback_on_request(capsys, install, file):
    file.write_text("?", encoding="utf-8")
    code, _, err = run(capsys, "solve", "stub", file, "--traceback")
    assert code == 2
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("colgen: ")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ColgenError("the oracle is not exact"), "colgen: the oracle is not exact"),
        (ZeroDivisionError("division by zero"), "colgen: unexpected ZeroDivisionError: division by zero"),
    ],
)
def test_diagnostics(capsys, install, file, error, expected):
    def broken(instance):
        raise error

    install(dataclasses.replace(STUB, problem=broken))
    code, out, err = run(capsys, "solve", "stub", file)
    assert (code, out) == (4, "")
    assert err.startswith(expected)
    assert len(err.splitlines()) == 1


def test_a_diagnostic_shows_the_best_answer_before_it(capsys, install, file, monkeypatch):
    result = colgen.solve(read(file))

    def broken(*args, **kwargs):
        error = ColgenError("the oracle is not exact")
        error.result = dataclasses.replace(result, termination=Termination.FAULT)
        raise error

    monkeypatch.setattr("colgen.cli.solving.solve", broken)
    code, out, err = run(capsys, "solve", "stub", file)
    assert code == 4
    assert out.startswith("machine ")
    assert "Stopped by an error." in out
    assert "the oracle is not exact" in err


def test_an_interrupt_shows_the_best_answer(capsys, install, file, monkeypatch):
    result = dataclasses.replace(colgen.solve(read(file)), termination=Termination.INTERRUPTED)
    monkeypatch.setattr("colgen.cli.solving.solve", lambda *args, **kwargs: result)
    code, out, _ = run(capsys, "solve", "stub", file)
    assert code == 130
    assert out.startswith("machine ")
    assert "Interrupted by the user." in out


def test_data_that_is_not_plain(capsys, install, file):
    install(dataclasses.replace(STUB, data=lambda instance, result: {1j}))
    code, _, err = run(capsys, "solve", "stub", file, "--json", "-")
    assert code == 4
    assert "cannot be written as JSON" in err


# --- models ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def learning(install):
    """The stub as a template that learns."""
    template = dataclasses.replace(
        STUB, train=train, train_options={"epochs": "how often"}, score=score, score_options={"tasks": "how many"}
    )
    several = dataclasses.replace(
        template, name="several", train_files=True, solve_all=solve_all, is_model=lambda path: path.suffix == ".model"
    )
    install(template, several, dataclasses.replace(STUB, name="fixed"))


def test_train(capsys, learning, tmp_path):
    model, figures = tmp_path / "model", tmp_path / "figures.json"
    code, out, err = run(
        capsys, "train", "stub", "--data", tmp_path, "--model", model, "--seed", "7", "--quick", "--json", figures
    )
    assert (code, err) == (0, "learning\n")
    assert "accuracy" in out
    assert "of four" in out
    assert model.read_text(encoding="utf-8") == f"{tmp_path.name} 7 True"
    assert json.loads(figures.read_text(encoding="utf-8")) == [{"name": "accuracy", "value": 0.75, "unit": "", "n": 4}]


def test_train_json_on_standard_output_stands_alone(capsys, learning, tmp_path):
    code, out, _ = run(capsys, "train", "stub", "--data", tmp_path, "--model", tmp_path / "model", "--json", "-")
    assert code == 0
    assert json.loads(out)[0]["name"] == "accuracy"


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["train", "fixed", "--data", "DIR", "--model", "DIR/m"], "the template 'fixed' has nothing to train"),
        (["train", "other", "--data", "DIR", "--model", "DIR/m"], "there is no template 'other'"),
        (["train", "stub", "--data", "DIR/no", "--model", "DIR/m"], "expected an existing folder"),
        (["train", "stub", "--data", "DIR", "--model", "DIR/no/m"], "--model"),
        (["train", "stub", "--data", "DIR", "--model", "DIR"], "expected the name of a file in an existing folder"),
        (
            ["train", "stub", "--data", "DIR", "--model", "DIR/m", "--option", "x=1"],
            "there is no option 'x'; there are",
        ),
        (["train", "stub", "--train", "FILE", "--model", "DIR/m"], "'stub' learns from a folder: say --data DIR"),
        (["train", "several", "--train", "DIR/no", "--model", "DIR/m"], "no: expected a file"),
        (["solve", "stub", "-"], "the standard input (-) is read with a trained model: say --model MODEL"),
        (["solve", "several", "TWO", "--model", "MODEL", "--plot", "DIR/x.png"], "--plot is for one instance: choose"),
        (["solve", "several", "TWO", "--model", "MODEL", "--node-limit", "3"], "--node-limit is for one instance"),
        (["solve", "fixed", "FILE", "--model", "MODEL"], "the template 'fixed' takes no model: leave --model out"),
        (["solve", "stub", "FILE", "--option", "tasks=6"], "--option needs --model"),
        (["solve", "stub", "FILE", "--model", "MODEL", "--option", "tasks"], "--option tasks: expected NAME=VALUE"),
        (["solve", "stub", "FILE", "--model", "MODEL", "--option", "=6"], "--option =6: expected NAME=VALUE"),
        (
            ["solve", "stub", "FILE", "--model", "MODEL", "--option", "tasks=6", "--option", "tasks=7"],
            "--option tasks is given twice",
        ),
        (["solve", "stub", "FILE", "--model", "MODEL", "--option", "x=1"], "there is no option 'x'; there is tasks"),
        (["solve", "stub", "FILE", "--model", "DIR/missing"], "missing cannot be read: No such file"),
    ],
)
def test_bad_input_to_models_is_one_sentence(capsys, learning, file, argv, expected):
    file.write_text("3 6", encoding="utf-8")
    model = file.parent / "model.txt"
    model.write_text("1", encoding="utf-8")
    two = file.parent / "two.txt"
    two.write_text("OPTIMAL\nOPTIMAL\n", encoding="utf-8")
    for word, value in (("FILE", file), ("MODEL", model), ("DIR", file.parent), ("TWO", two)):
        argv = [part.replace(word, str(value)) for part in argv]
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1
    assert model.read_text(encoding="utf-8") == "1"


def test_solve_with_a_model(capsys, learning, file):
    model = file.parent / "model.txt"
    model.write_text("1", encoding="utf-8")
    _, expected, _ = run(capsys, "solve", "stub", file)  # the same instance, read from a file
    file.write_text("3 9", encoding="utf-8")
    code, out, _ = run(capsys, "solve", "stub", file, "--model", model, "--option", "tasks=6")
    assert code == 0
    assert out.splitlines()[:5] == expected.splitlines()[:5]


# --- many instances --------------------------------------------------------------------------------------------------


@pytest.fixture
def several(learning, tmp_path):
    """Solve lines of what became of each instance."""
    (tmp_path / "m.model").write_text("1", encoding="utf-8")

    def solve(capsys, words: str, *argv) -> tuple[int, str, str]:
        path = tmp_path / "words.txt"
        path.write_text("\n".join(words.split()), encoding="utf-8")
        return run(capsys, "solve", "several", path, "--model", tmp_path / "m.model", *argv)

    return solve


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


# --- demo ------------------------------------------------------------------------------------------------------------


def test_demo(capsys, install):
    code, out, err = run(capsys, "demo")
    assert (code, err) == (0, "")
    assert "three [small] tasks" in out
    assert "7 of 1,234" in out
    assert "0.01234" in out
    assert out.count("stub") == 2


def test_demo_marks_disagreement_loudly(capsys, install):
    install(dataclasses.replace(STUB, demo=(demo(), demo(13.0))))
    code, out, err = run(capsys, "demo")
    assert code == 4
    assert "13 DISAGREES" in out
    assert "WRONG ANSWER" in err


@pytest.mark.parametrize(
    ("brute_force", "more", "wrong"),
    [
        (13.0, {"brute_force_proved": False}, False),  # an answer at a limit is no truth
        (12.0 * (1 + 1e-9), {}, False),
        (13.0, {"dual_bound": 14.0}, False),  # column generation had not ended either
        (15.0, {"dual_bound": 14.0}, True),
        (11.0, {"dual_bound": 14.0}, True),
        (1.3e-9, {"objective": 1.2e-9}, False),  # rounding of zero
        (12e9 + 100.0, {"objective": 12e9}, False),
        (12e9 + 1e5, {"objective": 12e9}, True),
        (12.0, {"objective": float("inf"), "dual_bound": 11.0}, False),  # no answer: its bound is all it has said
    ],
)
def test_only_a_proved_optimum_contradicts(capsys, install, brute_force, more, wrong):
    install(dataclasses.replace(STUB, demo=(demo(brute_force, **more),)))
    code, out, err = run(capsys, "demo")
    assert code == (4 if wrong else 0)
    assert ("DISAGREES" in out) == ("WRONG ANSWER" in err) == wrong
    assert ("not proved in 0.5 s" in out) == ("brute_force_proved" in more)


def test_demo_interrupted(capsys, install):
    def interrupted():
        raise KeyboardInterrupt

    install(dataclasses.replace(STUB, demo=(demo(), interrupted)))
    code, out, err = run(capsys, "demo")
    assert code == 130
    assert "three" in out
    assert "Interrupted" in err


def test_a_demo_that_fails_does_not_hide_the_others(capsys, install):
    def failing():
        raise ZeroDivisionError("division by zero")

    install(dataclasses.replace(STUB, demo=(failing, demo())))
    code, out, err = run(capsys, "demo")
    assert code == 4
    assert "three" in out
    assert err.startswith("colgen, stub: unexpected ZeroDivisionError: division by zero")


def test_a_broken_template_does_not_hide_the_others(capsys, install, monkeypatch):
    load = template.load_template

    def broken(name):
        if name == "broken":
            raise ColgenError("the template 'broken' could not be loaded")
        return load(name)

    monkeypatch.setattr("colgen.cli.template.template_names", lambda: ["broken", "stub"])
    monkeypatch.setattr("colgen.cli.template.load_template", broken)
    for command in ("demo", "templates"):
        code, out, err = run(capsys, command)
        assert code == 4
        assert "stub" in out
        assert "could not be loaded" in err


# --- bench and templates ---------------------------------------------------------------------------------------------


def test_bench(capsys, install, tmp_path):
    path = tmp_path / "figures.json"
    code, out, err = run(capsys, "bench", "engine", "--quick", "--json", path)
    assert code == 0
    assert err == "measuring\n"
    for expected in ("1,234,567", "0.01235", "more is better"):
        assert expected in out
    figures = json.loads(path.read_text(encoding="utf-8"))
    assert figures[1] == {"name": "time", "value": 0.0123456, "unit": "s", "n": 5}
    assert figures[2]["value"] == 1.0
    assert figures[3]["value"] is None


def test_bench_json_on_standard_output_stands_alone(capsys, install):
    code, out, _ = run(capsys, "bench", "engine", "--json", "-")
    assert code == 0
    assert [figure["name"] for figure in json.loads(out)] == ["rounds", "time", "quick", "none"]


def test_bench_list(capsys, install):
    code, out, _ = run(capsys, "bench", "--list")
    assert code == 0
    assert "engine" in out
    assert "stub" in out


@pytest.mark.parametrize("argv", [["bench"], ["bench", "motor"]])
def test_bench_that_is_not_there(capsys, install, argv):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert "there are: engine" in err


def test_bench_of_two_templates(capsys, install):
    install(STUB, dataclasses.replace(STUB, name="twin"))
    code, _, err = run(capsys, "bench", "engine")
    assert code == 2
    assert "say stub/engine or twin/engine" in err
    assert run(capsys, "bench", "twin/engine")[0] == 0


def test_bench_data_must_be_a_folder(capsys, install, file):
    code, _, err = run(capsys, "bench", "engine", "--data", file)
    assert code == 2
    assert "expected an existing folder" in err


def test_templates(capsys, install):
    code, out, _ = run(capsys, "templates")
    assert code == 0
    for expected in ("stub", "generalized assignment", "the tests"):
        assert expected in out


def test_a_template_is_described(capsys, learning):
    code, out, _ = run(capsys, "templates", "several")
    assert code == 0
    for expected in ("generalized assignment", "colgen solve several MODEL < FILE", "  tasks  how many", "--dev FILE"):
        assert expected in out
    _, out, _ = run(capsys, "templates", "fixed")
    assert "--model" not in out
    assert "colgen bench engine" in out
    assert run(capsys, "templates", "other")[0] == 2


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, "0"), (3.0, "3"), (1234.56, "1,235"), (12.34567, "12.35"), (0.00012345, "0.000123"), (float("nan"), "nan")],
)
def test_significant(value, expected):
    assert significant(value) == expected


# --- as a program ----------------------------------------------------------------------------------------------------


PROGRAM = """
import sys
from tests.cli import test_main
from colgen.cli import main as cli
from colgen.cli import template
template.template_names = lambda: ["stub"]
template.load_template = lambda name: test_main.STUB
sys.exit(cli.main())
"""

CTRL_C = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell in the background switches off
from tests.assignment import Knapsack
best = Knapsack.best
calls = []
def interrupted(*arguments):
    calls.append(arguments)
    if len(calls) == 20:
        signal.raise_signal(signal.SIGINT)
    return best(*arguments)
Knapsack.best = interrupted
"""


def program(*argv, before="", **options) -> subprocess.Popen:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", before + PROGRAM, *map(str, argv)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.skipif(os.name != "posix", reason="a pipe closed by its reader")
def test_a_closed_pipe_is_no_error(file):
    reading, writing = os.pipe()
    os.close(reading)
    process = program("solve", "stub", file, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=60)
    assert err == ""
    assert process.returncode == CLOSED_PIPE


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_with_130(file):
    file.write_text("4 9 1", encoding="utf-8")
    process = program("solve", "stub", file, before=CTRL_C, stdout=subprocess.PIPE)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == ""
    assert "Interrupted by the user." in out


def test_the_installed_program_solves_a_file(tmp_path):
    installed = shutil.which("colgen", path=str(Path(sys.executable).parent))
    if installed is None:
        pytest.skip("colgen is not installed as a program")
    path = tmp_path / "rolls.txt"
    path.write_text("4\n100\n45 97\n36 610\n31 395\n14 211\n", encoding="utf-8")  # Chvátal, Linear Programming
    command = [installed, "solve", "cutting_stock", str(path), "--json", str(tmp_path / "answer.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Proved optimal." in done.stdout
    content = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert content["objective"] == 453
    assert sum(pattern["rolls"] for pattern in content["answer"]) == 453


def test_what_an_error_quotes_stays_one_short_line(capsys, tmp_path):
    path = tmp_path / ("a\nb\x1b[31m" + "x" * 200)
    code, out, err = run(capsys, "solve", "cutting_stock", str(path))
    assert (code, out) == (2, "")
    assert err.endswith("No such file or directory\n")
    assert "\\n" in err
    assert "\\x1b" in err
    assert len(err) <= 301
    assert err[:-1].isprintable()
    code, out, err = run(capsys, "solve", "cutting_stock", "f", "--time-limit", "9\n" * 400)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert len(err) <= 301


def test_every_file_that_can_be_written_is(capsys, install, file):
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

"""`colgen templates`: the list, and the description of one."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from colgen.cli import main as cli
from colgen.cli.template import load_template, template_names, title_of
from colgen.problem import Problem
from tests.cli.stub import STUB, run


def test_templates(capsys, install):
    code, out, _ = run(capsys, "templates")
    assert code == 0
    for expected in ("stub", "generalized assignment", "colgen templates NAME"):
        assert expected in out


def test_the_list_needs_neither_the_engine_nor_the_templates():
    code = (
        "import sys; from colgen.cli import main; main.main(['templates'])\n"
        "print({'numpy', 'colgen.solving', 'colgen.problems'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize("name", template_names())
def test_a_title_is_the_loaded_one(name):
    assert title_of(name) == load_template(name).title


@pytest.mark.parametrize(
    ("module", "title"),
    [
        ("TEMPLATE = make(name='x', title='stated')", "stated"),
        ("OTHER = make(title='other')\nTEMPLATE = make(title='sta' + 'ted')", "loaded"),
        ("from elsewhere import TEMPLATE", "loaded"),
        ("TEMPLATE = 1 +", "loaded"),
        (None, "loaded"),
    ],
)
def test_a_title_that_is_no_literal_is_that_of_the_loaded_template(module, title, monkeypatch, tmp_path):
    (tmp_path / "someones").mkdir()
    if module is not None:
        (tmp_path / "someones" / "own.py").write_text(module, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("x", "someones.own:TEMPLATE", "colgen.templates")
    monkeypatch.setattr("colgen.cli.template.entry_points", lambda **which: [point])
    monkeypatch.setattr("colgen.cli.template.load_template", lambda name: dataclasses.replace(STUB, title="loaded"))
    assert title_of("x") == title


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cutting_stok", "did you mean 'cutting_stock'?"),
        ("coloring", "did you mean 'colouring'?"),
        ("x", "installed are: "),
    ],
)
@pytest.mark.parametrize("command", ["solve", "train", "example", "templates", "warm", "demo", "ablation"])
def test_a_mistyped_template_is_guessed_by_every_command(command, name, hint, capsys):
    more = {"solve": ["f"], "ablation": ["f"], "train": ["--data", ".", "--model", "m"]}.get(command, [])
    code, out, err = run(capsys, command, name, *more)
    assert (code, out) == (2, "")
    assert err.startswith(f"colgen: there is no template {name!r}; {hint}")


def test_a_template_is_described(capsys, learning):
    code, out, _ = run(capsys, "templates", "several")
    assert code == 0
    for expected in ("generalized assignment", "colgen solve several MODEL < FILE", "  tasks  how many", "--dev FILE"):
        assert expected in out
    _, out, _ = run(capsys, "templates", "fixed")
    assert "--model" not in out
    assert run(capsys, "templates", "other")[0] == 2


@pytest.mark.parametrize("name", template_names())
def test_an_example_is_a_file_that_solve_takes(name, capfdbinary, tmp_path):
    assert cli.main(["example", name]) == 0
    template = load_template(name)
    path = tmp_path / f"example{template.suffix}"
    path.write_bytes(capfdbinary.readouterr().out)
    assert isinstance(template.problem(template.read(path)), Problem)


@pytest.mark.parametrize("name", template_names())
def test_the_format_of_a_file_is_described(name, capsys):
    code, out, _ = run(capsys, "templates", name)
    assert code == 0
    assert f"colgen example {name} > FILE" in out
    told = out.split("\nFILE: ")[1]
    assert all(line == "" or line[0] != " " for line in told.splitlines())  # one line per paragraph
    assert len(told) > 60
    assert "``" not in told
    assert "Raises" not in told


def test_templates_without_an_example_refuse_it(capsys, install):
    code, _, err = run(capsys, "example", "stub")
    assert (code, err) == (2, "colgen: the template 'stub' has no example\n")


def test_binary_examples_are_not_written_to_a_terminal(capsys, install, monkeypatch):
    install(dataclasses.replace(STUB, example=lambda path: path.write_bytes(b"\0\1"), suffixes=(".npz",)))
    monkeypatch.setattr("colgen.cli.templates.is_terminal", lambda stream: True)
    code, out, err = run(capsys, "example", "stub")
    assert (code, out) == (2, "")
    assert "use `colgen example stub > example.npz`" in err


@pytest.mark.parametrize(
    ("content", "suffixes", "said"),
    [
        (
            b"\0\1",
            (".npz",),
            "the example is binary: save it to a file whose name ends in .npz, as in `colgen example stub > ",
        ),
        (b"text", (".json",), "save it to a file whose name ends in .json, as in `colgen example stub > example.json`"),
        (b"text", (), ""),
    ],
)
def test_an_example_in_a_pipe_says_which_file_it_needs(content, suffixes, said, capfdbinary, install):
    install(dataclasses.replace(STUB, example=lambda path: path.write_bytes(content), suffixes=suffixes))
    assert cli.main(["example", "stub"]) == 0
    out, err = capfdbinary.readouterr()
    assert out == content
    assert said in err.decode()
    assert bool(said) == bool(err)

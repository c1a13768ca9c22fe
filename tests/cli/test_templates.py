"""`colgen templates`: the list, and the description of one."""

from __future__ import annotations

import dataclasses

import pytest

from colgen.cli import main as cli
from colgen.cli.template import load_template, template_names
from colgen.problem import Problem
from tests.cli.stub import STUB, run


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

"""Templates for the command line: options, texts, and declarations."""

import dataclasses
import io

import numpy as np
import pytest

from colgen.cli.option import Number, Option
from colgen.cli.template import Material, load_template, template_names
from colgen.core.array_files import arrays_in
from colgen.core.errors import InputError
from tests.cli.stub import STUB


def test_material_is_read_by_lines_or_completely(tmp_path, monkeypatch):
    path = tmp_path / "text.txt"
    path.write_bytes("\ufeffone\r\ntwo\n\nfour é".encode())
    for material in (Material(path), Material()):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes()), encoding="ascii"))
        if material.path is not None:
            assert list(material.lines()) == ["one", "two", "", "four é"]
        assert material.text == "one\ntwo\n\nfour é"
        assert material.text == "one\ntwo\n\nfour é"  # also the standard input, which can be read once
        assert not material.is_typed
    assert (Material(path).name, Material().name) == (str(path), "the standard input")


def test_material_that_is_not_utf_8_is_refused_at_its_line(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"one\ntwo\n\xff\n")
    lines = Material(path).lines()
    assert [next(lines), next(lines)] == ["one", "two"]
    with pytest.raises(InputError, match=r"text.txt, line 3: expected a text in UTF-8"):
        next(lines)


def test_arrays_of_a_file_are_named_without_reading_them(tmp_path):
    np.savez(tmp_path / "a.npz", head=np.zeros(3), tail=np.ones(2))
    assert arrays_in(tmp_path / "a.npz") == {"head", "tail"}
    (tmp_path / "b.npz").write_text("no archive", encoding="utf-8")
    assert arrays_in(tmp_path / "b.npz") == arrays_in(tmp_path / "none") == arrays_in(tmp_path) == frozenset()


@pytest.mark.parametrize("name", template_names())
def test_declarations_of_templates_are_consistent(name):
    template = load_template(name)
    assert template.name == name
    assert template.draw is not None
    assert template.form
    assert template.train is not None or not (template.train_options or template.train_files)
    options = [*template.options.values(), *template.train_options.values()]
    if template.texts is not None:
        assert template.suffixes
        assert template.texts.unit in template.texts.options
        options += template.texts.options.values()
    assert all(option.meaning for option in options)


SLOW = {"coreference", "vehicle_routing"}
DEMOS = [
    pytest.param(name, k, marks=pytest.mark.slow if name in SLOW else ())
    for name in template_names()
    for k in range(len(load_template(name).demo))
]


@pytest.mark.parametrize(("name", "number"), DEMOS)
def test_demos_agree_with_brute_force(name, number):
    line = load_template(name).demo[number]()
    assert line.brute_force_objective is None or line.objective == pytest.approx(line.brute_force_objective)
    assert line.proof == "Proved optimal."
    assert line.columns_used <= line.columns_possible


def test_options_are_passed_to_the_reader_or_to_the_problem(tmp_path):
    template = dataclasses.replace(
        STUB,
        read=lambda path, size=0: size,
        problem=lambda instance, start=0: (instance, start),
        options={
            "size": Option("of the instance", number=Number.WHOLE),
            "start": Option("of the run", number=Number.WHOLE, of_problem=True),
        },
    )
    texts = {"size": "3", "start": "4"}
    assert template.problem_of(template.instance(tmp_path, texts), texts) == (3, 4)
    assert template.problem_of(template.instance(tmp_path), {}) == (0, 0)
    with pytest.raises(InputError, match="option start: expected an integer"):
        template.instance(tmp_path, {"start": "soon"})  # before the file is read

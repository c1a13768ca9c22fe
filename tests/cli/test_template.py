"""What templates tell the command line: options, raw material, and what they offer."""

import io

import numpy as np
import pytest

from colgen.cli.template import Material, check_options, load_template, of_answer, template_names, whole_number
from colgen.core.array_files import arrays_in
from colgen.core.errors import InputError

KNOWN = {"epochs": "passes over the data", "task": "what is learned"}


def test_unknown_options_are_refused_and_the_known_ones_listed():
    check_options({}, KNOWN)
    check_options({"task": "x"}, KNOWN)
    with pytest.raises(InputError, match="no option 'speed'; there are epochs: passes over the data; task: what is"):
        check_options({"task": "x", "speed": "1"}, KNOWN)


def test_a_result_is_drawn_by_what_draws_its_answer():
    class Found:
        answer = (1, 0)

    assert of_answer(lambda instance, answer: (instance, answer))("instance", Found()) == ("instance", (1, 0))


def test_whole_numbers_are_one_or_more():
    assert whole_number({}, "epochs", 5) == 5
    assert whole_number({"epochs": "7"}, "epochs", 5) == 7
    for text in ("0", "-1", "1.5", "", "two", "²"):
        with pytest.raises(InputError, match="option epochs: expected a whole number, one or more"):
            whole_number({"epochs": text}, "epochs", 5)


def test_material_is_read_line_by_line_or_whole(tmp_path, monkeypatch):
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
    with pytest.raises(InputError, match=r"text.txt, line 3: not a text in UTF-8"):
        next(lines)


def test_arrays_of_a_file_are_named_without_reading_them(tmp_path):
    np.savez(tmp_path / "a.npz", head=np.zeros(3), tail=np.ones(2))
    assert arrays_in(tmp_path / "a.npz") == {"head", "tail"}
    (tmp_path / "b.npz").write_text("no archive", encoding="utf-8")
    assert arrays_in(tmp_path / "b.npz") == arrays_in(tmp_path / "none") == arrays_in(tmp_path) == frozenset()


@pytest.mark.parametrize("name", template_names())
def test_what_templates_say_of_themselves_fits_together(name):
    template = load_template(name)
    assert template.name == name
    assert template.draw is not None
    for part in (template.solve_all, template.score_options):
        assert template.score is not None or not part
    assert template.train is not None or not (template.train_options or template.train_files)
    assert all(meaning for meaning in (*template.score_options.values(), *template.train_options.values()))

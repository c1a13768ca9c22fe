"""Instances: validation, the check of a tree, files."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from colgen import InputError
from problems.nonlocal_parsing import Factors, Parts, random, read, write
from tests.problems.nonlocal_parsing.trees import answers, instances, plain


def test_the_score_is_that_of_local_parts_and_of_factors():
    instance = plain(3, [(((0, 2), (2, 1)), 5.0), (((0, 3), (3, 1)), 7.0)], heads=(2, 0, 2))
    assert instance.check((2, 0, 2)) == 8.0
    assert instance.check((3, 3, 0)) == 7.0
    assert instance.words == ("1", "2", "3")
    assert instance.num_words == 3


@pytest.mark.parametrize(
    ("heads", "sentence"),
    [
        ((2, 0), "3 tokens"),
        ((2, 1, 0), "cycle"),
        ((0, 1, 0), "one token"),
        ((9, 0, 1), "from 0 to 3"),
    ],
)
def test_what_is_no_answer_is_refused(heads, sentence):
    with pytest.raises(ValueError, match=sentence):
        plain(3).check(heads)


def test_crossing_arcs_and_arcs_that_are_not_allowed_are_refused():
    instance = plain(4)
    with pytest.raises(ValueError, match="projective"):
        instance.check((3, 4, 0, 3))
    assert dataclasses.replace(instance, projective=False).check((3, 4, 0, 3)) == 0.0
    allowed = np.ones((5, 5), dtype=bool)
    allowed[2, 1] = False
    with pytest.raises(ValueError, match=r"\(2, 1\)"):
        dataclasses.replace(instance, allowed=allowed).check((2, 0, 2, 2))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"factors": Factors.of(7)}, "4 positions"),
        ({"allowed": np.ones((3, 3))}, "allowed"),
        ({"step": 0.0}, "positive"),
        ({"words": ("a",)}, "3 words"),
        ({"parts": Parts(np.zeros((4, 4)), np.zeros((4, 4, 4))), "projective": False}, "arcs alone"),
    ],
)
def test_bad_instances_are_refused(change, sentence):
    with pytest.raises(InputError, match=sentence):
        dataclasses.replace(plain(3), **change)


@given(instance=instances(most_words=3))
def test_files(instance, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "scores.npz"
    write(instance, path)
    again = read(path)
    assert again.single_root == instance.single_root
    assert again.step == instance.step
    assert again.words == instance.words
    assert (again.usable == instance.usable).all()
    for heads in answers(instance):
        assert again.check(heads) == pytest.approx(instance.check(heads))


def test_a_file_with_arcs_alone(tmp_path):
    np.savez(tmp_path / "arcs.npz", arcs=np.ones((4, 4)))
    instance = read(tmp_path / "arcs.npz")
    assert instance.name == "arcs"
    assert instance.check((2, 0, 2)) == 3.0


def test_files_that_are_something_else(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "nothing.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(InputError, match="npz"):
        read(tmp_path / "text.npz")
    np.savez(tmp_path / "a.npz", scores=np.ones(3))
    with pytest.raises(InputError, match="'arcs'"):
        read(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", arcs=np.ones((3, 3)), scores=np.ones(3))
    with pytest.raises(InputError, match="'start'"):
        read(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", arcs=np.full((3, 3), np.nan))
    with pytest.raises(InputError, match="finite"):
        read(tmp_path / "c.npz")


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_random_instances(order):
    instance = random(6, 1, order=order)
    assert instance.parts.order == order
    assert len(instance.nonlocal_factors) > 30
    again = random(6, 1, order=order)
    assert (again.parts.arcs == instance.parts.arcs).all()
    assert list(again.nonlocal_factors) == list(instance.nonlocal_factors)
    whole = random(6, 1, order=order, whole=True)
    assert whole.objective((2, 0, 2, 3, 4, 5)) % 1.0 == 0.0

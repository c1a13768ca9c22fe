"""Instances: validation, the check of a tree, files."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from colgen import InputError
from colgen.problems.nonlocal_parsing import Factors, NonlocalInstance, Parts, random, read, write
from colgen.solvers.trees.eisner import best_tree
from tests.broken_files import broken_zips, npy_with_header, npz
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
def test_invalid_trees_raise(heads, sentence):
    with pytest.raises(ValueError, match=sentence):
        plain(3).check(heads)


def test_crossing_and_forbidden_arcs_raise():
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
        ({"parts": Parts(np.zeros((4, 4)), np.zeros((4, 4, 4))), "projective": False}, "arc scores only"),
    ],
)
def test_invalid_instances_raise(change, sentence):
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


def test_other_files_raise(tmp_path):
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


WHOLE = {
    "arcs": np.zeros((3, 3)),
    "scores": np.ones(2),
    "start": np.array([0, 1, 3]),
    "factor_arcs": np.array([1, 2, 7]),
}


@pytest.mark.parametrize(
    "change",
    [
        {"arcs": np.zeros(3)},
        {"arcs": np.zeros((0, 0))},
        {"arcs": np.array([["a"] * 3] * 3)},
        {"arcs": np.full((3, 3), np.inf)},
        {"arcs": np.full((3, 3), 1e300)},
        {"siblings": np.full((3, 3, 3), np.nan)},
        {"siblings": np.zeros((3, 3))},
        {"outermost": np.full((3, 3, 3), -np.inf)},
        {"triples": np.zeros((2, 2, 3, 3, 3, 3))},
        {"kinds": np.array([0, 1, 0])},
        {"triples": np.zeros((2, 2, 3, 3, 3, 3)), "kinds": np.array([0, 1.5, 0])},
        {"triples": np.zeros((2, 2, 3, 3, 3, 3)), "kinds": np.array([0, 2, 0])},
        {"triples": np.zeros((2, 2, 0, 0, 0, 0)), "kinds": np.array([0, 0, 0])},
        {"scores": np.array([1.0, np.nan])},
        {"scores": np.array([1.0, np.inf])},
        {"scores": np.ones((2, 1))},
        {"scores": np.ones(5)},
        {"start": np.array([0, 1.5, 3])},
        {"start": np.array([0, 0, 3])},
        {"start": np.array([0, 5, 3])},
        {"start": np.array([0, 1, 2**62])},
        {"start": np.array([], dtype=int)},
        {"factor_arcs": np.array([1, 2, 9])},
        {"factor_arcs": np.array([1, 2, -1])},
        {"factor_arcs": np.array([1, 2, 2])},
        {"factor_arcs": np.array([1, 2, 2**63], dtype=np.uint64)},
        {"factor_arcs": np.array([1, 2, np.nan])},
        {"allowed": np.full((3, 3), 0.5)},
        {"allowed": np.ones((2, 2))},
        {"words": np.arange(2)},
        {"words": np.array(["one"])},
        {"step": np.array(np.nan)},
        {"step": np.array(-1.0)},
        {"step": np.ones(2)},
        {"single_root": np.array([True, False])},
        {"projective": np.array(3)},
        {"projective": np.array(False), "siblings": np.zeros((3, 3, 3))},
    ],
)
def test_unusual_arrays_raise_one_sentence(change, tmp_path):
    path = tmp_path / "odd.npz"
    np.savez(path, **{**WHOLE, **change})
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("how", sorted(broken_zips(WHOLE).keys() - {"one byte changed"}))  # of no array
def test_broken_files_raise_one_sentence(how, tmp_path):
    path = tmp_path / "broken.npz"
    path.write_bytes(broken_zips(WHOLE)[how])
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    path.write_bytes(npz({**WHOLE, "arcs": npy_with_header("(1000000, 1000000)")}))
    with pytest.raises(InputError, match="'arcs'"):
        read(path)


def test_arcs_of_minus_infinity_are_forbidden():
    scores = np.zeros((4, 4))
    scores[0, 1] = scores[2, 1] = -np.inf
    instance = NonlocalInstance(Parts(scores))
    assert instance.usable[:, 1].tolist() == [False, False, False, True]
    assert instance.check((3, 3, 0)) == 0.0
    with pytest.raises(ValueError, match="not allowed"):
        instance.check((2, 0, 2))
    assert best_tree(instance.parts)[1][1] == 3


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

"""The projective parser of grandparents and consecutive siblings against enumeration and another dynamic program."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.trees import eisner
from colgen.solvers.trees.eisner_grandsibling import best_of_parts, best_tree
from tests.solvers.projective import all_trees
from tests.twins.trees import is_projective, is_tree


def worth(heads, arcs, grandparents, siblings):
    """The score of a tree, from the definition of its parts."""
    tokens = range(1, len(heads))
    total = sum(arcs[heads[m], m] for m in tokens)
    total += sum(grandparents[heads[heads[m]], heads[m], m] for m in tokens if heads[m] > 0)
    for h in range(len(heads)):
        for side in (range(h - 1, 0, -1), range(h + 1, len(heads))):
            path = [h, *(m for m in side if heads[m] == h), h]
            if len(path) > 2:
                total += sum(siblings[h, s, m] for s, m in itertools.pairwise(path))
    return total


cases = st.fixed_dictionaries(
    {
        "n": st.integers(1, 5),
        "seed": st.integers(0, 2**20),
        "whole": st.booleans(),
        "single_root": st.booleans(),
        "share": st.sampled_from([1.0, 1.0, 0.7, 0.4]),
        "scale": st.sampled_from([1.0, 1e-9, 1e9]),
    }
)


@given(case=cases)
def test_the_best_tree(case):
    rng, size = np.random.default_rng(case["seed"]), case["n"] + 1

    def scores(*shape):
        return case["scale"] * (rng.integers(-2, 3, shape).astype(float) if case["whole"] else rng.normal(size=shape))

    arcs, parts = scores(size, size), (scores(size, size, size), scores(size, size, size))
    allowed = rng.random((size, size)) < case["share"]
    trees = [
        heads
        for heads in all_trees(case["n"], single_root=case["single_root"]).tolist()
        if all(allowed[heads[m], m] for m in range(1, size))
    ]
    found = best_tree(arcs, *parts, allowed=allowed, single_root=case["single_root"])
    if not trees:
        assert found is None
        return
    value, heads = found
    assert heads.tolist() in trees
    assert value == pytest.approx(max(worth(tree, arcs, *parts) for tree in trees), abs=1e-9 * case["scale"])
    assert worth(heads.tolist(), arcs, *parts) == pytest.approx(value, abs=1e-9 * case["scale"])


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("single_root", [True, False])
def test_long_sentences_agree_with_the_parser_of_all_arcs(share, single_root):
    """The other parser has no parts of last modifiers: they are subtracted from s and from the next m."""
    rng, size = np.random.default_rng(3), 25
    arcs, grandparents, siblings = (rng.normal(size=(size,) * k) for k in (2, 3, 3))
    allowed = rng.random((size, size)) < share
    allowed[0] = allowed[np.arange(size - 1), np.arange(1, size)] = True
    value, heads = best_tree(arcs, grandparents, siblings, allowed=allowed, single_root=single_root)
    assert is_tree(heads.tolist())
    assert is_projective(heads.tolist())
    assert worth(heads.tolist(), arcs, grandparents, siblings) == pytest.approx(value)
    each = np.arange(size)
    last = siblings[each, :, each]  # by head and sibling
    moved = np.swapaxes(siblings, 1, 2) - last[:, None, :] + last[:, :, None]  # by head, modifier and sibling
    moved[each, :, each] = siblings[each, each, :] + last
    others = grandparents.copy()
    others[0, 0] = 0.0
    other, _ = eisner.best_tree(
        eisner.Parts(arcs, moved, grandchildren=others), allowed=allowed, single_root=single_root
    )
    assert value == pytest.approx(other)


def test_parts_that_are_not_given_score_nothing():
    arcs = np.random.default_rng(0).normal(size=(7, 7))
    first = eisner.best_tree(eisner.Parts(arcs), single_root=False)
    value, heads = best_tree(arcs)
    assert value == pytest.approx(first[0])
    assert heads.tolist() == first[1].tolist()


def test_arcs_of_minus_infinity_are_no_arcs():
    arcs = np.full((3, 3), -np.inf)
    arcs[0, 1] = arcs[0, 2] = 1.0
    assert best_tree(arcs)[1].tolist() == [-1, 0, 0]
    assert best_tree(arcs, single_root=True) is None


def test_it_ends_where_time_is_up():
    size = 70
    there, cube = ~np.eye(size, dtype=bool), np.zeros((size, size, size))
    looks = iter([False, True])
    with pytest.raises(TimeoutError):
        best_of_parts(there, np.zeros((size, size)), cube, cube, expired=lambda: next(looks))

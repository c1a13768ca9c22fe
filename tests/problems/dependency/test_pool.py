"""Limits on k: the number of existing trees, and memory."""

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen import solve
from colgen.core.errors import InputError
from colgen.problems.dependency.pool import check_k
from colgen.problems.grandparent_parsing import GrandparentInstance, parse
from colgen.problems.nonlocal_parsing import NonlocalParsing
from colgen.problems.nonlocal_parsing import random as random_factors


def arcs_of(n, seed):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n + 1, n + 1)) < 0.7, rng.normal(size=(n + 1, n + 1)), -np.inf)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [1, 2, 4])
def test_k_is_limited_by_the_number_of_trees(n, seed):
    arcs = arcs_of(n, seed)
    count = sum(all(arcs[h, m] > -np.inf for m, h in enumerate(heads[1:], 1)) for heads in trees(n))
    assert check_k(10**9, arcs > -np.inf) == count + 1
    assert check_k(7, arcs > -np.inf) == 7


@pytest.mark.parametrize(("projective", "count"), [(False, 16), (True, 12)])
def test_a_large_k_lists_all_trees(projective, count):
    plain = GrandparentInstance(np.zeros((4, 4)))
    found = parse(plain, k=10**9, projective=projective)
    assert len(found) == len({one.heads for one in found}) == count
    assert len(parse(np.zeros((2, 4, 4)), k=10**12)[1]) == 16


def test_a_large_k_with_pairs_and_with_factors():
    pairs = np.zeros((4, 4, 4))
    pairs[0, 1, 2] = 1.0
    assert len(parse(GrandparentInstance(np.zeros((4, 4)), pair_scores=pairs), k=10**9, single_root=False)) == 16
    instance = random_factors(3, 1)
    assert len(solve(NonlocalParsing(instance, k=10**9)).answer) == len(solve(NonlocalParsing(instance, k=100)).answer)


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (10**9, r"k: expected at most 6,391,320 trees of 20 words, got 1,000,000,000"),
        (0, "k: expected"),
        (-1, "k: expected"),
        (1.5, "k: expected"),
        (10**30, "k: expected"),
        ("3", "k: expected"),
    ],
)
def test_impossible_k_is_refused_at_once(k, message):
    scores = np.zeros((21, 21))
    for ask in (
        lambda: parse(GrandparentInstance(scores), k=k),
        lambda: parse(GrandparentInstance(scores, pair_scores=np.ones((21, 21, 21))), k=k),
        lambda: NonlocalParsing(random_factors(20, 1), k=k),
    ):
        with pytest.raises(InputError, match=message):
            ask()

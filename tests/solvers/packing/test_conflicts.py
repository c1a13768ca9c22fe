import itertools

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.packing.conflicts import best_compatible, first_fit, maximal_compatible
from tests.sweeps import seeds


def drawn(seed, most=10):
    """Random profits, sizes, capacity and conflicts, with ties and items without profit, without size, or too large."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, most))
    profits = rng.integers(-2, 9, n) * float(rng.choice([1.0, 1e-8, 1e8]))
    sizes, capacity = rng.integers(0, 9, n), int(rng.integers(0, 24))
    conflicts = np.triu(rng.random((n, n)) < rng.choice([0.0, 0.2, 0.5, 0.9, 1.0]), 1)
    if rng.random() < 0.2:  # a capacity that needs a table in units
        sizes, capacity = sizes * 10**7 + rng.integers(0, 9, n), capacity * 10**7
    return rng, profits, sizes, capacity, conflicts | conflicts.T


def every_set(sizes, capacity, conflicts):
    for chosen in itertools.product((False, True), repeat=len(sizes)):
        mask = np.array(chosen, dtype=bool)
        if sizes[mask].sum() <= capacity and not conflicts[np.ix_(mask, mask)].any():
            yield mask


@pytest.mark.parametrize("seed", seeds(200))
def test_the_best_set_equals_enumeration(seed):
    rng, profits, sizes, capacity, conflicts = drawn(seed)
    above = float(rng.integers(0, 12)) * np.abs(profits).max(initial=1.0) / 8.0
    spare = int(rng.choice([0, 1, 3, 10**6]))
    found = best_compatible(profits, sizes, capacity, conflicts, above=above, spare=spare)
    best = max(profits[mask].sum() for mask in every_set(sizes, capacity, conflicts))
    assert found.bound == max(best, above)
    assert (len(found.values) > 0) == (best > above)
    if len(found.values):
        assert found.values[0] == best
    assert (np.diff(found.values) <= 0).all()
    for mask, value in zip(found.members, found.values, strict=True):
        assert profits[mask].sum() == value > above
        assert sizes[mask].sum() <= capacity
        assert not conflicts[np.ix_(mask, mask)].any()
    assert len(np.unique(found.members, axis=0)) == len(found.members)


@pytest.mark.parametrize("seed", seeds(100))
def test_with_spare_nodes_each_first_item_has_its_best_set(seed):
    _, profits, sizes, capacity, conflicts = drawn(seed)
    found = best_compatible(profits, sizes, capacity, conflicts, spare=10**6)
    by_size = profits / np.where(sizes > 0, sizes, 1e-3)
    order = np.lexsort((-profits, -by_size))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    best = {}
    for mask in every_set(sizes, capacity, conflicts):
        if mask.any() and (profits[mask] > 0).all():
            first = rank[mask].min()
            best[first] = max(best.get(first, 0.0), profits[mask].sum())
    assert {rank[mask].min(): value for mask, value in zip(found.members, found.values, strict=True)} == best


@pytest.mark.parametrize("seed", seeds(200))
def test_maximal_sets_equal_enumeration(seed):
    rng, profits, sizes, capacity, conflicts = drawn(seed, 9)
    profits = np.abs(profits)
    least = float(rng.choice([-1.0, 0.0, 0.5, 1.5])) * profits.max(initial=1.0)
    every = [mask for mask in every_set(sizes, capacity, conflicts) if mask.any()]
    wanted = {
        tuple(mask)
        for mask in every
        if profits[mask].sum() >= least and not any((other & mask).sum() == mask.sum() < other.sum() for other in every)
    }
    found = maximal_compatible(profits, sizes, capacity, conflicts, least=least)
    assert {tuple(row) for row in found} == wanted
    assert len(found) == len(wanted)
    if wanted:
        assert maximal_compatible(profits, sizes, capacity, conflicts, least=least, limit=len(wanted) - 1) is None


def test_integers_near_the_limit_of_floats_are_summed_exactly():
    profits = np.array([2.0**50 + 1, 2.0**50 + 3, 2.0**50 + 2])
    found = best_compatible(profits, [3, 3, 3], 7, np.zeros((3, 3), dtype=bool))
    assert found.bound == 2.0**51 + 5


@pytest.mark.parametrize("seed", seeds(50))
def test_first_fit_equals_plain_python(seed):
    rng, _, sizes, capacity, conflicts = drawn(seed)
    capacity = max(capacity, int(sizes.max(initial=0)))
    order = rng.permutation(len(sizes))
    bins = []
    for i in order.tolist():
        for items in bins:
            if sizes[items].sum() + sizes[i] <= capacity and not conflicts[i, items].any():
                items.append(i)
                break
        else:
            bins.append([i])
    packed = first_fit(sizes, capacity, conflicts, order)
    assert [sorted(np.flatnonzero(packed == k).tolist()) for k in range(len(bins))] == [sorted(b) for b in bins]


def test_invalid_conflicts_raise():
    with pytest.raises(ArrayError, match="symmetric mask with a false diagonal"):
        best_compatible([1.0, 1.0], [1, 1], 2, [[False, True], [False, False]])
    with pytest.raises(ArrayError, match="symmetric mask with a false diagonal"):
        first_fit([1], 2, [[True]], [0])
    with pytest.raises(ArrayError, match="expected each item once"):
        first_fit([1, 1], 2, np.zeros((2, 2), dtype=bool), [0, 0])
    with pytest.raises(ArrayError, match="nonnegative"):
        maximal_compatible([-1.0], [1], 2, [[False]], least=0.0)


def test_patience_stops_a_search_that_has_found_a_set():
    rng = np.random.default_rng(1)
    sizes, conflicts = rng.integers(5, 20, 60), np.triu(rng.random((60, 60)) < 0.3, 1)
    profits, conflicts = sizes * rng.uniform(0.8, 1.2, 60), conflicts | conflicts.T
    whole = best_compatible(profits, sizes, 150, conflicts)
    hasty = best_compatible(profits, sizes, 150, conflicts, patience=20)
    assert whole.finished
    assert not hasty.finished
    assert hasty.bound == np.inf
    assert 0.0 < hasty.values[0] <= whole.bound
    # Without a set above the required value the search continues to the end.
    none = best_compatible(profits, sizes, 150, conflicts, above=whole.bound, patience=1)
    assert none.finished
    assert none.bound == whole.bound
    assert not len(none.values)

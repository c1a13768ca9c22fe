import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import Solution
from colgen.core.activity import activity
from colgen.model.rows import compile_model
from colgen.problems.coreference.instance import random
from colgen.problems.coreference.model import full
from colgen.problems.coreference.separation import Transitivity, TwoPartition, values
from tests.twins.coreference import partitions, symmetric, together


def value_of(row, point):
    return activity(row, point).value


def solution(x):
    n = len(x)
    pairs = {("x", (i, j)): float(x[i, j]) for i in range(n) for j in range(i + 1, n) if x[i, j]}
    return Solution(0.0, variables=pairs, integer=frozenset(pairs))


@st.composite
def relaxations(draw, least=3, most=7):
    """Values of the pairs, often 0, 1/2 or 1, often with equal violations."""
    n = draw(st.integers(least, most))
    entry = st.one_of(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.floats(0.0, 1.0))
    count = n * (n - 1) // 2
    return symmetric(n, draw(st.lists(entry, min_size=count, max_size=count)))


def most_violated(x):
    triples = itertools.permutations(range(len(x)), 3)
    return max((x[i, k] + x[k, j] - x[i, j] - 1.0 for i, j, k in triples), default=0.0)


def holds_for_every_clustering(row, n):
    return all(row.lower <= value_of(row, solution(together(p, n))) <= row.upper for p in partitions(n))


# --- transitivity ----------------------------------------------------------------------------------------------------


@given(x=relaxations())
def test_transitivity_finds_the_most_violated_row_if_there_is_one(x):
    rows = Transitivity(len(x)).separate(solution(x))
    violation = most_violated(x)
    if abs(violation - 1e-6) > 1e-9:
        assert bool(rows) == (violation > 1e-6)
    if rows:
        assert max(value_of(row, solution(x)) - row.upper for row in rows) == pytest.approx(violation, abs=2e-6)


@given(x=relaxations())
def test_rows_of_transitivity_are_violated_valid_and_those_of_the_complete_model(x):
    n = len(x)
    f = compile_model(full(random(n, 0)))
    rows = Transitivity(n).separate(solution(x))
    assert len({row.key[1][:2] for row in rows}) == len(rows)  # one for each pair
    for row in rows:
        assert value_of(row, solution(x)) > row.upper + 1e-9
        complete = f.matrix[[f.row_keys.index(row.key)], :].toarray()[0]
        assert row.coefficients == {f.column_keys[c]: complete[c] for c in np.flatnonzero(complete)}
        assert holds_for_every_clustering(row, n)


@given(x=relaxations().map(np.round))
def test_integral_solutions_are_transitive_if_and_only_if_clusterings(x):
    n = len(x)
    clustering = any((x == together(p, n)).all() for p in partitions(n))
    for separation in (Transitivity(n), Transitivity(n, most=1)):
        assert bool(separation.separate(solution(x))) is not clustering


def test_limited_rows_are_the_most_violated():
    x = symmetric(5, [1.0, 0.9, 0.2, 0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 0.0])
    everything = Transitivity(5).separate(solution(x))
    by_violation = sorted(everything, key=lambda row: -value_of(row, solution(x)))
    assert len(everything) > 2
    assert Transitivity(5, most=2).separate(solution(x)) == by_violation[:2]


@pytest.mark.parametrize("n", [1, 2])
def test_nothing_to_separate(n):
    x = symmetric(n, 0.5 if n == 2 else [])
    assert not Transitivity(n).separate(solution(x))
    assert not TwoPartition(n).separate(solution(x))


def test_rounding_errors_are_ignored():
    x = symmetric(3, [1.0 + 1e-9, 1.0, 1.0 - 1e-8])
    assert not Transitivity(3).separate(solution(x))
    assert values(solution(x), 3).max() == 1.0


# --- two-partition inequalities --------------------------------------------------------------------------------------


@given(x=relaxations(least=4))
def test_two_partition_inequalities_are_violated_and_valid(x):
    n = len(x)
    separation = TwoPartition(n, patience=2.0)
    rows = separation.separate(solution(x))
    assert len({row.key for row in rows}) == len(rows)
    for row in rows:
        assert value_of(row, solution(x)) > row.upper + separation.least - 1e-9
        assert holds_for_every_clustering(row, n)


def star(n):
    """Mention 0 with each other mention at 1/2: transitive, but no convex combination of clusterings."""
    x = np.zeros((n, n))
    x[0, 1:] = x[1:, 0] = 0.5
    return x


@pytest.mark.parametrize("leaves", [3, 4, 5])
def test_a_star_violates_a_two_partition_inequality(leaves):
    x = star(leaves + 1)
    assert not Transitivity(leaves + 1).separate(solution(x))
    small = TwoPartition(leaves + 1, sizes=(3,)).separate(solution(x))
    assert {len(row.key[1][1]) for row in small} == {3}
    (whole,) = TwoPartition(leaves + 1, sizes=(leaves,)).separate(solution(x))
    assert whole.key == ("two_partition", (0, tuple(range(1, leaves + 1))))
    assert value_of(whole, solution(x)) == leaves / 2


def test_triangles_come_first():
    x = star(4)
    x[1, 2] = x[2, 1] = 1.0
    x[0, 1] = x[1, 0] = 0.9
    assert Transitivity(4).separate(solution(x))
    assert not TwoPartition(4).separate(solution(x))


def test_a_clustering_violates_nothing():
    for clusters in partitions(5):
        assert not TwoPartition(5).separate(solution(together(clusters, 5)))

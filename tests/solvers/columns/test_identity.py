"""Signatures of columns, and the hash table, against a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.columns.identity import claim, find, signatures


def compressed(*columns):
    starts = np.cumsum([0, *map(len, columns)]).astype(np.int32)
    rows = np.array([row for column in columns for row, _ in column], dtype=np.int32)
    values = np.array([value for column in columns for _, value in column], dtype=np.float64)
    return starts, rows, values


BATCH = compressed([(0, 1.0), (3, 2.0)], [], [(1, -1.0)], [(0, 1.0), (3, 2.0)])
COSTS = np.array([1.0, 1.0, 2.0, 1.0])


def test_equal_columns_have_equal_numbers_and_others_do_not():
    found = signatures(COSTS, *BATCH)
    assert found[0] == found[3]
    assert len(set(found.tolist())) == 3
    assert signatures(COSTS + 1.0, *BATCH)[0] != found[0]


def test_neither_the_order_of_entries_nor_the_sign_of_zero_counts():
    one = signatures(np.zeros(1), *compressed([(3, 2.0), (0, 1.0)]))
    assert one == signatures(-np.zeros(1), *compressed([(0, 1.0), (3, 2.0)]))


def test_many_patterns_have_as_many_numbers():
    rng = np.random.default_rng(0)
    columns = {tuple(sorted((int(r), float(rng.integers(1, 3))) for r in rng.permutation(8)[:3])) for _ in range(2000)}
    found = signatures(np.zeros(len(columns)), *compressed(*columns))
    assert len(set(found.tolist())) == len(columns)


def test_signatures_do_not_change():
    """By the same arithmetic on arrays of numpy."""
    assert signatures(COSTS, *BATCH).tolist() == [
        12937940811518317384,
        8873853812651464650,
        10382180266227754688,
        12937940811518317384,
    ]


def table_of(numbers, slots=64):
    table = np.full(slots, -1, dtype=np.int32)
    claim(table, numbers, np.arange(len(numbers)))
    return table


columns = st.tuples(st.sampled_from([0.0, 1.0]), st.dictionaries(st.integers(0, 3), st.sampled_from([1.0, -1.0])))


@given(st.lists(columns, max_size=30), st.lists(columns, max_size=30), st.sampled_from([2**64 - 1, 3, 0]))
def test_columns_are_found_at_their_positions(held, asked, some_bits):
    """Also where all numbers share their bits, so that columns crowd into a few slots and look alike."""
    held = list({(cost, tuple(sorted(pattern.items()))): None for cost, pattern in held})
    asked = [(cost, tuple(sorted(pattern.items()))) for cost, pattern in asked] + held[::-1]
    arrays = []
    for some in (asked, held):
        costs, entries = np.array([cost for cost, _ in some]), compressed(*(pattern for _, pattern in some))
        arrays.append(((costs, *entries), signatures(costs, *entries) & np.uint64(some_bits)))
    (batch, wanted), (mine, numbers) = arrays
    found = find(batch, wanted, table_of(numbers), numbers, mine)
    position = {column: k for k, column in enumerate(held)}
    assert found.tolist() == [position.get(column, -1) for column in asked]


def test_a_zero_of_another_sign_is_the_same_number():
    one, other = (np.array([zero]) for zero in (0.0, -0.0))
    numbers = signatures(one, *compressed([(2, 0.0)]))
    asked, held = (other, *compressed([(2, -0.0)])), (one, *compressed([(2, 0.0)]))
    found = find(asked, numbers, table_of(numbers), numbers, held)
    assert found.tolist() == [0]

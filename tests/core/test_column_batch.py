"""Batches of columns in compressed form."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import Column, Columns, Decision
from colgen.core.column_batch import in_order, select_columns
from colgen.core.decision import Apart, Together
from colgen.core.errors import FormulationError


def compressed(*columns):
    starts = np.cumsum([0, *map(len, columns)]).astype(np.int32)
    rows = np.array([row for column in columns for row, _ in column], dtype=np.int32)
    values = np.array([value for column in columns for _, value in column], dtype=np.float64)
    return starts, rows, values


BATCH = compressed([(0, 1.0), (3, 2.0)], [], [(1, -1.0)], [(0, 1.0), (3, 2.0)])


def test_entries_are_sorted_by_row():
    found = in_order(*compressed([(3, 2.0), (0, 1.0)], [], [(1, -1.0)], [(0, 1.0), (3, 2.0)]))
    for part, expected in zip(found, BATCH, strict=True):
        assert part.tolist() == expected.tolist()


def test_a_repeated_row_is_refused_with_its_column():
    with pytest.raises(ValueError, match=r"column 1 .* row number 4"):
        in_order(*compressed([(4, 1.0)], [(4, 1.0), (2, 1.0), (4, 2.0)]))


def test_columns_are_selected_in_the_given_order():
    found = select_columns(*BATCH, np.array([2, 0, 1]))
    expected = compressed([(1, -1.0)], [(0, 1.0), (3, 2.0)], [])
    for part, other in zip(found, expected, strict=True):
        assert part.tolist() == other.tolist()


def test_a_slice_selects_like_its_numbers():
    for part, other in zip(select_columns(*BATCH, slice(1, 3)), select_columns(*BATCH, np.array([1, 2])), strict=True):
        assert part.tolist() == other.tolist()


ROWS = [("cover", i) for i in range(6)]
POSITION = {key: k for k, key in enumerate(ROWS)}

entries = st.dictionaries(st.sampled_from(ROWS), st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0]), max_size=4)
singles = st.lists(
    st.builds(
        Column,
        st.sampled_from([-1.0, 0.0, 1.0, 2.5]),
        entries,
        st.integers(0, 9),
        st.none(),
        st.sampled_from([0.0, -1.0]),
        st.sampled_from([math.inf, 4.0]),
        st.booleans(),
    ),
    max_size=12,
)


def batch_of(columns, order=1):
    """The same columns as arrays, the entries of each in either order."""
    patterns = [list(column.coefficients.items())[::order] for column in columns]
    batch = Columns(
        [column.cost for column in columns],
        np.cumsum([0, *map(len, patterns)]),
        np.array([POSITION[key] for pattern in patterns for key, _ in pattern], dtype=np.int64),
        [value for pattern in patterns for _, value in pattern],
        [column.structure for column in columns],
        upper=[column.upper for column in columns],
        lower=[column.lower for column in columns],
        integer=[column.integer for column in columns],
    )
    return batch.over(ROWS, POSITION)


@given(singles, st.sampled_from([1, -1]))
def test_a_batch_is_the_sequence_of_its_columns(columns, order):
    batch, of_singles = batch_of(columns, order), Columns.of(columns).over(ROWS, POSITION)
    assert list(batch) == columns
    assert list(of_singles) == columns
    assert all(one is other for one, other in zip(of_singles, columns, strict=True))
    assert len(batch) == len(columns)
    assert batch.signatures.tolist() == of_singles.signatures.tolist()
    assert list(batch[1:]) == columns[1:]
    mask = np.arange(len(columns)) % 2 == 0
    assert list(batch.take(mask)) == columns[::2]
    assert batch.take(mask).signatures.tolist() == batch.signatures[mask].tolist()
    assert list(batch.take(np.arange(len(columns))[::-1])) == columns[::-1]


@given(singles)
def test_equal_columns_have_equal_signatures_and_others_do_not(columns):
    batch = batch_of(columns)
    for first, one in zip(columns, batch.signatures.tolist(), strict=True):
        for second, other in zip(columns, batch.signatures.tolist(), strict=True):
            assert (one == other) == (first.identity == second.identity)
    once = batch.distinct()
    kept = list(range(len(columns))) if once is None else once.tolist()
    assert [columns[k].identity for k in kept] == list(dict.fromkeys(column.identity for column in columns))


@given(singles, st.lists(st.floats(-5, 5), min_size=len(ROWS), max_size=len(ROWS)))
def test_products(columns, duals):
    expected = [sum(a * duals[POSITION[key]] for key, a in column.coefficients.items()) for column in columns]
    assert batch_of(columns).products(np.array(duals)) == pytest.approx(expected)
    # Rows added later have no dual value yet.
    old = [sum(a * duals[POSITION[key]] for key, a in c.coefficients.items() if POSITION[key] < 3) for c in columns]
    assert batch_of(columns).products(np.array(duals[:3])) == pytest.approx(old)


@given(singles)
def test_decisions_treat_batches_like_columns(columns):
    for decision in (Together(ROWS[0], ROWS[1]), Apart(ROWS[0], ROWS[1]), Together(ROWS[0], ("no such row", 1))):
        assert decision.allows_each(batch_of(columns)).tolist() == [decision.allows(column) for column in columns]


def test_structures_are_made_on_demand():
    made = []

    def structure(k):
        made.append(k)
        return f"pattern {k}"

    batch = Columns([1.0, 2.0, 3.0], [0, 1, 2, 3], [0, 1, 2], [1.0, 1.0, 1.0], structure).over(ROWS, POSITION)
    chosen = batch.take(np.array([2, 0]))
    assert not made
    assert chosen[0].structure == "pattern 2"
    assert made == [2]
    assert chosen[-1] == Column(1.0, {("cover", 0): 1.0}, "pattern 0")


def test_keys_and_rows_by_number():
    batch = Columns([1.0, 2.0], [0, 1, 2], [1, 1], [1.0, 2.0], keys=[("x", 0), None])
    with pytest.raises(FormulationError, match="once a linear master has it"):
        batch[0]
    batch.over(ROWS, POSITION)
    assert [column.identity for column in batch] == [("x", 0), (2.0, frozenset({(("cover", 1), 2.0)}))]
    elsewhere = {("other", 0): 0, ("cover", 1): 1, ("cover", 2): 2}
    moved = batch.over(list(elsewhere), elsewhere)
    assert list(moved) == list(batch)
    with pytest.raises(KeyError):
        batch.over([("other", 0)], {("other", 0): 0})
    with pytest.raises(FormulationError, match="row number 1, but the master has 1 rows"):
        Columns([1.0], [0, 1], [1], [1.0]).over([("cover", 0)], {("cover", 0): 0})


def test_an_oracle_may_reuse_its_arrays():
    costs, rows, values = np.ones(1), np.zeros(1, dtype=np.int32), np.ones(1)
    batch = Columns(costs, [0, 1], rows, values).over(ROWS, POSITION)
    costs[0] = rows[0] = values[0] = 5
    assert batch[0] == Column(1.0, {("cover", 0): 1.0})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1.0], [0, 2], [0], [1.0]), "1 columns has 2 starts, 1 rows and 1 values: expected 2 starts"),
        (([1.0], [0], [0], [1.0]), "1 columns has 1 starts"),
        (([1.0, 1.0], [0, 1, 0], [0], [1.0]), "starts that rise"),
        (([1.0], [0, 1], [0.0], [1.0]), "the rows of a batch of columns are float64, expected integers"),
        (([1.0], [0, 1], [-1], [1.0]), "the row number -1"),
        (([1.0], [0, 2], [3, 3], [1.0, 2.0]), "column 0 .* row number 3"),
        (([math.nan], [0, 0], [], []), "the column of 'odd' costs nan, expected a finite number"),
        (([1.0], [0, 1], [0], [math.inf]), "the column of 'odd' has a coefficient that is not a finite number"),
    ],
)
def test_invalid_arrays_are_refused(arguments, sentence):
    with pytest.raises(FormulationError, match=sentence):
        Columns(*arguments, structure=lambda k: "odd")


def test_bounds_and_lengths_are_checked():
    with pytest.raises(FormulationError, match=r"the bounds 2.0 and 1.0, expected lower ≤ upper"):
        Columns([1.0], [0, 0], [], [], lower=2.0, upper=1.0)
    with pytest.raises(FormulationError, match=r"expected an integer value between its bounds"):
        Columns([1.0], [0, 0], [], [], lower=[0.3], upper=[0.7])
    with pytest.raises(FormulationError, match="1 columns has 2 upper bounds, expected one per column"):
        Columns([1.0], [0, 0], [], [], upper=[1.0, 2.0])
    with pytest.raises(FormulationError, match="1 columns has 2 structures, expected one per column"):
        Columns([1.0], [0, 0], [], [], ["a", "b"])


def test_a_decision_on_single_columns_also_handles_batches():
    """A decision's own fields may have any name outside the interface."""

    @dataclass(frozen=True)
    class Whole(Decision):
        allowed: tuple[int, ...]

        def allows(self, column):
            return column.structure in self.allowed

    batch = Columns([1.0, 2.0], [0, 0, 0], [], [], [3, 4]).over(ROWS, POSITION)
    assert Whole((4,)).allows_each(batch).tolist() == [False, True]


def test_a_column_of_a_batch_is_cached():
    batch = batch_of([Column(1.0, {ROWS[0]: 1.0}, structure=0), Column(2.0, {ROWS[1]: 1.0}, structure=1)])
    assert batch[1] is batch[1]
    assert batch[1] == batch.take(np.array([1]))[0]


@pytest.mark.parametrize("count", [1, 3, 40])
def test_few_and_many_single_columns_are_sorted(count):
    """Entries are sorted by row number; values whose squares overflow are accepted."""
    keys = [("cover", row) for row in range(6)]
    coefficients = {keys[4]: 1e200, keys[1]: 2.0, keys[5]: -3.0}
    batch = Columns.of([Column(1.0, coefficients, k) for k in range(count)])
    batch = batch.over(keys, {key: k for k, key in enumerate(keys)})
    assert batch.starts.tolist() == [3 * k for k in range(count + 1)]
    assert batch.rows.tolist() == [1, 4, 5] * count
    assert batch.values.tolist() == [2.0, 1e200, -3.0] * count


def test_bounds_of_integer_columns_are_rounded_inward():
    batch = Columns([1.0, 1.0], [0, 0, 0], [], [], upper=[2.5, 2.5], lower=[0.5, 0.5], integer=[True, False])
    assert batch.upper.tolist() == [2.0, 2.5]
    assert batch.lower.tolist() == [1.0, 0.5]
    single = Columns.of([Column(1.0, {}, upper=2.5), Column(1.0, {}, upper=2.5, integer=False)])
    assert single.upper.tolist() == [2.0, 2.5]

"""Terms of cuts as data, and as oracles read them from dual values."""

import pickle

import numpy as np
import pytest

from colgen import Duals, Row
from colgen.core.duals import RowNames
from colgen.core.errors import FormulationError
from colgen.core.terms import Box, Count, Linear


def dual_values():
    names = RowNames()
    of_rows = [(("arc", "a"), 2.0), (("arc", "b"), 3.0)]
    of_cuts = [
        (Count("visit", (4, 7, 9), (1, 2, 2), 3), -1.0),
        (Linear("arc", ("b", "c"), (1.0, 0.5)), 4.0),
        (Count("visit", (4, 5), (1, 1), 2, memory=(4, 5, 7)), 0.0),
        (Count("visit", (5, 4), (1, 1), 2, memory=(4, 5, 7)), -2.0),
        (Linear("other", ("b",), (1.0,)), 8.0),
        (Box("visit", ((4, 0, 0),)), 5.0),
    ]
    values = [*(value for _, value in of_rows), *(value for _, value in of_cuts)]
    for key in [*(key for key, _ in of_rows), *(("cut", term) for term, _ in of_cuts)]:
        names.append(key)
    return Duals(np.array(values), names)


def test_oracles_read_nonzero_terms_in_their_own_numbers():
    counted = dual_values().terms(Count)
    assert len(counted) == 2
    assert counted.values.tolist() == [-1.0, -2.0]
    arrays = counted.arrays({4: 0, 5: 1, 7: 2})  # the oracle has no number for 9
    assert arrays.starts.tolist() == [0, 2, 4]
    assert arrays.members.tolist() == [0, 2, 1, 0]
    assert arrays.weights.tolist() == [1, 2, 1, 1]
    assert arrays.divisors.tolist() == [3, 2]
    assert arrays.limited.tolist() == [False, True]
    assert arrays.memory_starts.tolist() == [0, 0, 3]
    assert arrays.memory.tolist() == [0, 1, 2]


def test_linear_terms_add_to_the_values_of_rows():
    duals = dual_values()
    assert duals.terms(Linear).gains("arc") == {"b": 4.0, "c": 2.0}
    assert dict(duals.items("arc")) == {"a": 2.0, "b": 7.0, "c": 2.0}
    assert duals["arc"].tolist() == [2.0, 3.0]
    assert dict(duals.items("other")) == {"b": 8.0}
    assert [term.bounds for term in duals.terms(Box).terms] == [((4, 0, 0),)]


def test_a_row_with_a_term_has_it():
    term = Count("visit", (1, 2, 3), (1, 1, 1), 2)
    assert Row(("cut", term), upper=1.0).term() is term
    assert term.side == 1
    assert Row(("visit", 3), upper=1.0).term() is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Count("row", (1, 2), (1, 2), 2), "weights from 1 to divisor - 1"),
        (lambda: Count("row", (1, 2), (1, 0.5), 2), "expected integers"),
        (lambda: Count("row", (1, 2), (1,), 2), "expected one per member"),
        (lambda: Count("row", (1, 1), (1, 1), 2), "no member twice"),
        (lambda: Count("row", (1, 2), (1, 1), 2, memory=(1,)), "members that its memory lacks"),
        (lambda: Linear("row", (1, 2), (1.0,)), "1 coefficients for 2 members"),
    ],
)
def test_invalid_terms_are_refused(make, message):
    with pytest.raises(FormulationError, match=message):
        make()


def test_a_copy_of_a_term_is_equal_and_has_no_cached_hash():
    term = Linear("arc", ("a", "b"), (1.0, 2.0))
    assert hash(term) == hash(Linear("arc", ("a", "b"), (1.0, 2.0)))
    copy = pickle.loads(pickle.dumps(term))
    assert set(vars(copy)) == {"block", "members", "coefficients"}  # hashes of strings differ between processes
    assert copy == term
    assert {term: 1}[copy] == 1

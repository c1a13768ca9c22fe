"""Kernels of stated kinds: compiled at the first call, once, and for arrays that may not be written as well."""

import numpy as np
import pytest

from solvers import compiling
from solvers.columns.kinds import FLOAT, FLOATS, typed


def test_a_kernel_is_compiled_when_it_is_called_and_once_for_all_kinds_of_arrays(monkeypatch):
    made = []

    def njit(signatures, **options):
        made.append((signatures, options))
        return lambda function: function

    monkeypatch.setattr("solvers.columns.kinds.njit", njit)
    monkeypatch.setattr(compiling.Interpreting, "steps", 0)

    @typed(FLOAT(FLOATS))
    def total(values):
        """The sum."""
        return values.sum()

    assert made == []
    assert (total.__name__, total.__doc__) == ("total", "The sum.")
    frozen = np.ones(3)
    frozen.flags.writeable = False
    assert total(np.ones(2)) + total(frozen) == 5.0
    assert made == [([FLOAT(FLOATS)], {"cache": True, "nogil": True})]


def total_of(values):
    return values.sum()


def test_a_first_call_is_interpreted_and_says_the_same(monkeypatch):
    total = typed(FLOAT(FLOATS))(total_of)
    monkeypatch.setattr(compiling.Interpreting, "steps", 10_000)
    monkeypatch.setattr("solvers.columns.kinds.njit", lambda *_, **__: pytest.fail("it is compiled"))
    found = total(np.ones(2))
    assert (type(found), found) == (float, 2.0)


def test_other_kinds_are_refused(monkeypatch):
    from solvers.columns.solved import largest_product

    monkeypatch.setattr(compiling.Interpreting, "steps", 0)
    assert largest_product(np.array([1.0, -3.0]), np.array([2.0, 2.0])) == 6.0
    with pytest.raises(TypeError, match="No matching definition"):
        largest_product(np.array([1, 3]), np.array([2.0, 2.0]))

"""Equal data have one digest, and others another."""

import dataclasses
from functools import cached_property

import numpy as np
import pytest

from colgen import InputError
from colgen.core.digest import digest_of, digest_of_object


@dataclasses.dataclass(frozen=True, eq=False)
class Instance:
    sizes: np.ndarray
    name: str = ""


DIFFERENT = [
    None, 0, 1, 1.0, "1", "", (), (1,), ((1,),), (1, 1), {}, {1: 2}, {2: 1}, {1}, {1, 2}, True,
    np.zeros(2), np.zeros(3), np.zeros((2, 1)), np.zeros(2, dtype=int), np.array([0.0, -1.0]), Instance(np.zeros(2)),
]  # fmt: skip


def test_different_data_have_different_digests():
    assert len({digest_of(value) for value in DIFFERENT}) == len(DIFFERENT)


def test_what_an_instance_is_called_and_the_order_of_sets_change_nothing():
    assert digest_of(Instance(np.ones(3), "a")) == digest_of(Instance(np.ones(3), "b"))
    assert digest_of({3: "c", 1: "a"}) == digest_of({1: "a", 3: "c"})
    assert digest_of({"b", "a"}) == digest_of({"a", "b"})


def test_what_is_remembered_counts_for_nothing():
    class Thing:
        def __init__(self):
            self.size = 3

        @cached_property
        def double(self):
            return 6

    thing = Thing()
    first = digest_of_object(thing)
    assert thing.double == 6
    assert digest_of_object(thing) == first


def test_what_is_no_data_is_named():
    class Thing:
        def __init__(self):
            self.rule = print

    with pytest.raises(InputError, match=r"Thing holds a builtin.*define Thing.digest\(\)"):
        digest_of_object(Thing())

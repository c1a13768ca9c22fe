"""Serialization of plain data."""

from __future__ import annotations

import dataclasses
import json
from functools import cached_property

import numpy as np
import pytest

from colgen import InputError
from colgen.core.serialization import as_plain, digest_of, digest_of_object, of_plain
from colgen.core.terms import Box, Count, Linear

VALUES = [
    None,
    True,
    3,
    -0.5,
    float("inf"),
    "text",
    b"\x00\xff",
    (1, ("a", None)),
    [1, [2]],
    {"a": (1, 2), (3, 4): {5}},
    frozenset({(1, 2)}),
    ("cuts", Count("row", (1, 2, 3), (1, 1, 1), 2, (1, 2, 3, 4))),
    Linear("arc", ((0, 1),), (1.0,)),
    Box("part", (("a", 0.0, 2.0),)),
]


@pytest.mark.parametrize("value", VALUES)
def test_values_survive_a_round_trip(value):
    found = of_plain(json.loads(json.dumps(as_plain(value, "it"))))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("kind", [bool, np.int32, np.float64, np.uint8])
@pytest.mark.parametrize("shape", [(0,), (3,), (200,), (20, 30)])
def test_arrays_survive_a_round_trip(kind, shape):
    array = (np.arange(np.prod(shape)) % 3).reshape(shape).astype(kind)
    found = of_plain(json.loads(json.dumps(as_plain(array, "it"))))
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)


@pytest.mark.parametrize("value", [object(), print, np.array([None]), {"a": {1: print}}])
def test_other_objects_are_refused(value):
    with pytest.raises(InputError, match="expected numbers, strings"):
        as_plain(value, "it")


@pytest.mark.parametrize("data", [{"array": [None], "dtype": "O"}, {"tuple": [1], "set": []}, {"call": ["print"]}])
def test_foreign_json_is_refused(data):
    with pytest.raises((ValueError, KeyError, TypeError)):
        of_plain(data)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_equal_sets_are_written_alike(kind):
    members = [(head, modifier) for head in range(9) for modifier in range(9)]
    for size in (2, 3, 5, 81):
        written = {json.dumps(as_plain(kind(members[:size][::step]), "a set")) for step in (1, -1)}
        assert len(written) == 1
    colliding = [(0, 1), (3, 1), (2, 1)]
    assert as_plain(kind(colliding), "a set") == as_plain(kind(sorted(colliding)), "a set")


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


def test_names_and_the_order_of_sets_do_not_change_digests():
    assert digest_of(Instance(np.ones(3), "a")) == digest_of(Instance(np.ones(3), "b"))
    assert digest_of({3: "c", 1: "a"}) == digest_of({1: "a", 3: "c"})
    assert digest_of({"b", "a"}) == digest_of({"a", "b"})


def test_cached_properties_do_not_change_digests():
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


def test_objects_without_plain_data_are_reported():
    class Thing:
        def __init__(self):
            self.rule = print

    with pytest.raises(InputError, match="Thing contains a builtin"):
        digest_of_object(Thing())

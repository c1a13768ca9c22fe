"""Plain data comes back as it was."""

import json

import numpy as np
import pytest

from colgen import Box, Count, InputError, Linear
from colgen.core.plain import as_plain, of_plain

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
def test_values_come_back(value):
    found = of_plain(json.loads(json.dumps(as_plain(value, "it"))))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("kind", [bool, np.int32, np.float64, np.uint8])
@pytest.mark.parametrize("shape", [(0,), (3,), (200,), (20, 30)])
def test_arrays_come_back(kind, shape):
    array = (np.arange(np.prod(shape)) % 3).reshape(shape).astype(kind)
    found = of_plain(json.loads(json.dumps(as_plain(array, "it"))))
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)


@pytest.mark.parametrize("value", [object(), print, np.array([None]), {"a": {1: print}}])
def test_what_is_no_data_is_refused(value):
    with pytest.raises(InputError, match="expected numbers, strings"):
        as_plain(value, "it")


@pytest.mark.parametrize("data", [{"array": [None], "dtype": "O"}, {"tuple": [1], "set": []}, {"call": ["print"]}])
def test_what_nobody_has_written_is_refused(data):
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

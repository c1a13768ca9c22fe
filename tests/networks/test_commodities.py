"""Commodities that users state."""

import numpy as np
import pytest

from colgen import InputError, Paths
from colgen.networks import Commodities, Elementary, Resource, Unsplittable

GRAPH = (["a", "b"], ["b", "c"])
COLUMNS = np.array([0, 1])


@pytest.mark.parametrize(
    ("commodities", "message"),
    [
        ((["a"], ["c"], [1.0, 2.0]), "as many origins"),
        ((["a"], ["c"], [-1.0]), "finite demands"),
        ((["a"], ["c"], [np.inf]), "finite demands"),
        ((["z"], ["c"], [1.0]), "origin 'z' of commodity 0"),
        ((["a"], ["z"], [1.0]), "destination 'z' of commodity 0"),
        (7, "expected \\(origins"),
        (Commodities(["a"], ["c"], [1.0], costs=[[1.0]]), "costs of shape"),
        (Commodities(["a"], ["c"], [1.0], limits=[[1.0, -1.0]]), "limits of at least 0"),
    ],
)
def test_wrong_commodities_are_refused(commodities, message):
    with pytest.raises(InputError, match=message):
        Paths(GRAPH, COLUMNS, commodities=commodities)


def test_what_does_not_go_with_commodities():
    given = (["a"], ["c"], [1.0])
    with pytest.raises(InputError, match="neither source"):
        Paths(GRAPH, COLUMNS, "a", "c", commodities=given)
    with pytest.raises(InputError, match="neither source"):
        Paths(GRAPH, COLUMNS, commodities=given, resources=[Resource({"b": 1.0}, 1.0)])
    with pytest.raises(InputError, match="no rules but Unsplittable"):
        Paths(GRAPH, COLUMNS, commodities=given, rules=[Elementary()])
    Paths(GRAPH, COLUMNS, commodities=given, rules=[Unsplittable()])

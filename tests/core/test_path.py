"""Paths of decisions, shared with the ancestors of a node."""

import pickle
import sys

from hypothesis import given
from hypothesis import strategies as st

from colgen import Apart
from colgen.core.path import DecisionPath


def apart(k):
    return Apart(("row", k), ("row", k + 1))


@given(st.lists(st.lists(st.integers(0, 9).map(apart), max_size=3), max_size=6))
def test_a_path_is_all_that_has_been_decided_in_order(steps):
    path = DecisionPath()
    for own in steps:
        path = path.below(own)
    every = tuple(decision for own in steps for decision in own)
    assert path.decisions == every
    assert path == DecisionPath(every)
    assert hash(path) == hash(DecisionPath(every))
    assert path != path.below([apart(0)])


def test_siblings_share_what_lies_above():
    parent = DecisionPath([apart(0)])
    left, right = parent.below([apart(1)]), parent.below([apart(2)])
    assert left.decisions[0] is right.decisions[0]
    assert parent.below(()) is parent
    assert parent.decisions == (apart(0),)


def test_a_path_as_deep_as_any_travels_and_goes():
    path, deep = DecisionPath(), 20 * sys.getrecursionlimit()
    for k in range(deep):
        path = path.below([apart(k)])
    assert len(pickle.loads(pickle.dumps(path)).decisions) == deep
    del path

"""Fuzzed path blocks against all paths, and their compact models."""

import numpy as np
import pytest

from tests.fuzz import networks
from tests.fuzz.templates import judge


@pytest.mark.parametrize("number", range(25))
def test_a_few_seeded_networks(number):
    failure, _ = judge(networks.draw(np.random.default_rng([43, number])))
    assert failure is None, failure.words


def test_walks_are_counted_by_their_definition():
    graph = {"arcs": [[0, 1], [1, 2], [2, 1], [1, 0]], "sink": 0, "upper": [None] * 4, "fixed": [], "resources": []}
    assert networks.walks({**graph, "rules": []}) == [(0, 1, 2, 3), (0, 3)]
    assert networks.walks({**graph, "rules": [["cycles", 2]]}) == [(0, 3)]
    assert networks.walks({**graph, "rules": [["runs", [2], 2, None, False]]}) == [(0, 3)]

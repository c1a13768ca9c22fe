"""Pseudo-costs of small examples."""

import math

import pytest

from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import DOWN, UP, Candidate


def candidate(name, value):
    return Candidate([(), ()], name, [(DOWN, value), (UP, 1.0 - value)])


def test_gains_are_means_per_unit_and_unknown_ones_are_average():
    costs = PseudoCosts()
    x, y = candidate("x", 0.25), candidate("y", 0.5)
    assert [gains.tolist() for gains in costs.gains([x, y])] == [[0.25, 0.75], [0.5, 0.5]]  # no data
    costs.learn("x", DOWN, 0.5, 2.0)  # 4 per unit
    costs.learn("x", DOWN, 0.25, 2.0)  # 8 per unit
    costs.learn("z", DOWN, 1.0, 2.0)
    assert costs.gains([x])[0].tolist() == pytest.approx([0.25 * 6.0, 0.75])
    assert costs.gains([y])[0].tolist() == pytest.approx([0.5 * 4.0, 0.5])  # the mean of 6 and 2
    assert costs.counts([x, y]).tolist() == [0, 0]  # only one direction of x
    costs.learn("x", UP, 0.5, 3.0)
    assert costs.counts([x, y, Candidate([()], "x")]).tolist() == [1, 0, 0]
    assert costs.gains([x])[0].tolist() == pytest.approx([1.5, 4.5])


def test_invalid_gains_are_ignored_and_the_arrays_grow():
    costs = PseudoCosts()
    for distance, gain in [(0.0, 1.0), (1.0, math.inf), (1.0, -1.0), (math.inf, 1.0)]:
        costs.learn("x", UP, distance, gain)
    assert len(costs) == 0
    for k in range(100):
        costs.learn(k, UP, 1.0, float(k))
        costs.learn(k, DOWN, 1.0, 2.0 * k)
    assert [costs.gains([candidate(k, 0.5)])[0].tolist() for k in (0, 50, 99)] == [
        [0.0, 0.0],
        [50.0, 25.0],
        [99.0, 49.5],
    ]

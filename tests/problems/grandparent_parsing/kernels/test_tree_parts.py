"""Parts are scored when they are asked for."""

import numpy as np

from problems.grandparent_parsing.kernels.tree_parts import automata_of, given_parts
from tests.problems.grandparent_parsing.kernels.test_automata_dual import scores


def test_only_asked_parts_count_as_scored():
    _, grandparents, siblings = scores(0, 5)
    arcs = np.full((6, 6), -np.inf)
    arcs[np.arange(5), np.arange(1, 6)] = 1.0
    parts = given_parts(6, grandparents, siblings)
    automata_of(arcs > -np.inf, arcs, parts)
    assert parts.scored[0] == 4  # a chain has one grandparent for each token but the first

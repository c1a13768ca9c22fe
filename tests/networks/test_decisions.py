"""Forbidden arcs of one block."""

import numpy as np

from colgen import decompose
from colgen.networks.decisions import ArcsForbidden
from tests.networks.programs import routing


def test_only_paths_of_the_block_over_closed_arcs_are_forbidden():
    problem = decompose(routing(0, graphs=2)[0])
    closed = np.zeros(problem.blocks[0].network.num_arcs, dtype=bool)
    closed[problem.blocks[0].between((0, 1))] = True
    decision = ArcsForbidden(0, closed, 1.0, problem.blocks)
    assert not decision.allows(problem.path("type_0", (0, 1, 0)))
    assert decision.allows(problem.path("type_0", (0, 2, 0)))
    assert decision.allows(problem.path("type_1", (0, 1, 0)))
    assert str(decision) == "1 arc of type_0 forbidden"

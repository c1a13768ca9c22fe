"""Chains and trees as arrays."""

import numpy as np

from colgen.solvers.chains.forest import NONE, chains, from_parents


def test_chains_are_trees_that_end_in_their_roots():
    forest = chains(np.array([2, 1]))
    assert forest.parent.tolist() == [1, NONE, NONE]
    assert forest.first_child.tolist() == [NONE, 0, NONE]
    again = from_parents(forest.starts, forest.parent, forest.table)
    assert again.first_child.tolist() == forest.first_child.tolist()

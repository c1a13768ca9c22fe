"""Synthetic trees have the optimum of the complete program."""

import numpy as np
import pytest
from scipy import optimize

from benchmarks.engine.trees import Free, PoolPartition
from colgen import Sense, Termination, solve
from colgen.bounding.run import Run
from colgen.core.stop import AnyOf
from colgen.tree.search import branch_and_bound


@pytest.mark.parametrize("oracles", [1, 3])
def test_pools_are_partitioned_best(oracles):
    problem = PoolPartition(rows=12, columns=150, oracles=oracles, seed=oracles)
    result = solve(problem)
    covers = np.concatenate([pool.matrix for pool in problem.pools])
    costs = np.concatenate([pool.costs for pool in problem.pools])
    whole = optimize.milp(costs, constraints=optimize.LinearConstraint(covers.T, 1, 1), integrality=np.ones(len(costs)))
    assert result.is_optimal
    assert result.objective == pytest.approx(whole.fun)


def test_a_free_tree_is_complete():
    result = branch_and_bound(Free(4), Run(Sense.MINIMIZE, AnyOf()))
    assert result.termination is Termination.INFEASIBLE
    assert len(result.nodes) == 31

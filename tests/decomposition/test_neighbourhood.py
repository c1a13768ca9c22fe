"""What a relaxation leaves open of a compact model holds an answer."""

import numpy as np
import pytest

from colgen import decompose, solve, solve_complete
from colgen.decomposition.neighbourhood import Neighbourhood
from colgen.model.formulation import compile_model
from problems.truth import compacts
from problems.truth.campaign import judge
from tests.decomposition import models


@pytest.mark.parametrize("seed", range(3))
def test_an_answer_is_known_after_the_root(seed):
    model = models.lots(seed, items=4, periods=7)
    best = solve_complete(compile_model(model)).objective
    problem = decompose(model, "item")
    found = solve(problem, heuristics=(Neighbourhood(problem.splitting),), node_limit=1)
    assert best <= found.objective * (1 + 1e-6)
    assert found.objective <= 1.2 * best


def test_blocks_that_are_the_same_are_handed_out():
    model = models.lots(1, items=3, periods=4)
    for t in model.period:
        for i in (1, 2):
            before = (model.kept[i, t - 1] if t else 0) + model.made[i, t]
            model.balance[i, t].set_value(before == 3 * (t + 1) + model.kept[i, t])
            model.setup[i, t].set_value(model.made[i, t] <= 40 * model.ready[i, t])
    model.cost.set_value(sum(model.made.values()) + sum((9 + i // 2) * v for (i, _), v in model.ready.items()))
    model.overtime.fix(6)
    problem = decompose(model, "item", recognize=False)
    found = solve(problem, heuristics=(Neighbourhood(problem.splitting),))
    assert max(sub.count for sub in problem.splitting.subproblems) >= 1
    assert found.is_optimal
    assert found.objective == pytest.approx(solve_complete(compile_model(model)).objective)


class Asked:
    def __init__(self):
        self.times = 0

    def search(self, context):
        self.times += 1


def test_others_are_asked_where_it_finds_nothing():
    problem, other = decompose(models.lots(0, items=4, periods=7), "item"), Asked()
    solve(problem, heuristics=(Neighbourhood(problem.splitting, (other,)),), node_limit=1)
    assert other.times == 0
    solve(problem, heuristics=(Neighbourhood(problem.splitting, (other,), seconds=0.0),), node_limit=1)
    assert other.times == 1


def test_a_point_that_is_off_its_rows_by_what_a_solver_allows_is_no_answer():
    """A row of 4 was left at 3.999999333, which ended the run."""
    failure, _ = judge(compacts.draw(np.random.default_rng([27000, 298])))
    assert failure is None

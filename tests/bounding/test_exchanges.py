"""Dual-optimal inequalities, valid and invalid: no bound depends on them."""

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import optimize

from colgen import (
    Column,
    Diving,
    IterationLimit,
    Method,
    NoStabilization,
    Problem,
    RestrictedMIP,
    Termination,
    artificial,
    exchange,
    solve,
)
from colgen.core.solution import Solution
from colgen.master.statement import restricted_master
from tests.amounts import examples
from tests.toys import CuttingStock, Pool


class Covering(Problem):
    """Random rows to be covered by a pool of columns, and any exchanges, valid or not."""

    def __init__(self, seed, sign=1):
        draw = np.random.default_rng(seed)
        self.demands = draw.integers(1, 6, 4).astype(float)
        self.matrix = draw.integers(0, 3, (4, 12)).astype(float)
        self.costs = sign * draw.integers(2, 9, 12).astype(float)
        self.trades = draw.integers(-2, 3, (4, 5)).astype(float)
        self.prices = sign * draw.integers(-1, 3, 5).astype(float)  # with less than nothing the master is unbounded
        self.sign = sign
        self.matrix[:, 0] = 1.0

    def master(self):
        m = pyo.ConcreteModel()
        m.unmet, m.trade = artificial(range(4)), exchange(range(5))
        traded = [sum(self.trades[i, k] * m.trade[k] for k in range(5)) for i in range(4)]
        m.demand = pyo.Constraint(range(4), rule=lambda m, i: m.unmet[i] + traded[i] >= self.demands[i])
        m.cost = pyo.Objective(
            expr=sum(self.prices[k] * m.trade[k] for k in range(5)),
            sense=pyo.minimize if self.sign > 0 else pyo.maximize,
        )
        return m

    def pricing(self):
        columns = [
            Column(c, {("demand", i): float(v) for i, v in enumerate(a) if v}, j)
            for j, (c, a) in enumerate(zip(self.costs, self.matrix.T, strict=True))
        ]
        return Pool(columns, cost_bound=2.0 * self.sign)

    def method(self):
        return Method(heuristics=(Diving(), RestrictedMIP(5.0)))

    def optimum(self, whole):
        found = optimize.milp(
            self.sign * self.costs,
            constraints=optimize.LinearConstraint(self.matrix, self.demands, np.inf),
            integrality=np.full(12, int(whole)),
        )
        return self.sign * found.fun


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(examples(15, 200)))
def test_exchanges_change_neither_relaxation_nor_bound(seed, sign):
    problem = Covering(seed, sign)
    found = solve(problem, relaxation=True)
    assert found.termination is Termination.OPTIMAL
    assert found.objective == pytest.approx(problem.optimum(whole=False))
    assert found.dual_bound == pytest.approx(found.objective)
    assert not any(name == "trade" for name, _ in found.solution.variables)


@pytest.mark.parametrize("rounds", range(1, 7))
@pytest.mark.parametrize("seed", range(examples(6, 60)))
def test_a_run_that_is_cut_off_states_no_bound_and_no_relaxation_by_exchanges(seed, rounds):
    problem = Covering(seed)
    found = solve(problem, relaxation=True, stop=IterationLimit(rounds), method=Method(stabilization=NoStabilization()))
    exact = problem.optimum(whole=False)
    assert found.dual_bound <= exact + 1e-6
    assert found.objective >= exact - 1e-6  # infinite where the master's solution was none of the relaxation


@pytest.mark.parametrize("seed", range(examples(6, 60)))
def test_feasible_solutions_use_no_exchanges(seed):
    problem = Covering(seed)
    found = solve(problem)
    best = problem.optimum(whole=True)
    assert found.dual_bound <= best + 1e-6
    if found.solution is not None:
        assert found.objective >= best - 1e-6
        assert not found.solution.variables


def test_invalid_dual_optimal_inequalities_end():
    class WrongWayRound(CuttingStock):
        """A narrow piece is taken for the next wider one."""

        def master(self):
            m = super().master()
            m.del_component(m.demand)
            m.stretched = exchange(range(3))
            pieces = [m.unmet[i] + (m.stretched[i] if i < 3 else 0) - (m.stretched[i - 1] if i else 0) for i in m.item]
            m.demand = pyo.Constraint(m.item, rule=lambda m, i: pieces[i] >= self.demands[i])
            return m

    found = solve(WrongWayRound(), relaxation=True)
    assert found.objective == pytest.approx(452.25)
    assert found.dual_bound == pytest.approx(452.25)
    assert min(i.objective for i in found.iterations if i.phase == 2) < 452.0  # they had been in use
    whole = solve(WrongWayRound())
    assert whole.objective == 453.0


def test_a_solution_that_uses_an_exchange_is_infeasible():
    problem = Covering(0)
    master = restricted_master(problem.master())
    answer = Solution(float(problem.prices[0]), (), {("trade", 0): 1.0})
    assert master.rows.violation(answer) == "an exchange is not zero"

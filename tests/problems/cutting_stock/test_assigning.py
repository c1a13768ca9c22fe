"""Generalized assignment by knapsack kernels: bounds, branching and fixing against scipy on the compact model."""

import numpy as np
import pytest
from scipy import optimize, sparse

from colgen import Bundle, Chain, ColumnGeneration, PricingContext, Sense, Subgradient, Volume, solve
from problems.cutting_stock.assigning import Assigning, Machines, machines
from tests.amounts import examples


def compact(instance):
    """The optimum by scipy's mixed-integer program; None if there is no answer."""
    num_machines, num_tasks = instance.costs.shape
    done = sparse.hstack([sparse.eye_array(num_tasks)] * num_machines)
    load = sparse.block_diag([instance.sizes[j][None, :] for j in range(num_machines)])
    answer = optimize.milp(
        instance.costs.ravel(),
        constraints=[
            optimize.LinearConstraint(done, 1, 1),
            optimize.LinearConstraint(load, -np.inf, instance.capacities),
        ],
        bounds=optimize.Bounds(0, 1),
        integrality=np.ones(instance.costs.size),
    )
    return round(answer.fun) if answer.status == 0 else None


@pytest.mark.parametrize(
    "bounding", [None, Chain(Volume(60), ColumnGeneration()), Chain(Bundle(30), ColumnGeneration())]
)
@pytest.mark.parametrize("seed", range(examples(2, 4)))
def test_optimum_is_that_of_the_compact_model(bounding, seed):
    instance = machines(3, 12, seed)
    result = solve(Assigning(instance), bounding=bounding)
    best = compact(instance)
    if best is None:
        assert result.termination.name == "INFEASIBLE"
    else:
        assert result.is_optimal
        assert result.objective == best


@pytest.mark.parametrize(("bounding", "near"), [(Volume(250), 2e-3), (Bundle(120), 1e-3), (Subgradient(250), 1e-2)])
def test_bounds_come_near_to_the_linear_program_and_do_not_pass_it(bounding, near):
    problem = Assigning(machines(4, 30, 1))
    best = solve(problem, relaxation=True).dual_bound
    result = solve(problem, relaxation=True, bounding=bounding)
    assert best * (1.0 - near) <= result.dual_bound <= best * (1.0 + 1e-9)


def test_what_forcing_a_task_in_costs_is_what_the_knapsack_says_with_its_room_taken():
    instance = machines(2, 8, 3)
    problem = Assigning(instance)
    master = problem.restricted_master()
    duals = master.guessed({"assign": np.linspace(20.0, 120.0, 8), "use": [-3.0, -5.0]})
    for machine, oracle in enumerate(problem.pricing()):
        marginals = oracle.price(duals, PricingContext(Sense.MINIMIZE)).marginals()
        gains = np.asarray(duals["assign"]) - instance.costs[machine]
        for task in range(8):
            fits = [
                s
                for s in range(256)
                if s >> task & 1
                and sum(instance.sizes[machine, t] for t in range(8) if s >> t & 1) <= instance.capacities[machine]
            ]
            worth = [sum(gains[t] for t in range(8) if s >> t & 1) for s in fits]
            expected = -max(worth, default=-np.inf) - float(duals["use", machine])
            assert marginals.values[task] == pytest.approx(expected)
            assert marginals.names[task] == (machine, task)


def test_answers_are_checked():
    instance = Machines(np.ones((1, 2)), np.array([[2, 2]]), np.array([3]))
    with pytest.raises(ValueError, match="not done exactly once"):
        Assigning(instance).check([((0, (1,)), 1.0)])
    with pytest.raises(ValueError, match="has not room"):
        Assigning(instance).check([((0, (0, 1)), 1.0)])

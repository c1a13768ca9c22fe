"""Generalized assignment against the compact model in HiGHS, and the oracle against enumeration."""

import itertools

import numpy as np
import pytest

from colgen import ColumnGeneration, Method, PricingContext, Sense, Termination, solve
from colgen.bounding.bundle import Bundle
from colgen.bounding.chain import Chain
from colgen.bounding.subgradient import Subgradient
from colgen.bounding.volume import Volume
from colgen.core.budget import Budget
from colgen.master.statement import restricted_master
from colgen.problems.assignment import Assignment, AssignmentInstance, random
from colgen.problems.assignment.branching import AssignmentFixing
from colgen.problems.assignment.model import full
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.lp import LPStatus
from colgen.testing import check_problem
from tests.amounts import examples


@pytest.mark.parametrize(
    "bounding", [None, Chain(Volume(60), ColumnGeneration()), Chain(Bundle(30), ColumnGeneration())]
)
@pytest.mark.parametrize("kind", ["C", "D"])
@pytest.mark.parametrize("seed", range(examples(2, 6)))
def test_optimum_equals_the_compact_model(bounding, kind, seed):
    instance = random(3, 14, seed, kind=kind)
    result, compact = solve(Assignment(instance), method=Method(bounding=bounding)), solve_complete(full(instance))
    if compact.values is None:
        assert compact.status is LPStatus.INFEASIBLE
        assert result.termination is Termination.INFEASIBLE
    else:
        assert result.is_optimal
        assert result.objective == instance.check(result.answer) == pytest.approx(compact.objective)


@pytest.mark.parametrize("scale", [1e-8, 1e8, 0.1])
def test_the_scale_of_costs_changes_nothing(scale):
    instance = random(4, 16, 3)
    scaled = AssignmentInstance(scale * instance.costs, 7 * instance.sizes, 7 * instance.capacities + 3)
    best = solve(Assignment(instance)).objective
    result = solve(Assignment(scaled))
    assert result.is_optimal
    assert result.objective == pytest.approx(scale * best)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("penalty", [1e6, 1e9, 1e12, 1e15])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_penalties_hide_nothing(seed, penalty, scale):
    """Removing the assignments with penalties does not change the answer."""
    if seed is None:
        costs, sizes, room = np.array([[0.2], [1.0]]), np.zeros((2, 1)), np.zeros(2)
        dear = np.array([[False], [True]])
    else:
        instance = random(3, 8, seed, kind="C")
        costs, sizes, room = 0.01 * instance.costs, instance.sizes, 2 * instance.capacities
        dear = np.random.default_rng(seed).random(costs.shape) < 0.3
        dear[0] = False
    best = solve(Assignment(AssignmentInstance(costs, np.where(dear, room[:, None] + 1, sizes), room))).objective
    result = solve(Assignment(AssignmentInstance(np.where(dear, penalty, costs) * scale, sizes, room)))
    assert result.is_optimal
    assert result.objective == pytest.approx(scale * best, rel=1e-9)
    assert result.dual_bound <= scale * best * (1.0 + 1e-9)


@pytest.mark.parametrize("penalty", [1e9, 1e12])
def test_an_unavoidable_penalty_does_not_turn_rounding_into_a_bound(penalty):
    """The ascent ends at duals of 1000 times the penalty; rounding in their sum exceeds ordinary costs."""
    costs = [[0, 1, -2, 0, penalty], [-1, 0, 0, penalty, 0], [0, 0, 1, 3, 0]]
    sizes = [[5, 7, 4, 1, 6], [1, 4, 5, 0, 3], [5, 6, 3, 3, 5]]
    result = solve(Assignment(AssignmentInstance(costs, sizes, [7, 4, 5])))
    assert result.is_optimal
    assert result.objective == penalty + 1


@pytest.mark.parametrize(
    ("costs", "sizes", "room", "best"),
    [
        ([[0, -1, 9], [1e9, 1e9, 0]], [[7, 7, 2], [0, 0, 0]], [7, 0], 1e9 - 1),
        ([[-2.0000001, 0, 0], [1e6, 0, 0.9999998]], [[21, 14, 14], [0, 35, 42]], [28, 49], 1e6),
    ],
)
def test_rounding_of_a_penalty_does_not_prevent_a_proof(costs, sizes, room, best):
    result = solve(Assignment(AssignmentInstance(costs, sizes, room)))
    assert result.is_optimal
    assert result.objective == best


def test_the_bound_is_as_accurate_as_ordinary_costs_permit():
    """The penalty is 1000 times the task's other cost: duals of its size lost 3e-7 to rounding."""
    result = solve(Assignment(AssignmentInstance([[1.0, 1000000.001], [1.0, 1001000000.0]], [[7, 0], [0, 0]], [0, 0])))
    assert result.is_optimal
    assert result.dual_bound == pytest.approx(1000001.001, abs=1e-9)


def test_a_solution_of_cost_zero_is_proved_despite_penalties():
    """Costs have no scale here: dual values that cancel out leave only rounding errors."""
    instance = AssignmentInstance([[0, 3e-8], [0, 0], [1e-8, 0]], [[0, 5], [3, 0], [0, 6]], [0, 0, 0])
    assert solve(Assignment(instance)).is_optimal


@pytest.mark.parametrize("scale", [1.0, 1e-6, 2.0**30])
@pytest.mark.parametrize(
    ("costs", "sizes", "room"),
    [
        ([[-1, -2, 3]], [[0, 0, 0]], [0]),
        ([[-2, -3, 2, 1, 2]], [[0] * 5], [0]),
        ([[0, -1, 1], [0, 0, 0]], [[6, 0, 2], [2, 3, 5]], [6, 4]),
    ],
)
def test_costs_that_cancel_out_are_not_rounding_errors(costs, sizes, room, scale):
    instance = AssignmentInstance(scale * np.array(costs), sizes, room)
    result = solve(Assignment(instance))
    assert result.is_optimal
    assert result.objective == pytest.approx(0.0, abs=1e-9 * scale)


def test_penalties_are_found_among_costs_with_a_large_common_part():
    """Three of four costs above their task's least one are penalties, so their median is one as well."""
    costs = np.array([[1e9, -1.00001, 0, 0], [0, 0, 0, 0], [0, 1e9, 1e9, 0], [0.99999, 0, 0, 0]]) - 1e7
    sizes = [[4, 6, 6, 5], [3, 0, 0, 4], [7, 2, 4, 6], [0, 6, 6, 3]]
    result = solve(Assignment(AssignmentInstance(costs, sizes, [6, 0, 5, 0])))
    assert result.is_optimal
    assert result.answer == [3, 1, 1, 0]
    assert result.dual_bound == pytest.approx(result.objective, abs=1e-5)


def test_costs_that_nearly_tie_and_cancel_out_are_proved():
    costs = [[2e-7, 2.0, 0.9999999, -0.9999999, 1.0000001, 2.0], [0.9999998, 1, -2.0000001, -1.9999999, 0.9999999, 2]]
    result = solve(Assignment(AssignmentInstance(np.array(costs), np.zeros((2, 6)), [2, 3])))
    assert result.is_optimal
    assert result.objective == pytest.approx(0.0, abs=3e-7)


@pytest.mark.parametrize("large", [2.0, 1e3, 1e7])
@pytest.mark.parametrize("room", [0, 28])
def test_costs_with_tiny_differences_that_cancel_out_are_proved(large, room):
    """A machine's cost for both tasks is small; rounding errors of its duals have the size of the single costs."""
    costs = large * np.array([[-1.0000001, 1.00000005], [-1.0000001, 0.99999995]])
    result = solve(Assignment(AssignmentInstance(costs, [[28, 28], [room, room]], [42, 28])))
    answers = [(a, b) for a in range(2) for b in range(2) if not (a == b and (a == 0 or room))]
    assert result.is_optimal
    assert result.objective == pytest.approx(min(costs[a, 0] + costs[b, 1] for a, b in answers), abs=1e-14 * large)


def test_tasks_with_one_taker_are_not_branched_on():
    costs = np.array([[0.0, 0.0, 1.0, 0.0], [2e7, 2e7, 2e7, 2e7]])
    result = solve(Assignment(AssignmentInstance(costs, [[1, 7, 1, 2], [0, 0, 0, 0]], [10, 0])))
    assert result.objective == 2e7
    assert result.answer == [0, 0, 1, 0]


def test_step_lengths_stay_bounded():
    costs = [[17, 0, 0, 12, 0], [-12, 0, 0, -8, 0], [0, 0, 0, 0, 6], [-2, -3, -5, -12, 19]]
    sizes = [[3, 6, 1, 1, 4], [3, 2, 7, 4, 5], [7, 7, 7, 6, 0], [4, 7, 3, 6, 1]]
    problem = Assignment(AssignmentInstance(0.1 * np.array(costs, dtype=float), sizes, [3, 4, 6, 3]))
    assert np.abs(problem.warm_start(Budget()).duals["assign"]).max() < 1e5
    assert solve(problem).objective == pytest.approx(1.8)


def test_a_task_without_a_machine_is_infeasible():
    instance = AssignmentInstance(np.ones((2, 2)), [[1, 9], [1, 9]], [5, 5])
    assert solve(Assignment(instance)).termination is Termination.INFEASIBLE
    assert solve_complete(full(instance)).values is None


def test_tasks_that_fit_but_not_together_are_infeasible():
    instance = AssignmentInstance(np.ones((2, 3)), np.full((2, 3), 2), [3, 3])
    assert solve(Assignment(instance)).termination is Termination.INFEASIBLE


@pytest.mark.parametrize(("bounding", "near"), [(Volume(250), 2e-3), (Bundle(120), 1e-3), (Subgradient(250), 1e-2)])
def test_bounds_approach_the_linear_program_from_below(bounding, near):
    problem = Assignment(random(4, 30, 1))
    best = solve(problem, relaxation=True).dual_bound
    result = solve(problem, relaxation=True, method=Method(bounding=bounding))
    assert best * (1.0 - near) <= result.dual_bound <= best * (1.0 + 1e-9)


def test_the_oracle_passes_the_conformance_kit():
    report = check_problem(Assignment(random(3, 6, 0)), seconds=examples(1.5, 6.0))
    assert report.ok, report


def test_marginal_costs_equal_enumeration():
    instance = random(2, 5, 3)
    problem = Assignment(instance)
    master = restricted_master(problem.master())
    duals = master.rows.guess({"assign": np.linspace(20.0, 120.0, 5), "use": [-30.0, -5.0]})
    result = problem.pricing().price(duals, PricingContext(Sense.MINIMIZE))
    marginals = result.marginals()
    gains = np.asarray(duals["assign"])[None, :] - instance.costs

    def best(machine, inside=(), outside=()):
        """Return the least reduced cost of a set on a machine, the empty set included."""
        worth = [] if inside else [0.0]
        for size in range(6):
            for tasks in itertools.combinations(range(5), size):
                fits = instance.sizes[machine, list(tasks)].sum() <= instance.capacities[machine]
                if fits and set(inside) <= set(tasks) and not set(outside) & set(tasks):
                    worth.append(-gains[machine, list(tasks)].sum() - float(duals["use", machine]))
        return min(worth, default=np.inf)

    assert result.total == pytest.approx(best(0) + best(1))
    for number, (machine, task) in enumerate(itertools.product(range(2), range(5))):
        assert marginals.names[number] == (machine, task)
        expected = best(machine, inside=(task,)) + best(1 - machine, outside=(task,))
        assert marginals.values[number] == pytest.approx(expected)


def test_assignments_are_fixed_at_nodes_without_a_linear_program():
    class Fixing(AssignmentFixing):
        found = 0

        def reduce(self, context):
            decisions = super().reduce(context)
            self.found += sum(int(decision.closed.sum()) for decision in decisions)
            return decisions

    instance = random(4, 24, 2)
    problem = Assignment(instance)
    fixing = Fixing(problem.oracle)
    result = solve(problem, method=Method(reductions=(fixing,)))
    assert result.is_optimal
    assert result.objective == pytest.approx(solve_complete(full(instance)).objective)
    assert result.columns_generated == 0  # no linear program was solved
    assert fixing.found > 0


def test_a_bound_meets_an_optimum_of_zero():
    """The optimum is 0 and no linear program provides a scale for rounding errors."""
    costs = [[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, -3], [0, -1, 3, 0, -1, -2], [3, -3, -1, 3, 1, -1]]
    sizes = [[3, 0, 2, 4, 3, 1], [7, 0, 7, 7, 3, 0], [7, 5, 2, 7, 3, 0], [6, 3, 4, 2, 6, 4]]
    result = solve(
        Assignment(AssignmentInstance(np.array(costs, dtype=float), np.array(sizes), np.array([4, 4, 5, 5])))
    )
    assert result.is_optimal
    assert result.objective == 0.0


def test_rounding_errors_around_zero_do_not_change_the_objective():
    costs = 1055049.6447746132 * np.array([[0.0, -3.0, 0.0, 0.0, 0.0], [1.0, 3.0, 3.0, 2.0, 1.0]])
    sizes = np.array([[5, 2, 4, 7, 7], [5, 2, 2, 0, 4]])
    result = solve(Assignment(AssignmentInstance(costs, sizes, np.array([14, 8]))))
    assert result.is_optimal
    assert result.objective == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("constant", [0.0, -1e7, 1e7, 1e9])
def test_a_common_cost_does_not_hide_differences(constant):
    costs = np.array([[0.817, -1.763, -0.818], [0.517, 0.0, 0.0], [0.194, -1.536, -0.913]]) + constant
    sizes = np.array([[0, 35, 28], [0, 0, 0], [49, 28, 7]])
    result = solve(Assignment(AssignmentInstance(costs, sizes, np.array([56, 0, 49]))))
    assert result.is_optimal
    assert result.objective - 3.0 * constant == pytest.approx(-2.159, abs=1e-5)
    assert result.dual_bound - 3.0 * constant == pytest.approx(-2.159, abs=1e-5)

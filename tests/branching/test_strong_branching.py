"""Strong branching: the same optima, fewer nodes, and valid bounds of tried children."""

import math

import numpy as np
import pytest
from scipy import optimize

from colgen import (
    InputError,
    Method,
    MostFractional,
    NoStabilization,
    OnOriginalVariable,
    StrongBranching,
    TimeLimit,
    solve,
)
from colgen.branching.selection import PseudoCostBranching
from colgen.branching.trials import Trials
from colgen.core.result import Termination
from tests.toys import Enumerated, Program

CHOICES = {
    "most fractional": MostFractional(),
    "pseudo-costs": PseudoCostBranching(),
    "strong": StrongBranching(),
    "linear programs alone": StrongBranching(priced=0, exact=0),
    "pricing alone": StrongBranching(linear=4, exact=0, rounds=1),
    "exact": StrongBranching(linear=6, priced=0, exact=3, reliability=1),
}


def program(seed, rows=6, columns=14):
    """Packing of sets of three to five rows whose values are close to their sizes: relaxations are fractional."""
    rng = np.random.default_rng(seed)
    group = []
    for _ in range(columns):
        mine = np.zeros(rows)
        mine[rng.choice(rows, rng.integers(2, 5), replace=False)] = rng.integers(1, 4)
        group.append((float(10 * mine.sum() + rng.integers(0, 12)), tuple(mine)))
    return Program(True, (-math.inf,) * rows, (5.0,) * rows, (tuple(group),), (math.inf,))


class Packing(Enumerated):
    def branching(self):
        return [OnOriginalVariable(lambda column: {column.key: 1.0})]

    def method(self):
        return Method(heuristics=())


def true_optimum(problem, decisions):
    """Return the optimum of the complete program under branching decisions, by scipy."""
    costs, matrix, (low, high), lower, upper, whole = problem.program.arrays()
    for decision in decisions:
        (k,) = [j for j, column in enumerate(problem.columns[0]) if column.key == decision.key[1]]
        lower[k], upper[k] = max(lower[k], decision.lower), min(upper[k], decision.upper)
    if (lower > upper).any():
        return -math.inf
    answer = optimize.milp(
        -costs,
        constraints=optimize.LinearConstraint(matrix, low, high),
        bounds=optimize.Bounds(lower, upper),
        integrality=whole.astype(int),
        options={"mip_rel_gap": 0.0},
    )
    return -answer.fun if answer.status == 0 else -math.inf


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_proves_the_optimum_with_valid_bounds(name):
    split = 0
    for seed in range(2):
        problem = Packing(program(seed))
        _, optimum = problem.program.solve(integer=True)
        result = solve(problem, method=Method(choice=CHOICES[name]))
        assert result.termination is Termination.OPTIMAL
        assert result.objective == pytest.approx(optimum)
        split += len(result.nodes) > 1
        for node in result.nodes:
            best = true_optimum(problem, node.decisions)
            # The bound of a pruned node only states that it has nothing better than the incumbent.
            assert node.bound >= best - 1e-6 or best <= optimum + 1e-6
            if node.outcome not in ("pruned", "infeasible"):
                assert node.bound >= best - 1e-6
            if node.outcome == "infeasible":
                assert best == -math.inf
    assert split


def test_strong_branching_needs_fewer_nodes_and_is_reproducible():
    def nodes(name):
        results = [
            solve(Packing(program(seed, rows=7, columns=18)), method=Method(choice=CHOICES[name])) for seed in range(2)
        ]
        return [[(node.bound, node.outcome) for node in result.nodes] for result in results]

    most, strong = nodes("most fractional"), nodes("strong")
    assert sum(map(len, strong)) < 0.7 * sum(map(len, most))
    assert nodes("strong") == strong


def test_familiar_candidates_need_no_linear_programs(monkeypatch):
    problem, tried = Packing(program(0, rows=7, columns=18)), []

    def linear(self, decisions, true=Trials.linear):
        tried.append(decisions)
        return true(self, decisions)

    monkeypatch.setattr(Trials, "linear", linear)
    counts = []
    for familiarity in (1, 1000):
        tried.clear()
        result = solve(problem, method=Method(choice=StrongBranching(familiarity=familiarity, reliability=1000)))
        assert result.objective == pytest.approx(problem.program.solve(integer=True)[1])
        counts.append(len(tried) / len(result.nodes))
    assert counts[0] < 0.8 * counts[1]


def test_a_limit_during_a_trial_leaves_a_valid_bound():
    problem = Packing(program(1))
    _, optimum = problem.program.solve(integer=True)
    rounds = len(solve(problem, method=Method(choice=StrongBranching(), stabilization=NoStabilization())).iterations)
    for limit in range(1, rounds, max(rounds // 4, 1)):
        result = solve(
            problem,
            method=Method(choice=StrongBranching()),
            stop=lambda iteration, sense, n=limit: _after(iteration, n),
        )
        assert result.dual_bound >= optimum - 1e-6
        assert result.solution is None or result.objective <= optimum + 1e-6
    assert solve(problem, method=Method(choice=StrongBranching()), stop=TimeLimit(0.0)).dual_bound >= optimum


def _after(iteration, limit):
    return Termination.ITERATION_LIMIT if iteration.number + 1 >= limit else None


@pytest.mark.parametrize(
    "wrong", [{"linear": 0}, {"priced": -1}, {"exact": 1.5}, {"rounds": 0}, {"lookahead": 0}, {"familiarity": 0}]
)
def test_settings_out_of_their_domain_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        StrongBranching(**wrong)


def test_a_value_that_is_no_choice_is_refused():
    with pytest.raises(InputError, match="choice: expected a Choice"):
        solve(Packing(program(0)), method=Method(choice=StrongBranching))

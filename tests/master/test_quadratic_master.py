"""The quadratic master against enumeration of all supports, at odd scales, and its bound at any dual values."""

import dataclasses
import itertools

import numpy as np
import pytest

from colgen import Column, IterationLimit, Pricing, PricingResult, Problem, Sense, solve
from colgen.core.columns import Row
from colgen.core.errors import ColgenError, FormulationError, InputError
from colgen.learning import Chains, best_structure, sparsemap
from colgen.master.quadratic_master import MeanDuals, QuadraticMaster
from colgen.master.statement import restricted_master


def at(costs, points, curvature, sign):
    """The optimum over all supports: each a system of linear equations."""
    best, mean = -np.inf, None
    gram = curvature * points @ points.T
    for count in range(1, len(points) + 1):
        for held in map(list, itertools.combinations(range(len(points)), count)):
            system = np.ones((count + 1, count + 1))
            system[:count, :count], system[count, count] = gram[np.ix_(held, held)], 0.0
            shares = np.linalg.lstsq(system, np.append(sign * costs[held], 1.0), rcond=None)[0][:count]
            if shares.min() < -1e-12 or abs(shares.sum() - 1.0) > 1e-9:
                continue
            value = sign * costs[held] @ shares - 0.5 * shares @ gram[np.ix_(held, held)] @ shares
            if value > best:
                best, mean = value, shares @ points[held]
    return sign * best, mean


class Listed(Pricing):
    """The best of some points."""

    multiplicity = 1.0

    def __init__(self, problem, overlooked=()):
        self.problem, self.overlooked = problem, overlooked

    def price(self, duals, context):
        costs, points, sign = self.problem.costs, self.problem.points, -context.sense.sign
        reduced = costs - sign * points @ duals.prices - duals.level
        reduced[list(self.overlooked)] = -np.inf * sign
        best = int(np.argmax(sign * reduced))
        return PricingResult([Column(costs[best], {}, best)], float(reduced[best]), [float(reduced[best])])


class Means(Problem):
    def __init__(self, costs, points, curvature=1.0, sense=Sense.MAXIMIZE, overlooked=()):
        self.costs, self.points, self.curvature, self.sense = costs, points, curvature, sense
        self.overlooked = overlooked

    def vector(self, column):
        places = np.flatnonzero(self.points[column.structure])
        return places, self.points[column.structure][places]

    def master(self):
        first, size = Column(self.costs[0], {}, 0), self.points.shape[1]
        return QuadraticMaster(first, self.vector, size=size, curvature=self.curvature, sense=self.sense)

    def pricing(self):
        return Listed(self, self.overlooked)


@pytest.mark.parametrize("sense", list(Sense))
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_over_all_supports_is_proved(seed, scale, sense):
    rng = np.random.default_rng(seed)
    whole = seed % 2  # with ties, and points of which some are means of others
    points = rng.integers(-1, 2, (7, 4)).astype(float) if whole else rng.normal(size=(7, 4))
    costs = scale * (rng.integers(-1, 2, 7) if whole else rng.normal(size=7))
    curvature = scale * float(rng.choice([0.25, 1.0, 8.0]))
    expected, mean = at(costs / scale, points, curvature / scale, -sense.sign)
    expected *= scale
    result = solve(Means(costs, points, curvature, sense))
    near = 1e-9 * scale * 8.0
    assert result.is_optimal
    assert result.objective == pytest.approx(expected, abs=near)
    assert result.dual_bound == pytest.approx(expected, abs=1e-6 * scale * 8.0)
    assert sum(share for _, share in result.answer) == pytest.approx(1.0)
    found = sum(share * points[k] for k, share in result.answer)
    assert found == pytest.approx(mean, abs=1e-4)


@pytest.mark.parametrize("sense", list(Sense))
def test_any_dual_values_prove_a_bound(sense):
    rng = np.random.default_rng(0)
    for _ in range(20):
        costs, points = rng.normal(size=6), rng.normal(size=(6, 3))
        problem = Means(costs, points, 0.5, sense)
        optimum = solve(problem).objective
        master, oracle = restricted_master(problem.master()), problem.pricing()
        sign = -sense.sign
        for _ in range(20):
            duals = MeanDuals.of(2.0 * rng.normal(size=3), float(rng.normal()))
            best = sign * max(sign * costs - points @ duals.prices) - duals.level
            bound = master.bound(duals, [oracle], [PricingResult(bound=best)])
            assert sign * bound >= sign * optimum - 1e-12
        assert master.bound(duals, [oracle], [PricingResult()]) == sense.ideal


def test_sparsemap_is_column_generation_over_it():
    rng = np.random.default_rng(1)
    scores, transitions = rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    oracle = Chains()

    class Labellings(Pricing):
        multiplicity = 1.0

        def price(self, duals, context):
            found = best_structure(oracle, (scores - duals.prices.reshape(5, 3), transitions))
            best = found.score((scores - duals.prices.reshape(5, 3), transitions)) - duals.level
            return PricingResult([column_of(found)], best)

    def column_of(structure):
        return Column(structure.score((scores, transitions)), {}, structure)

    class Nearest(Problem):
        def master(self):
            first = column_of(best_structure(oracle, (scores, transitions)))
            return QuadraticMaster(first, lambda column: column.structure.parts[0], size=scores.size)

        def pricing(self):
            return Labellings()

    expected = sparsemap(oracle, scores, transitions)
    result = solve(Nearest())
    assert result.is_optimal
    assert result.objective == pytest.approx(expected.value, abs=1e-9)
    mean = np.zeros(scores.size)
    for structure, share in result.answer:
        places, counts = structure.parts[0]
        mean[places] += share * counts
    assert mean.reshape(scores.shape) == pytest.approx(expected.marginals, abs=1e-6)


def test_a_limit_leaves_an_answer_and_a_bound():
    rng = np.random.default_rng(2)
    costs, points = rng.normal(size=40), rng.normal(size=(40, 30))
    whole = solve(Means(costs, points))
    early = solve(Means(costs, points), stop=IterationLimit(3))
    assert len(whole.iterations) > 3
    assert early.objective <= whole.objective + 1e-12 <= early.dual_bound + 2e-12
    assert early.answer


def test_an_oracle_that_misses_a_held_column_raises_an_error():
    costs, points = np.array([5.0, 1.0]), np.eye(2)
    with pytest.raises(ColgenError, match="no reduced cost is better"):
        solve(Means(costs, points, overlooked=[0], curvature=0.1))


def test_invalid_columns_raise_errors():
    problem = Means(np.array([1.0, 2.0]), np.eye(2))
    master = restricted_master(problem.master())
    with pytest.raises(FormulationError, match="has no rows"):
        master.add([], [Row(("row", 1), 0.0, 1.0)])
    with pytest.raises(FormulationError, match="expected only a cost and a structure"):
        master.add([Column(1.0, {("row", 1): 1.0}, 1)])
    with pytest.raises(FormulationError, match="one pricing problem, not 2"):
        master.bound(MeanDuals.of(np.zeros(2), 0.0), [], [PricingResult(bound=0.0)] * 2)
    for vector in [(np.array([2]), np.ones(1)), (np.array([-1]), np.ones(1)), (np.array([0]), np.array([np.nan]))]:
        with pytest.raises(FormulationError, match="of a sparse vector: expected"):
            QuadraticMaster(Column(0.0, {}, 0), lambda column, vector=vector: vector, size=2)
    for size, curvature in [(0, 1.0), (2, 0.0), (2, -1.0), (2, np.nan)]:
        with pytest.raises(InputError):
            QuadraticMaster(Column(0.0, {}, 0), problem.vector, size=size, curvature=curvature)


def test_violations_are_described():
    problem = Means(np.array([1.0, 2.0]), np.eye(2))
    master = restricted_master(problem.master())
    columns = [Column(cost, {}, k, integer=False) for k, cost in enumerate(problem.costs)]
    result = solve(problem)
    assert master.rows.violation(result.solution) is None
    half = dataclasses.replace(result.solution, columns=[(columns[1], 0.5)])
    assert "add up to 1" in master.rows.violation(half)
    high = dataclasses.replace(result.solution, objective=9.0)
    assert "objective is 9" in master.rows.violation(high)

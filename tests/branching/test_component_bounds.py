"""Component bounds: boxes that separate fractional classes, and trees over identical pricing problems."""

import itertools
import math

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import optimize

from colgen import (
    Column,
    InputError,
    Method,
    OnComponents,
    Pricing,
    PricingResult,
    Problem,
    Solution,
    Termination,
    artificial,
    solve,
)
from colgen.branching.component_bounds import OnPairs, boxes, pairs
from colgen.core.terms import Box
from tests.amounts import examples
from tests.toys import Pool

# Each component is 1 in half of the points, and each point is used with 1/2.
HALVES = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=float)


def within(points, bounds):
    inside = np.ones(len(points), dtype=bool)
    for k, low, high in bounds:
        inside &= (points[:, k] >= low) & (points[:, k] <= high)
    return inside


def test_integer_counts_within_single_bounds_may_be_fractional_within_two():
    found = boxes(HALVES, np.full(4, 0.5))
    assert {len(bounds) for bounds, _ in found} == {2}
    assert {count for _, count in found} == {0.5}


@pytest.mark.parametrize("seed", range(examples(60, 600)))
def test_a_box_with_few_bounds_is_found_unless_all_classes_are_integer(seed):
    draw = np.random.default_rng(seed)
    points = draw.integers(0, 1 + draw.integers(1, 4), (draw.integers(1, 14), draw.integers(1, 5))).astype(float)
    amounts = draw.integers(1, 5, len(points)) / draw.integers(1, 5)
    _, which = np.unique(points, axis=0, return_inverse=True)
    used = np.bincount(which.reshape(-1), amounts)
    fractional = int((np.abs(used - np.rint(used)) > 1e-6).sum())
    found = boxes(points, amounts)
    assert bool(found) == bool(fractional)
    for bounds, count in found:
        assert count == pytest.approx(amounts[within(points, bounds)].sum())
        assert abs(count - round(count)) > 1e-6
        # The number of bounds is at least 1 and at most the logarithm.
        assert len(bounds) <= max(1, math.floor(math.log2(fractional)))


class Boxed(Pricing):
    """Enumerates all structures, with the dual values of their boxes."""

    prices = frozenset({Box})

    def __init__(self, problem):
        self.problem, self.multiplicity = problem, float(problem.copies)

    def price(self, duals, context):
        terms = duals.terms(Box)
        reduced = {}
        for parts in self.problem.costs:
            column = self.problem.column(parts)
            value = context.cost_weight * column.cost
            value -= sum(a * duals.get(key) for key, a in column.coefficients.items())
            named = self.problem.components(column)
            value -= sum(d for box, d in zip(terms.terms, terms.values, strict=True) if box.holds(named))
            reduced[parts] = value
        best = min(reduced, key=reduced.get)
        return PricingResult([self.problem.column(best)], reduced[best], [reduced[best]])


class Identical(Problem):
    """Copies of one block whose structures are integer vectors of any cost, under rows on their sums."""

    objective_step = 1.0

    def __init__(self, seed, oracle=Boxed):
        draw = np.random.default_rng(seed)
        self.copies, self.oracle, self.boxes = 4, oracle, set()
        structures = list(itertools.product(range(2 + seed % 2), repeat=3))
        self.costs = {parts: float(draw.integers(0, 20)) for parts in structures}
        chosen = draw.integers(0, len(structures), self.copies)
        self.totals = np.sum([structures[k] for k in chosen], axis=0).astype(float)

    def master(self):
        m = pyo.ConcreteModel()
        m.missing, m.over, m.idle = artificial(range(3)), artificial(range(3)), artificial()
        m.total = pyo.Constraint(range(3), rule=lambda m, i: m.missing[i] - m.over[i] == self.totals[i])
        m.use = pyo.Constraint(expr=m.idle == self.copies)
        m.cost = pyo.Objective(expr=0)
        return m

    def column(self, parts):
        rows = {("total", i): float(a) for i, a in enumerate(parts) if a}
        return Column(self.costs[parts], {**rows, ("use", None): 1.0}, parts)

    def components(self, column):
        return {i: float(a) for i, a in enumerate(column.structure) if a}

    def pricing(self):
        return self.oracle(self)

    def branching(self):
        return (OnComponents(self.components),)

    def method(self):
        return Method(heuristics=())

    def optimum(self):
        structures = np.array(list(self.costs), dtype=float).T
        matrix = np.vstack([structures, np.ones(structures.shape[1])])
        side = np.append(self.totals, self.copies)
        rows = optimize.LinearConstraint(matrix, side, side)
        return optimize.milp(list(self.costs.values()), constraints=rows, integrality=np.ones(matrix.shape[1])).fun


@pytest.mark.parametrize("seed", range(examples(25, 300)))
def test_identical_blocks_are_solved_by_the_default_rule(seed):
    class Without(Identical):
        def branching(self):
            return Problem.branching(self)

    problem = Without(seed)
    found = solve(problem)
    assert found.termination is Termination.OPTIMAL
    assert found.objective == pytest.approx(problem.optimum())


def test_the_default_rule_needs_oracles_that_price_boxes():
    class Without(Identical):
        def branching(self):
            return Problem.branching(self)

    class Plain(Boxed):
        prices = frozenset()

    ends = [solve(Without(seed, Plain)) for seed in range(12)]
    assert {end.termination for end in ends} == {Termination.OPTIMAL, Termination.NO_BRANCHING}
    for end, seed in zip(ends, range(12), strict=True):
        assert end.dual_bound <= Identical(seed).optimum() <= end.objective


def test_integer_template_variables_are_branched_on_by_default():
    class Sites(Problem):
        def master(self):
            m = pyo.ConcreteModel()
            m.open = pyo.Var([0, 1], domain=pyo.Binary)
            m.missing = artificial()
            m.served = pyo.Constraint(expr=m.missing + 3.0 * m.open[0] + 3.0 * m.open[1] >= 4.0)
            m.cost = pyo.Objective(expr=2.0 * m.open[0] + 3.0 * m.open[1])
            return m

    found = solve(Sites(), method=Method(heuristics=()))
    assert (found.termination, found.objective) == (Termination.OPTIMAL, 5.0)


@pytest.mark.parametrize("seed", range(examples(25, 300)))
def test_identical_blocks_have_the_optimum_of_enumeration(seed):
    problem = Identical(seed)
    found = solve(problem)
    assert found.termination is Termination.OPTIMAL
    assert found.objective == pytest.approx(problem.optimum())


@pytest.mark.parametrize("seed", range(examples(25, 300)))
def test_on_pairs_has_the_optimum_of_enumeration(seed):
    problem = Identical(seed)
    problem.branching = lambda: (OnPairs(problem.components),)
    found = solve(problem)
    assert found.termination is Termination.OPTIMAL
    assert found.objective == pytest.approx(problem.optimum())


@pytest.mark.parametrize("seed", range(examples(25, 300)))
def test_pairs_agree_with_enumeration(seed):
    draw = np.random.default_rng(seed)
    points = draw.integers(0, 4, (int(draw.integers(1, 8)), 4)).astype(float)
    amounts = draw.integers(0, 5, len(points)) / draw.choice([2.0, 3.0])
    expected = {}
    for i, j in itertools.combinations_with_replacement(range(4), 2):
        inside = (points[:, i] >= 2) if i == j else (points[:, i] >= 1) & (points[:, j] >= 1)
        count = float(amounts[inside].sum())
        if abs(count - round(count)) > 1e-6:
            bounds = ((i, 2.0, np.inf),) if i == j else ((i, 1.0, np.inf), (j, 1.0, np.inf))
            expected[bounds] = count
    assert dict(pairs(points, amounts)) == pytest.approx(expected)


def test_other_boxes_follow_integer_pairs():
    rule = OnPairs(lambda column: column.structure)
    columns = [Column(1.0, {}, {"a": float(a)}) for a in (3, 2)]
    solution = Solution(1.0, ((columns[0], 0.5), (columns[1], 0.5)))  # both have two
    (children, *_) = [candidate.children for candidate in rule.candidates(solution)]
    assert children[0][0].box == Box("components", (("a", 3.0, np.inf),))
    once = [Column(1.0, {}, {"a": 1.0, "b": 1.0}), Column(1.0, {}, {"b": 1.0})]
    (first, *_) = rule.candidates(Solution(1.0, ((once[0], 0.5), (once[1], 0.5))))
    assert first.children[0][0].box.bounds == (("a", 1.0, np.inf), ("b", 1.0, np.inf))
    assert pairs(np.zeros((0, 2)), np.zeros(0)) == []


def test_single_bounds_are_not_enough():
    """No count within one bound is fractional, but the relaxation is."""
    problem = Identical(0)
    problem.copies, problem.totals = 2, np.ones(3)
    cheap = {tuple(int(a) for a in point) for point in HALVES}
    problem.costs = {parts: 1.0 if parts in cheap else 10.0 for parts in problem.costs}
    del problem.costs[0, 0, 0]
    problem.costs[0, 0, 0] = 1.0
    relaxed = solve(problem, relaxation=True)
    assert relaxed.objective == pytest.approx(2.0)
    found = solve(problem)
    assert found.objective == pytest.approx(problem.optimum())
    assert found.objective > relaxed.objective + 1.0
    assert len(found.nodes) > 1


def test_integer_classes_become_one_column_each():
    rule = OnComponents(lambda column: column.structure[0])
    twins = [Column(3.0, {("use", None): 1.0}, ({"a": 1.0}, k)) for k in range(2)]
    solution = Solution(3.0, ((twins[0], 0.4), (twins[1], 0.6)))
    assert not rule.candidates(solution)
    recovered = rule.recover(solution)
    assert recovered.columns == ((twins[1], 1.0),)
    assert recovered.objective == 3.0


def test_columns_without_components_are_kept():
    rule = OnComponents(lambda column: None)
    solution = Solution(1.0, ((Column(1.0, {}, "other"), 0.5),))
    assert not rule.candidates(solution)
    assert rule.recover(solution) is None


def test_an_oracle_that_does_not_price_boxes_is_refused():
    class Plain(Pool):
        name = "plain oracle"

    problem = Identical(1, lambda p: Plain([p.column(parts) for parts in p.costs], multiplicity=4.0))
    with pytest.raises(InputError, match=r"OnComponents.*plain oracle"):
        solve(problem)


def test_components_must_be_integer():
    rule = OnComponents(lambda column: {"a": 0.5})
    with pytest.raises(InputError, match=r"'a' is 0\.5"):
        rule.candidates(Solution(1.0, ((Column(1.0, {}, "half"), 0.5),)))

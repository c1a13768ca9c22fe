"""Boundings without a linear program: valid bounds for all rows, senses and scales."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from colgen import ColumnGeneration, Method, NodeLimit, Sense, solve
from colgen.bounding.bundle import Bundle
from colgen.bounding.chain import Chain
from colgen.bounding.subgradient import Subgradient
from colgen.bounding.volume import Volume
from colgen.core.errors import InputError
from tests.amounts import examples
from tests.assignment import assignment
from tests.bounding.lagrangians import largest, programs
from tests.toys import CuttingStock, Enumerated, Program

METHODS = [Subgradient, Volume, Bundle]


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=examples(10, 30), deadline=None)
@given(data=st.data())
def test_bounds_hold(method, data):
    program = data.draw(programs())
    status, optimum = program.solve(integer=False)
    assume(status == "optimal")  # unless the other solver gives no result
    result = solve(Enumerated(program), relaxation=True, method=Method(bounding=method(40)))
    slack = 1e-7 * max(abs(optimum), largest(program))
    assert not program.sense.is_better(optimum, result.dual_bound, slack)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=examples(4, 8), deadline=None)
@given(data=st.data())
def test_optima_do_not_depend_on_the_bounding(method, data):
    program = data.draw(programs(scales=(1.0, 2.0**20)))
    status, optimum = program.solve(integer=True)
    result = solve(
        Enumerated(program), method=Method(bounding=Chain(method(30), ColumnGeneration())), stop=NodeLimit(30)
    )
    slack = 1e-6 * largest(program)
    if status == "optimal":
        assert not program.sense.is_better(optimum, result.dual_bound, slack)
        assert not program.sense.is_better(result.objective, optimum, slack)
        if result.is_optimal:
            assert result.objective == pytest.approx(optimum, rel=1e-6, abs=slack)
    else:
        assert result.solution is None


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=examples(5, 10), deadline=None)
@given(data=st.data(), power=st.sampled_from((-40, -7, 5, 33)))
def test_the_scale_of_costs_changes_no_bit(method, data, power):
    program = data.draw(programs(scales=(1.0,), least=1))
    factor = 2.0**power
    scaled = Program(
        program.maximize,
        program.row_lower,
        program.row_upper,
        tuple(tuple((factor * c, a) for c, a in group) for group in program.groups),
        program.limits,
        tuple((factor * v[0], *v[1:]) for v in program.variables),
        factor * program.offset,
    )
    one = solve(Enumerated(program), relaxation=True, method=Method(bounding=method(25)))
    other = solve(Enumerated(scaled), relaxation=True, method=Method(bounding=method(25)))
    assert other.dual_bound == factor * one.dual_bound
    assert len(other.iterations) == len(one.iterations)


@pytest.mark.parametrize(("method", "near"), [(Subgradient, 0.02), (Volume, 0.02), (Bundle, 1e-4)])
@pytest.mark.parametrize("seed", range(examples(2, 4)))
def test_bounds_come_near_to_the_linear_program(method, near, seed):
    problem = assignment(3, 8, seed)
    optimum = solve(problem, relaxation=True).dual_bound
    result = solve(problem, relaxation=True, method=Method(bounding=method(300)))
    assert result.dual_bound == pytest.approx(optimum, rel=near)
    assert result.dual_bound <= optimum * (1.0 + 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_averaged_solutions_nearly_satisfy_the_rows(method):
    problem = assignment(3, 8, 2)
    result = solve(problem, relaxation=True, method=Method(bounding=method(300)))
    done = np.zeros(8)
    for column, value in result.relaxation.columns:
        done[list(column.structure[1])] += value
    assert done == pytest.approx(np.ones(8), abs=0.3)
    assert result.relaxation.objective == pytest.approx(result.dual_bound, rel=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_a_tree_can_be_bounded_without_a_linear_program(method):
    problem = assignment(3, 6, 5)
    expected = solve(problem)
    result = solve(problem, method=Method(bounding=method(60)), stop=NodeLimit(50))
    assert result.sense is Sense.MINIMIZE
    assert result.dual_bound <= expected.objective + 1e-6
    assert math.isinf(result.objective) or result.objective >= expected.objective - 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_oracles_without_a_multiplicity_are_named(method):
    problem = CuttingStock()
    with pytest.raises(InputError, match="maximum number of columns of Knapsack"):
        solve(problem, method=Method(bounding=method(5), heuristics=()))


@pytest.mark.parametrize("method", METHODS)
def test_rounds_are_counted_from_one(method):
    with pytest.raises(InputError, match="rounds of 1 or more, got 0"):
        method(0)


@pytest.mark.parametrize("method", METHODS)
def test_every_round_is_recorded(method):
    result = solve(assignment(3, 6, 1), relaxation=True, method=Method(bounding=method(7)))
    assert 2 <= len(result.iterations) <= 8  # and one in which the engine prices
    bounds = [iteration.dual_bound for iteration in result.iterations]
    assert bounds[:-1] == sorted(bounds[:-1])

"""Models with commodities against programs over arcs in HiGHS."""

import dataclasses

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InputError, Method, Paths, decompose, solve
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.result import Termination
from colgen.networks import Commodities, Unsplittable, flow_block
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.highs import LPStatus
from tests.networks.flow_programs import network, pyomo_model


@pytest.mark.parametrize("seed", range(40))
def test_flows_have_the_optimum_of_the_program_over_arcs(seed):
    scales = [1e-3, 1.0, 37.0, 1e6]
    made = network(
        seed, commodities=3 + seed % 9, tightness=0.3 + 0.02 * seed, cost_scale=scales[seed % 4],
        flow_scale=scales[seed // 4 % 4], own=seed % 3 == 0, ring=seed % 2 == 0,
    )  # fmt: skip
    result = solve(made.problem())
    best = made.optimum()
    if np.isinf(best):
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.is_optimal
    scale = max(abs(best), 1e-6 * made.demands.sum() * made.costs.max(initial=0.0))
    assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6 * scale)
    assert result.dual_bound == pytest.approx(best, rel=1e-6, abs=1e-6 * scale)


@pytest.mark.parametrize("seed", [34, 60, 278])
def test_phase_1_does_not_count_commodities_that_artificial_variables_serve(seed):
    made = network(seed, vertices=6, arcs=12, commodities=6, tightness=0.4, ring=False)
    assert solve(made.problem()).termination is Termination.INFEASIBLE


@pytest.mark.parametrize("seed", range(12))
def test_aggregates_by_origin_have_the_same_optimum(seed, monkeypatch):
    monkeypatch.setattr(flow_block, "_FEW", 0)
    made = network(seed, commodities=12, tightness=0.5, own=seed % 4 == 0)
    problem = made.problem()
    assert problem.blocks[0].num_groups < 12 or seed % 4 == 0
    result, best = solve(problem), made.optimum()
    if np.isinf(best):
        assert result.termination is Termination.INFEASIBLE
    else:
        assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
        served = np.zeros(12)
        for path in result.answer.paths:
            served[path.commodity] += path.amount
        needed = np.where(made.origins == made.destinations, 0.0, made.demands)
        assert served == pytest.approx(needed, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(24))
def test_unsplittable_commodities_use_one_path_each(seed):
    made = network(
        seed, commodities=6, tightness=0.5, own=seed % 3 == 0, flow_scale=[1.0, 0.1][seed % 2], ring=seed < 12
    )
    made.unsplittable = True
    best = made.optimum()
    try:
        result = solve(made.problem())
    except InputError:  # a commodity has no path over arcs with capacity for it
        assert np.isinf(best)
        return
    if np.isinf(best):
        assert result.termination is Termination.INFEASIBLE
        return
    assert result.is_optimal
    assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
    used = [path.commodity for path in result.answer.paths]
    assert len(used) == len(set(used))


@pytest.mark.parametrize("seed", range(6))
def test_branching_alone_proves_unsplittable_flows(seed):
    made = network(seed, commodities=5, tightness=0.4)
    made.unsplittable = True
    result, best = solve(made.problem(), method=Method(enumeration=(), heuristics=())), made.optimum()
    assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("own", "unsplittable"), [(False, False), (True, False), (True, True)])
def test_the_compact_model_has_the_same_optimum(seed, own, unsplittable):
    made = network(seed, commodities=4, tightness=0.5, own=own, ring=seed % 2 == 0)
    made.unsplittable = unsplittable
    try:
        ours = solve(decompose(pyomo_model(made))).objective
    except InputError:  # a commodity has no path
        ours = np.inf
    other = pyomo_model(made)
    assert other.goods.compact() == ()
    found = solve_complete(other)
    best = found.objective if found.status is LPStatus.OPTIMAL else np.inf
    assert ours == pytest.approx(best, rel=1e-6, abs=1e-6)


def design():
    """Return a model in which capacity is bought, with two commodities."""
    m = pyo.ConcreteModel()
    arcs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a")]
    m.flow = pyo.Var(arcs, bounds=(0, 10))
    m.open = pyo.Var(arcs, domain=pyo.Binary)
    m.room = pyo.Constraint(arcs, rule=lambda m, i, j: m.flow[i, j] <= 4 * m.open[i, j])
    m.cost = pyo.Objective(expr=sum(m.flow[arc] + 3 * m.open[arc] for arc in arcs))
    tails, heads = zip(*arcs, strict=True)
    m.goods = Paths((tails, heads), m.flow, commodities=(["a", "a"], ["b", "c"], [2.0, 5.0]))
    return m


def test_arcs_that_are_opened_and_values_in_pyomo():
    model = design()
    result = solve(decompose(model))
    # b needs an arc from a; c needs 5 units, at most 4 directly: 4 directly, 1 over b
    assert result.objective == pytest.approx(3 * 3 + 3 + 1 + 4)
    assert pyo.value(model.cost) == pytest.approx(result.objective)
    assert model.flow["a", "b"].value == pytest.approx(3.0)
    assert sum(path.amount for path in result.answer.paths if path.commodity == 1) == pytest.approx(5.0)


def test_a_commodity_without_a_path_is_named():
    model = design()
    model.other = pyo.Var([("x", "y")], bounds=(0, 0))
    model.more = Paths((["x"], ["y"]), model.other, commodities=(["x"], ["y"], [1.0]))
    with pytest.raises(InputError, match="commodity 0 has no path from 'x' to 'y'"):
        decompose(model)


def test_blocks_of_both_kinds_are_refused():
    model = design()
    model.x = pyo.Var([("s", "t")], bounds=(0, 1))
    model.routes = Paths((["s"], ["t"]), model.x, "s", "t")
    with pytest.raises(InputError, match="no blocks of another kind"):
        decompose(model)


def test_integer_flow_is_refused():
    model = design()
    for variable in model.flow.values():
        variable.domain = pyo.Integers
    with pytest.raises(InputError, match="Unsplittable"):
        decompose(model)


def test_an_answer_that_misses_demand_is_refused():
    made = network(1)
    problem = made.problem()
    solution = solve(problem).solution
    with pytest.raises(InfeasibleAnswerError, match="the flow of commodity"):
        problem.check(problem.answer(dataclasses.replace(solution, columns=solution.columns[:-1])))


def test_columns_are_written_and_read():
    made = network(2)
    problem = made.problem()
    codec = problem.codec()
    for column, _ in solve(problem).solution.columns:
        again = codec.read(codec.write(column.structure))
        assert again is not None
        assert again.cost == pytest.approx(column.cost)
        assert again.key == column.key
    assert codec.read((0, 99, [])) is None
    assert codec.read((0, 0, [[0, 0, 0]])) is None


def test_unsplittable_is_a_rule():
    model = design()
    model.goods.deactivate()
    graph = (["a", "b", "a", "c"], ["b", "c", "c", "a"])
    flow = [model.flow[arc] for arc in model.flow]
    model.one = Paths(graph, flow, commodities=Commodities(["a"], ["c"], [5.0]), rules=[Unsplittable()])
    assert solve(decompose(model)).termination is Termination.INFEASIBLE  # 5 units over one path of capacity 4

"""Models with path blocks against enumeration of all paths."""

import dataclasses

import pyomo.environ as pyo
import pytest

from colgen import InfeasibleAnswerError, InputError, Paths, Termination, WarmStart, decompose, solve
from colgen.decomposition.networked import PathValues
from colgen.networks import Neighbourhoods, Requests, Resource
from tests.networks.programs import routing


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("graphs", [1, 2])
def test_routes_of_vehicle_types_are_optimal(seed, graphs):
    model, best = routing(seed, graphs=graphs)
    result = solve(decompose(model))
    assert result.is_optimal
    assert result.objective == pytest.approx(best)
    assert pyo.value(model.cost) == pytest.approx(best)
    assert sorted(v for path in result.answer.paths for v in path.vertices if v) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", range(4))
def test_neighbourhoods_give_the_same_optimum(seed):
    model, best = routing(seed, rules=(Neighbourhoods(3),))
    assert solve(decompose(model)).objective == pytest.approx(best)


def test_an_answer_shows_the_levels_of_resources():
    model, _ = routing(3)
    for path in solve(decompose(model)).answer.paths:
        assert max(path.levels["load"]) <= 6
        assert path.levels["load"][-1] == path.levels["load"][-2]


def test_a_run_starts_from_given_paths():
    model, best = routing(1)
    problem = decompose(model)
    paths = [path.vertices for path in solve(problem).answer.paths]
    again = decompose(model)
    start = WarmStart(columns=[again.path("type_0", vertices) for vertices in paths])
    result = solve(again, start=start)
    assert result.objective == pytest.approx(best)
    with pytest.raises(InputError, match="load is"):
        again.path("type_0", (0, 1, 2, 3, 4, 5, 0))
    with pytest.raises(InputError, match="does not have"):
        again.path("type_0", (0, 7, 0))


def test_a_variable_of_two_graphs_is_refused():
    model, _ = routing(0)
    model.other = Paths(([0], [1]), [model.x[0, 0, 1]], 0, 1)
    with pytest.raises(InputError, match="is in two blocks"):
        decompose(model)


def test_other_solvers_refuse_the_model(tmp_path):
    model, _ = routing(0)
    with pytest.raises(InputError, match="no flow conservation yet"):
        pyo.SolverFactory("appsi_highs").solve(model)
    with pytest.raises(InputError, match="no flow conservation yet"):
        model.write(str(tmp_path / "model.lp"))


def test_an_infeasible_network_names_the_vertex_and_the_resource():
    model, _ = routing(0)
    model.type_0._resources = (Resource({2: 3, 3: 9}, 6, name="load"),)
    result = solve(decompose(model))
    assert result.termination is Termination.INFEASIBLE
    assert result.notes == (
        "no path makes the visit that 'visit[3]' requires: 3 in type_0: resource 'load' is at least 9 there, but its "
        "limit is 6",
    )


def test_a_network_without_paths_names_the_resource():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([(0, 1), (1, 2)], domain=pyo.Binary)
    m.cost = pyo.Objective(expr=m.x[0, 1])
    m.p = Paths(([0, 1], [1, 2]), m.x, 0, 2, count=1, resources=[Resource([2, 2], {2: 3}, name="time")])
    assert solve(decompose(m)).notes == (
        "p: no path reaches the sink: resource 'time' is at least 4 there, but its limit is 3",
    )


def test_rules_that_no_path_satisfies_are_refused():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([(0, 1), (1, 2), (2, 3)], domain=pyo.Binary)
    m.cost = pyo.Objective(expr=m.x[0, 1])
    m.p = Paths(([0, 1, 2], [1, 2, 3]), m.x, 0, 3, rules=[Requests([(2, 1)])])
    with pytest.raises(InputError, match="p: rules: no path satisfies Requests"):
        decompose(m)


def test_a_wrong_answer_is_an_infeasible_answer():
    problem = decompose(routing(0)[0])
    answer = solve(problem).answer
    longer = dataclasses.replace(answer.paths[0], amount=2.0)
    with pytest.raises(InfeasibleAnswerError, match="are not the sum of the paths"):
        problem.check(PathValues(answer.compact, answer.array, answer.kept, [longer, *answer.paths[1:]]))
    cut = dataclasses.replace(answer.paths[0], arcs=answer.paths[0].arcs[:-1])
    with pytest.raises(InfeasibleAnswerError, match="not a path from source to sink"):
        problem.check(PathValues(answer.compact, answer.array, answer.kept, [cut, *answer.paths[1:]]))

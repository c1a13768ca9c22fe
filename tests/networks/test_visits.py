"""Rows that count visits."""

import pyomo.environ as pyo

from colgen import Paths, decompose
from tests.networks.programs import routing


def test_rows_over_all_arcs_into_a_vertex_count_its_visits():
    model, _ = routing(0, graphs=2)
    problem = decompose(model)
    assert len(problem.visits.rows) == 5
    assert problem.visits.complete
    for block, of_vertex in zip(problem.blocks, problem.visits.of_vertex, strict=True):
        for vertex, row in enumerate(of_vertex.tolist()):
            inner = vertex not in (block.network.source, block.network.sink)
            assert (row >= 0) == inner


def test_other_rows_do_not():
    m = pyo.ConcreteModel()
    arcs = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    m.x = pyo.Var(arcs, domain=pyo.Binary)
    m.out = pyo.Constraint(expr=m.x[1, 2] + m.x[1, 3] == 1)  # all arcs out of 1
    m.part = pyo.Constraint(expr=m.x[0, 2] <= 1)  # one of two arcs into 2
    m.twice = pyo.Constraint(expr=2 * m.x[0, 2] + m.x[1, 2] <= 1)
    m.cost = pyo.Objective(expr=sum(m.x[arc] for arc in arcs))
    m.p = Paths(tuple(zip(*arcs, strict=True)), m.x, 0, 3)
    visits = decompose(m).visits
    assert visits.rows.tolist() == [0]
    assert not visits.complete

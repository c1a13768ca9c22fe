"""Rows read from plain sums equal those of Pyomo's compiler, which handles all others."""

import random

import pyomo.environ as pyo
import pytest

from colgen.core.errors import FormulationError
from colgen.model.model_rows import compiled, read
from colgen.model.rows import compile_model


def both(m):
    variables = [v for v in m.component_data_objects(pyo.Var, active=True) if not v.fixed]
    rank = {id(v): k for k, v in enumerate(variables)}
    objective = next(m.component_data_objects(pyo.Objective, active=True))
    return read(m, objective, rank), compiled(m, rank)


def told(rows):
    entries = sorted(zip(rows.rows, rows.columns, rows.values, strict=True))
    sides = [(c.name, low, up) for c, low, up in zip(rows.constraints, rows.lower, rows.upper, strict=True)]
    return rows.costs, rows.offset, sides, entries


def sum_of(m, draw):
    """A sum as users write them: parts in any order, some of them twice, with numbers in between."""
    parts = []
    for _ in range(draw.randint(1, 6)):
        variable = m.x[draw.randrange(5)]
        number = draw.choice([1, -1, 0.1, 3, 0])
        parts.append(draw.choice([lambda v=variable: v, lambda v=variable, a=number: a * v, lambda a=number: a])())
    parts.append(m.x[draw.randrange(5)])
    whole = sum(parts) if draw.random() < 0.5 else pyo.quicksum(parts)
    return whole if draw.random() < 0.5 else m.x[0] - whole


@pytest.mark.parametrize("seed", range(40))
def test_read_as_compiled(seed):
    draw = random.Random(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5), domain=pyo.NonNegativeReals)
    m.b = pyo.Block()
    m.b.rows = pyo.ConstraintList()
    for _ in range(6):
        body = sum_of(m, draw)
        kind = draw.randrange(4)
        side = draw.choice([m.x[1], 2.5, sum_of(m, draw)])
        stated = [body <= 3, body >= side, body == side, pyo.inequality(-100, body, 100)][kind]
        if not isinstance(stated, bool):
            m.b.rows.add(stated)
    m.cost = pyo.Objective(expr=sum_of(m, draw) if seed % 4 else 0, sense=pyo.maximize)
    try:
        found, wanted = both(m)
    except FormulationError:  # an infeasible row whose terms cancel out
        with pytest.raises(FormulationError):
            compile_model(m)
        return
    assert found is not None
    assert told(found) == told(wanted)


def base():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3))
    m.row = pyo.Constraint(expr=m.x[0] + 2 * m.x[1] >= 1)
    m.cost = pyo.Objective(expr=m.x[2])
    return m


def with_fixed(m):
    m.x[1].fix(3.0)


def with_parameter(m):
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.more = pyo.Constraint(expr=m.p * m.x[0] >= m.p)


def with_expression(m):
    m.e = pyo.Expression(expr=m.x[0] + m.x[1])
    m.more = pyo.Constraint(expr=m.e <= 4)


def with_product(m):
    m.more = pyo.Constraint(expr=2 * (m.x[0] + m.x[1]) <= 4)


def with_other_components(m):
    m.left = pyo.Suffix(direction=pyo.Suffix.IMPORT)


@pytest.mark.parametrize("change", [with_fixed, with_parameter, with_expression, with_product, with_other_components])
def test_other_models_are_compiled(change):
    m = base()
    change(m)
    found, wanted = both(m)
    assert found is None
    assert len(compile_model(m).row_keys) == len(wanted.constraints)


def test_wrong_models_are_refused():
    m = base()
    m.more = pyo.Constraint(expr=m.x[0] - m.x[0] >= 1)
    with pytest.raises(FormulationError, match="trivially infeasible"):
        compile_model(m)
    m = base()
    m.more = pyo.Constraint(expr=m.x[0] * m.x[1] >= 1)
    with pytest.raises(FormulationError, match="linear"):
        compile_model(m)

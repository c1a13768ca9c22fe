"""Blocks by an index, a function, a suffix or pyo.Block components; definitions without blocks are refused."""

import pyomo.environ as pyo
import pytest

from colgen import InputError, decompose, solve
from tests.decomposition import models


def test_a_function_a_suffix_and_an_index_agree():
    by_index = solve(decompose(models.assignment(1), "machine"))
    by_function = solve(
        decompose(models.assignment(1), lambda c: c.index() if c.parent_component().name == "room" else None)
    )
    model = models.assignment(1)
    model.colgen_block = pyo.Suffix()
    for j in model.machine:
        model.colgen_block[model.room[j]] = f"machine {j}"
    by_suffix = solve(decompose(model))
    assert by_index.root_bound == pytest.approx(by_function.root_bound) == pytest.approx(by_suffix.root_bound)
    assert by_index.objective == by_function.objective == by_suffix.objective


def small():
    m = pyo.ConcreteModel()
    m.k = pyo.Set(initialize=[0, 1])
    m.x = pyo.Var(m.k, domain=pyo.Binary)
    m.y = pyo.Var(m.k, domain=pyo.NonNegativeReals)
    m.own = pyo.Constraint(m.k, rule=lambda m, k: m.x[k] - m.y[k] <= 0.5)
    m.link = pyo.Constraint(expr=m.x[0] + m.x[1] + m.y[0] + m.y[1] >= 1)
    m.o = pyo.Objective(expr=m.x[0] + m.x[1] + m.y[0] + m.y[1])
    return m


def with_suffix(name):
    """Annotated blocks, and an annotation that is invalid."""
    m, other = small(), small()
    m.empty = pyo.Block()
    m.price = pyo.Param(initialize=3)
    m.colgen_block = pyo.Suffix()
    for k in m.k:
        m.colgen_block[m.own[k]] = k
    m.colgen_block[{"empty": m.empty, "price": m.price, "other": other.own[0]}[name]] = "more"
    return m


def all_fixed():
    m = small()
    m.x[1].fix(0)
    m.y[1].fix(0)
    return m


BAD = [
    (lambda: with_suffix("empty"), None, "labels 'empty'"),
    (lambda: with_suffix("price"), None, "labels 'price'"),
    (
        lambda: with_suffix("other"),
        None,
        r"labels 'own\[0\]'",
    ),
    (all_fixed, lambda c: c.index(), "block 1 has no variables"),
    (small, "machine", "the index 'machine'"),
    (small, 7, "by: expected the name of an index"),
    (small, lambda c: None, "by names none"),
    (small, lambda c: c.name, r"variable 'x\[0\]'.*expected one block"),
]


@pytest.mark.parametrize(("make", "by", "message"), BAD)
def test_bad_input_is_refused(make, by, message):
    with pytest.raises(InputError, match=message):
        decompose(make(), by)


def test_a_repeated_index_is_refused():
    m = pyo.ConcreteModel()
    m.city = pyo.RangeSet(3)
    m.x = pyo.Var(m.city, m.city, domain=pyo.Binary)
    m.row = pyo.Constraint(m.city, rule=lambda m, i: sum(m.x[i, j] for j in m.city) == 1)
    m.o = pyo.Objective(expr=sum(m.x[i, j] for i in m.city for j in m.city))
    with pytest.raises(InputError, match="'city' twice"):
        decompose(m, "city")

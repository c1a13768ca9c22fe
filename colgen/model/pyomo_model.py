"""Rows converted to a Pyomo model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from colgen.core.errors import FormulationError
from colgen.core.sense import Sense
from colgen.model.marks import SOLVED, artificial, exchange

if TYPE_CHECKING:
    from colgen.model.rows import Block, Rows


def render(rows: Rows) -> pyo.ConcreteModel:
    """Return a Pyomo model that compiles to these rows."""
    shared = sorted(set(rows.row_blocks) & set(rows.column_blocks))
    if shared:
        raise FormulationError(f"both rows and variables are named {shared[0]!r}: a Pyomo model needs two names")
    model = pyo.ConcreteModel()
    variables: list[Any] = [None] * len(rows.costs)
    lower, upper = rows.lower.tolist(), rows.upper.tolist()
    for block in rows.column_blocks.values():
        component = _variables(rows, block)
        model.add_component(block.name, component)
        for index, position in zip(block.indices, block.positions.tolist(), strict=True):
            variable = variables[position] = component[index]
            if variable.bounds != (bounds := (_side(lower[position]), _side(upper[position]))):
                variable.bounds = bounds
    by_rows = sparse.csr_array(rows.matrix)
    for block in rows.row_blocks.values():
        terms = {
            index: _row(rows, by_rows, position, variables)
            for index, position in zip(block.indices, block.positions.tolist(), strict=True)
        }
        model.add_component(block.name, _constraints(block, terms))
    costs = {k: rows.costs[k] for k in np.flatnonzero(rows.costs).tolist()}
    model.add_component(
        rows.objective,
        pyo.Objective(
            expr=pyo.quicksum(float(cost) * variables[k] for k, cost in costs.items()) + rows.offset,
            sense=pyo.minimize if rows.sense is Sense.MINIMIZE else pyo.maximize,
        ),
    )
    setattr(model, SOLVED, {"solved_by": rows.solved_by, "cost_rounding": rows.cost_rounding})
    return model


def _variables(rows: Rows, block: Block) -> pyo.Var:
    """Return a block of variables, with one domain or a domain for each."""
    index = () if block.indices == (None,) else (list(block.indices),)
    if rows.exchange is not None and rows.exchange[block.positions].any():
        return exchange(*index)
    if rows.artificial[block.positions].any():
        return artificial(*index)
    integer = rows.integer[block.positions].tolist()
    if len(set(integer)) > 1:
        domains = {i: pyo.Integers if is_int else pyo.Reals for i, is_int in zip(block.indices, integer, strict=True)}
        return pyo.Var(*index, domain=lambda m, *i: domains[i[0] if len(i) == 1 else i])
    if not any(integer):
        return pyo.Var(*index, domain=pyo.NonNegativeReals if _is_nonnegative(rows, block) else pyo.Reals)
    zero_one = _is_nonnegative(rows, block) and (rows.upper[block.positions] <= 1.0).all()
    return pyo.Var(*index, domain=pyo.Binary if zero_one else pyo.Integers)


def _is_nonnegative(rows: Rows, block: Block) -> bool:
    return bool((rows.lower[block.positions] >= 0.0).all())


def _row(rows: Rows, by_rows: sparse.csr_array, row: int, variables: list[Any]) -> tuple[Any, Any, Any]:
    """Return lower side, body and upper side of a row."""
    entries = slice(by_rows.indptr[row], by_rows.indptr[row + 1])
    pairs = zip(by_rows.indices[entries].tolist(), by_rows.data[entries].tolist(), strict=True)
    terms = [variables[k] if value == 1.0 else value * variables[k] for k, value in pairs]
    if not terms:
        raise FormulationError(
            f"the row {rows.row_keys[row]!r} has no variable, and Pyomo drops such rows: add an artificial variable"
        )
    body = terms[0] if len(terms) == 1 else pyo.quicksum(terms)
    return _side(rows.row_lower[row]), body, _side(rows.row_upper[row])


def _constraints(block: Block, terms: dict[Any, tuple[Any, Any, Any]]) -> pyo.Constraint:
    if block.indices == (None,):
        return pyo.Constraint(expr=_between(*terms[None]))
    return pyo.Constraint(list(block.indices), rule=lambda m, *i: _between(*terms[i[0] if len(i) == 1 else i]))


def _between(low: float | None, body: Any, high: float | None) -> Any:
    return body == low if low is not None and low == high else pyo.inequality(low, body, high)


def _side(value: float) -> float | None:
    return None if math.isinf(value) else float(value)

"""Rows converted to a Pyomo model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.environ as pyo

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
    for block in rows.column_blocks.values():
        component, (low, high) = _variables(rows, block)
        model.add_component(block.name, component)
        for position, variable in zip(block.positions.tolist(), component.values(), strict=True):
            variables[position] = variable
        other = (rows.lower[block.positions] != low) | (rows.upper[block.positions] != high)
        for position in block.positions[other].tolist():
            variables[position].bounds = _side(rows.lower[position]), _side(rows.upper[position])
    bodies = _bodies(rows, variables)
    lower, upper = (list(map(_side, sides.tolist())) for sides in (rows.row_lower, rows.row_upper))
    for block in rows.row_blocks.values():
        pairs = zip(block.indices, block.positions.tolist(), strict=True)
        model.add_component(
            block.name,
            _constraints(block, {index: _between(lower[row], bodies[row], upper[row]) for index, row in pairs}),
        )
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


def _variables(rows: Rows, block: Block) -> tuple[pyo.Var, tuple[float, float]]:
    """Return a block of variables, with one domain or a domain for each, and the bounds that these imply."""
    index = () if block.indices == (None,) else (list(block.indices),)
    if rows.exchange is not None and rows.exchange[block.positions].any():
        return exchange(*index), (0.0, math.inf)
    if rows.artificial[block.positions].any():
        return artificial(*index), (0.0, math.inf)
    integer = rows.integer[block.positions].tolist()
    free, nonnegative = (-math.inf, math.inf), bool((rows.lower[block.positions] >= 0.0).all())
    if len(set(integer)) > 1:
        domains = {i: pyo.Integers if is_int else pyo.Reals for i, is_int in zip(block.indices, integer, strict=True)}
        return pyo.Var(*index, domain=lambda m, *i: domains[i[0] if len(i) == 1 else i]), free
    if not any(integer) and nonnegative:
        return pyo.Var(*index, domain=pyo.NonNegativeReals), (0.0, math.inf)
    if any(integer) and nonnegative and (rows.upper[block.positions] <= 1.0).all():
        return pyo.Var(*index, domain=pyo.Binary), (0.0, 1.0)
    return pyo.Var(*index, domain=pyo.Integers if any(integer) else pyo.Reals), free


def _bodies(rows: Rows, variables: Sequence[Any]) -> list[Any]:
    """Return the body of each row."""
    a = rows.matrix
    owners = np.repeat(np.arange(len(variables)), np.diff(a.indptr)).tolist()
    terms: list[list[Any]] = [[] for _ in rows.row_keys]
    for row, k, value in zip(a.indices.tolist(), owners, a.data.tolist(), strict=True):
        terms[row].append(variables[k] if value == 1.0 else value * variables[k])
    for key, its in zip(rows.row_keys, terms, strict=True):
        if not its:
            raise FormulationError(
                f"the row {key!r} has no variable, and Pyomo drops such rows: add an artificial variable"
            )
    return [its[0] if len(its) == 1 else pyo.quicksum(its) for its in terms]


def _constraints(block: Block, expressions: dict[Any, Any]) -> pyo.Constraint:
    if block.indices == (None,):
        return pyo.Constraint(expr=expressions[None])
    return pyo.Constraint(list(block.indices), rule=expressions)


def _between(low: float | None, body: Any, high: float | None) -> Any:
    return body == low if low is not None and low == high else pyo.inequality(low, body, high)


def _side(value: float) -> float | None:
    return None if math.isinf(value) else float(value)

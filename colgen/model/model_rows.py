"""The objective and rows of a Pyomo model: read directly if they are plain sums, otherwise compiled by Pyomo."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from pyomo.common.numeric_types import native_numeric_types
from pyomo.core.expr.numeric_expr import LinearExpression, MonomialTermExpression, NegationExpression, SumExpression
from pyomo.core.expr.numvalue import NumericConstant
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from colgen.core.errors import FormulationError

_COMPILER = LinearStandardFormCompiler()

_PLAIN = frozenset(
    (pyo.Block, pyo.Constraint, pyo.Expression, pyo.Objective, pyo.Param, pyo.Set, pyo.RangeSet, pyo.Var)
)
"""Components that are read without Pyomo's compiler. The compiler refuses some others, or warns about them."""


class ModelRows(NamedTuple):
    """The objective and rows of a model: costs by variable number, one entry per row, and one per coefficient.

    ``offset`` is the constant term of the objective; a ranged constraint is one row.
    """

    costs: Mapping[int, float]
    offset: float
    constraints: list[Any]
    lower: list[float]
    upper: list[float]
    rows: list[int]
    columns: list[int]
    values: list[float]


def rows_of(model: pyo.ConcreteModel, objective: Any, rank: Mapping[int, int]) -> ModelRows:
    """Return the objective and rows of a model; raise FormulationError if it is not linear.

    Pyomo's compiler handles every linear model. For plain sums it takes several times longer than reading them, which
    is most of the cost of a small master. ``rank`` gives the number of each variable by ``id``; fixed ones have none.
    """
    plain = read(model, objective, rank)
    return compiled(model, rank) if plain is None else plain


def read(model: pyo.ConcreteModel, objective: Any, rank: Mapping[int, int]) -> ModelRows | None:
    """Read a model of plain sums with finite numbers; return None for any other."""
    blocks = model.block_data_objects(active=True, descend_into=True)
    if not all(_PLAIN.issuperset(block.collect_ctypes(descend_into=False)) for block in blocks):
        return None
    costs: dict[int, float] = {}
    offset = _read(objective.expr, rank, costs)
    if offset is None:
        return None
    form = ModelRows(_clean(costs), offset, [], [], [], [], [], [])
    constraints, lower, upper, rows, columns, values = form[2:]
    in_order = pyo.SortComponents.ORDERED_INDICES
    for constraint in model.component_data_objects(pyo.Constraint, active=True, sort=in_order):
        low, body, high = constraint.to_bounded_expression()
        terms: dict[int, float] = {}
        constant = _read(body, rank, terms)
        if constant is None or not (_is_side(low) and _is_side(high)):
            return None
        if low is None and high is None:
            continue
        terms = _clean(terms)
        if not terms:
            if (low is None or low <= constant) and (high is None or constant <= high):
                continue
            return None
        row = len(constraints)
        constraints.append(constraint)
        lower.append(-math.inf if low is None else float(low - constant))
        upper.append(math.inf if high is None else float(high - constant))
        rows.extend([row] * len(terms))
        columns.extend(terms)
        values.extend(terms.values())
    numbers = (offset, *form.costs.values(), *values)
    return form if all(map(math.isfinite, numbers)) else None


def _read(expression: Any, rank: Mapping[int, int], terms: dict[int, float]) -> float | None:
    """Add a sum's coefficients to ``terms``; return its constant, or None if it is not plain."""
    where = rank.get(id(expression))
    if where is not None:
        terms[where] = terms.get(where, 0.0) + 1.0
        return 0.0
    kind = expression.__class__
    if kind is LinearExpression or kind is SumExpression:
        sum_ = 0.0
        for part in expression.args:
            if part.__class__ is MonomialTermExpression and _add_term(part, rank, terms):  # the usual case
                continue
            constant = _read(part, rank, terms)
            if constant is None:
                return None
            sum_ += constant
        return sum_
    if kind in native_numeric_types:
        return float(expression)
    if kind is NumericConstant:  # the objective of a model without an objective
        return float(expression.value)
    if kind is MonomialTermExpression:
        return 0.0 if _add_term(expression, rank, terms) else None
    if kind is NegationExpression:
        negated: dict[int, float] = {}
        constant = _read(expression.args[0], rank, negated)
        for where, value in negated.items():
            terms[where] = terms.get(where, 0.0) - value
        return None if constant is None else -constant
    return None


def _add_term(term: Any, rank: Mapping[int, int], terms: dict[int, float]) -> bool:
    """Add a number times a variable; return False if it is not plain."""
    factor, variable = term.args
    where = rank.get(id(variable))
    if where is None or factor.__class__ not in native_numeric_types:
        return False
    terms[where] = terms.get(where, 0.0) + float(factor)
    return True


def _is_side(side: Any) -> bool:
    return side is None or (side.__class__ in native_numeric_types and math.isfinite(side))


def _clean(terms: dict[int, float]) -> dict[int, float]:
    """Remove terms that cancel out."""
    return {where: value for where, value in terms.items() if value} if 0.0 in terms.values() else terms


def compiled(model: pyo.ConcreteModel, rank: Mapping[int, int]) -> ModelRows:
    """Compile the rows by Pyomo and merge the two rows of each ranged constraint."""
    try:
        form = _COMPILER.write(model, mixed_form=True, set_sense=None)
    except Exception as error:  # Pyomo has no common exception for nonlinear models
        raise FormulationError(f"the Pyomo model could not be compiled as a linear program: {error}") from error
    order = np.array([rank[id(v)] for v in form.columns], dtype=np.int64)
    position: dict[int, int] = {}
    constraints: list[Any] = []
    lower: list[float] = []
    upper: list[float] = []
    row_of = np.full(len(form.rows), -1)
    for k, (entry, side) in enumerate(zip(form.rows, form.rhs, strict=True)):
        row = position.get(id(entry.constraint))
        if row is None:
            row = position[id(entry.constraint)] = len(constraints)
            row_of[k] = row  # only the first of the two rows of a ranged constraint
            constraints.append(entry.constraint)
            lower.append(-math.inf)
            upper.append(math.inf)
        if entry.bound_type <= 0:  # -1: lower side, 0: equation, +1: upper side
            lower[row] = float(side)
        if entry.bound_type >= 0:
            upper[row] = float(side)
    rows, columns = row_of[form.A.indices], np.repeat(order, np.diff(form.A.indptr))
    kept = np.flatnonzero(rows >= 0)
    priced = order[np.repeat(np.arange(len(order)), np.diff(form.c.indptr))].tolist()
    return ModelRows(
        dict(zip(priced, form.c.data.tolist(), strict=True)),
        float(form.c_offset[0]),
        constraints,
        lower,
        upper,
        rows[kept].tolist(),
        columns[kept].tolist(),
        form.A.data[kept].tolist(),
    )

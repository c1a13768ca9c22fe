"""Export a restricted master as a Pyomo model, for printing or another solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import pyomo.environ as pyo

from colgen.core.columns import Key
from colgen.core.sense import Sense
from colgen.master.column_table import ColumnTable
from colgen.master.protocol import MasterSolution
from colgen.master.tableau import Tableau


def to_pyomo(tableau: Tableau, solved: MasterSolution | None) -> pyo.ConcreteModel:
    """Return the restricted master as a Pyomo model; see :meth:`LinearMaster.to_pyomo`."""
    model = pyo.ConcreteModel(name="restricted master")
    table, rows, _, present = tableau
    variables: list[Any] = [None] * len(table)
    by_block: dict[str, list[tuple[Hashable, int]]] = {}
    for position, (block, index) in enumerate(_names(table)):
        by_block.setdefault(block, []).append((index, position))
    for block, members in by_block.items():
        scalar = len(members) == 1 and members[0][0] is None
        # Any: a set of the indices would flatten nested tuples and require equal lengths.
        component = pyo.Var() if scalar else pyo.Var(pyo.Any, dense=False)
        model.add_component(block, component)
        for index, position in members:
            variable = variables[position] = component if scalar else component[index]
            low, high = table.lower_now[position], table.upper_now[position]
            variable.domain = pyo.Integers if table.integer[position] else pyo.Reals
            variable.setlb(None if math.isinf(low) else float(low))
            variable.setub(None if math.isinf(high) else float(high))
            if solved is not None:
                variable.set_value(float(solved.values[position]), skip_validation=True)
    terms: list[list[Any]] = [[] for _ in range(len(rows))]
    for column, row, value in zip(*table.entry_lists(), strict=True):
        terms[row].append(value * variables[column])
    rows_by_block: dict[str, list[tuple[Hashable, int]]] = {}
    for position, (block, index) in enumerate(rows.names.keys):
        rows_by_block.setdefault(block, []).append((index, position))
    duals = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    if solved is not None or not table.integer.any():  # integer programs have no dual values
        name = _unused_name("dual", "_values", lambda name: name in by_block or name in rows_by_block)
        model.add_component(name, duals)
    for block, members in rows_by_block.items():
        name = _unused_name(block, "_row", lambda name: model.component(name) is not None)
        constraint = pyo.Constraint(pyo.Any)
        model.add_component(name, constraint)
        for index, position in members:
            low, high = rows.lower[position], rows.upper[position]
            if not terms[position] or (math.isinf(low) and math.isinf(high)):
                continue  # Pyomo rejects rows without variables or sides, which restrict nothing
            body = pyo.quicksum(terms[position])
            if low == high:
                constraint[index] = body == float(low)
            else:
                constraint[index] = (
                    None if math.isinf(low) else float(low),
                    body,
                    None if math.isinf(high) else float(high),
                )
            if solved is not None:
                duals[constraint[index]] = float(solved.duals.values[position])
    costs = present.costs
    objective = pyo.quicksum(float(c) * v for c, v in zip(costs, variables, strict=True) if c)
    sense = pyo.minimize if present.sense is Sense.MINIMIZE else pyo.maximize
    name = _unused_name("objective", "_of_master", lambda name: model.component(name) is not None)
    model.add_component(name, pyo.Objective(expr=objective + present.constant, sense=sense))
    return model


def _names(table: ColumnTable) -> list[Key]:
    """Return a name for every column.  Unnamed ones get numbers in a block of their own."""
    keys = table.keys()
    unnamed = [k for k, key in enumerate(keys) if table.position.get(key) != k]
    taken = {key[0] for k, key in enumerate(keys) if table.position.get(key) == k}
    for k in unnamed:
        block, number = keys[k]
        keys[k] = (_unused_name(block, "_unnamed", taken.__contains__), number)
    return keys


def _unused_name(name: str, ending: str, taken: Callable[[str], bool]) -> str:
    """Append the ending until the name is unused."""
    while taken(name):
        name += ending
    return name

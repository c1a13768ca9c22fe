"""A compact Pyomo model as arrays, with its variables and constraints."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.errors import FormulationError, InputError
from colgen.core.tolerances import ROUNDING
from colgen.model.rows import Rows, compile_model, free_variables
from colgen.solvers.linear.scaling import column_units

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Reading:
    """The arrays of a linear mixed-integer model.

    Attributes
    ----------
    variables
        The variable of each column; fixed variables are constants.
    units
        Unit of each column, by which its values are multiplied for the user; None: all are 1.
    """

    model: pyo.ConcreteModel
    formulation: Rows
    variables: tuple[Any, ...]
    units: Floats | None = None

    def scaled(self) -> Reading:
        """Return the model with columns in units of similar size; itself if they have these already."""
        f = self.formulation
        units = column_units(f.matrix, f.lower, f.upper, f.row_lower, f.row_upper, f.integer)
        if (units == 1.0).all():
            return self
        matrix = sparse.csc_array(f.matrix)
        entries = (matrix.data * np.repeat(units, np.diff(matrix.indptr)), matrix.indices, matrix.indptr)
        scaled = sparse.csc_array(entries, shape=matrix.shape)
        counted = Rows.of_arrays(
            f.sense,
            scaled,
            columns=(f.column_keys, f.costs * units, f.lower / units, f.upper / units),
            rows=(f.row_keys, f.row_lower, f.row_upper),
            integer=f.integer,
            artificial=f.artificial,
            exchange=f.exchange,
            offset=f.offset,
        )
        return dataclasses.replace(self, formulation=counted, units=units)

    def to_user(self, values: Floats) -> Floats:
        """Return column values in the units of the user's model."""
        return values if self.units is None else values * self.units

    def from_user(self, values: Floats) -> Floats:
        """Return values of the user's model in the units of the columns."""
        return values if self.units is None else values / self.units

    @cached_property
    def rows(self) -> sparse.csr_array:
        """The matrix in row format."""
        return sparse.csr_array(self.formulation.matrix)

    @cached_property
    def constraints(self) -> tuple[Any, ...]:
        """The constraint of each row."""
        known: dict[str, Any] = {}
        found = []
        for name, index in self.formulation.row_keys:
            if name not in known:
                known[name] = self.model.find_component(name)
            component = known[name]
            found.append(component[index] if component.is_indexed() else component)
        return tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def place_of_name(self) -> dict[str, int]:
        """Column of each variable, by name."""
        return {name: k for k, name in enumerate(self.names)}


def read(model: Any) -> Reading:
    """Return the arrays of a model; raise InputError if it is not concrete, not linear, or has no variables."""
    if not isinstance(model, pyo.ConcreteModel):
        raise InputError(f"expected a pyomo ConcreteModel to decompose, not {type(model).__name__}")
    try:
        formulation = compile_model(model)
    except FormulationError as error:
        raise InputError(f"to decompose a model it must be linear with one objective: {error}") from None
    variables = tuple(free_variables(model)[2])
    if not variables:
        raise InputError("the model has no variables that are not fixed, expected at least one to decompose")
    for array, what in ((formulation.matrix.data, "coefficient"), (formulation.costs, "cost")):
        if not np.isfinite(array).all():
            raise InputError(f"the model has a {what} that is not finite, expected finite numbers to decompose it")
    for k in np.flatnonzero(formulation.lower > formulation.upper).tolist():
        low, high = variables[k].bounds  # with integers, bounds may only exclude all integers: the model is infeasible
        if low > high:
            raise InputError(f"variable {variables[k].name!r} has lower bound {low:g} above upper bound {high:g}")
    return Reading(model, formulation, variables)


def cost_rounding(
    costs: Floats, matrix: sparse.sparray, lower: Floats, upper: Floats, row_lower: Floats, row_upper: Floats
) -> float:
    """Return the rounding error of the cost of a point, as far as bounds and rows limit its values."""
    entries = sparse.coo_array(matrix)
    sides = np.where(np.isfinite(row_lower), np.abs(row_lower), 0.0)
    sides = np.maximum(sides, np.where(np.isfinite(row_upper), np.abs(row_upper), 0.0))
    there = entries.data != 0.0
    rows, columns, data = entries.coords[0][there], entries.coords[1][there], entries.data[there]
    by_rows = np.ones(len(costs))
    np.maximum.at(by_rows, columns, sides[rows] / np.abs(data))
    by_bounds = np.maximum(np.abs(lower), np.abs(upper))
    values = np.where(np.isfinite(by_bounds), by_bounds, by_rows)
    return _TERMS * ROUNDING * float(np.abs(costs) @ values)


def without_rounding(total: float, size: float) -> float:
    """Return a sum, or zero if it is within the rounding error of terms of this size; 1e-18 would set a wrong scale."""
    return 0.0 if abs(total) <= _TERMS * ROUNDING * size else total


_TERMS = 16
"""Factor on the rounding error of a sum, as several places compute such sums in different orders."""

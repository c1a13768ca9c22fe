"""Models of other modelling layers, linopy and gurobipy, as arrays with names; neither library is imported."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import sparse

from colgen.solvers.linear.named import ModelError, NamedProgram, unique
from colgen.solvers.linear.program import Program


def linopy_program(model: Any) -> NamedProgram:
    """Return a ``linopy.Model`` as arrays, without the scaling factors of its variables and objective.

    Raises
    ------
    ModelError
        If it has quadratic terms, semicontinuous variables, special ordered sets or indicator constraints.
    """
    _expect(model, "linopy")
    m = model.matrices
    columns = unique("variables", _labelled(model.variables, m.vlabels))
    rows = unique("constraints", _labelled(model.constraints, m.clabels))
    refused = {
        "quadratic terms in its objective": m.Q is not None and m.Q.nnz,
        "special ordered sets": len(getattr(model.variables, "sos", ())),
        "indicator constraints": len(getattr(model, "indicator_constraints", ())),
    }
    _refuse(refused, columns, m.vtypes)
    units = np.ones(len(columns)) * getattr(m, "var_scaling", 1.0)
    matrix = sparse.csc_array((len(rows), len(columns))) if m.A is None else sparse.csc_array(m.A)
    program = Program(
        model.objective.sense == "max",
        sparse.csc_array(matrix @ sparse.diags_array(units)),
        m.c * units / getattr(model.objective, "scaling", 1.0),
        np.asarray(m.lb / units, dtype=np.float64),
        np.asarray(m.ub / units, dtype=np.float64),
        np.where(m.sense == "<", -np.inf, m.b),
        np.where(m.sense == ">", np.inf, m.b),
    )
    return NamedProgram(program, np.isin(m.vtypes, ["B", "I"]), columns, rows)


def gurobi_program(model: Any) -> NamedProgram:
    """Return a ``gurobipy.Model`` with its pending changes as arrays.

    Raises
    ------
    ModelError
        If it has quadratic or piecewise-linear terms, several objectives or scenarios, semicontinuous variables,
        special ordered sets, or indicator and other general constraints.
    """
    _expect(model, "gurobipy")
    model.update()
    columns = unique("variables", model.getAttr("VarName", model.getVars()))
    rows = unique("constraints", model.getAttr("ConstrName", model.getConstrs()))
    refused = {
        "quadratic terms in its objective": model.NumQNZs,
        "quadratic constraints": model.NumQConstrs,
        "special ordered sets": model.NumSOS,
        "indicator or other general constraints": model.NumGenConstrs,
        "piecewise-linear terms in its objective": model.NumPWLObjVars,
        "several objectives": model.NumObj > 1,
        "several scenarios": model.NumScenarios,
    }
    kinds, senses = (np.array(model.getAttr(name), dtype="U1") for name in ("VType", "Sense"))
    _refuse(refused, columns, kinds)
    costs, lower, upper, sides = (np.array(model.getAttr(name), dtype=float) for name in ("Obj", "LB", "UB", "RHS"))
    lower[lower <= -_INFINITE], upper[upper >= _INFINITE] = -np.inf, np.inf
    program = Program(
        model.ModelSense < 0,
        sparse.csc_array(model.getA()),
        costs,
        lower,
        upper,
        np.where(senses == "<", -np.inf, sides),
        np.where(senses == ">", np.inf, sides),
        float(model.ObjCon),
    )
    return NamedProgram(program, np.isin(kinds, ["B", "I"]), columns, rows)


_INFINITE = 1e20
"""Gurobi's documentation: bounds from here on are infinite."""


def _expect(model: Any, library: str) -> None:
    if not any(kind.__name__ == "Model" and kind.__module__.split(".")[0] == library for kind in type(model).__mro__):
        raise ModelError(f"expected a {library}.Model, not {type(model).__name__}")


def _refuse(parts: dict[str, Any], columns: tuple[str, ...], kinds: Any) -> None:
    """Raise ModelError for parts that are present, and for variables that are neither continuous nor integer."""
    for part, present in parts.items():
        if present:
            raise ModelError(f"the model has {part}, expected a linear model with mixed integers")
    other = np.flatnonzero(~np.isin(kinds, ["C", "B", "I"]))
    if len(other):
        raise ModelError(
            f"variable {columns[other[0]]!r} is semicontinuous or semi-integer, "
            "expected continuous or integer variables"
        )


def _labelled(container: Any, labels: Any) -> list[str]:
    """Return names such as ``x[a,3]`` of linopy's variables or constraints, in the order of these labels."""
    names = {}
    for name, each in container.items():
        array = each.labels
        keys = itertools.product(*(array.get_index(dimension) for dimension in array.dims))
        for label, key in zip(array.values.ravel().tolist(), keys, strict=True):
            names[label] = f"{name}[{','.join(map(str, key))}]" if key else name
    return [names[label] for label in labels.tolist()]

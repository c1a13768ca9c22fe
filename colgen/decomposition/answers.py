"""Answers in the variables of a compact model: checks, and loading into the model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.staleflag import StaleFlagManager

from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.files import write_text
from colgen.core.result import Certificate, Result
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.reading.compact_model import CompactModel, Floats, Ints, PyomoSource
from colgen.model.rows import Rows
from colgen.solvers.arrays import EXACT

_SCALES = (1.0, 10.0, 100.0, 1_000.0, 10_000.0)
"""Factors that make decimals integers; numbers with more decimals are treated as unrounded."""


class Values(Mapping[str, float]):
    """Values of a model's variables by name, including zeros.

    ``array`` has the values in the order of declaration, without fixed variables.  ``kept`` has the indices of the
    constraints that stay in the master.
    """

    def __init__(self, compact: CompactModel, array: Floats, kept: Ints) -> None:
        self.compact, self.array, self.kept = compact, array, kept
        array.setflags(write=False)

    def __getitem__(self, name: str) -> float:
        names = self.compact.place_of_name
        return float(self.array[names[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.compact.names)

    def __len__(self) -> int:
        return len(self.array)

    @property
    def used(self) -> dict[str, float]:
        """The nonzero values by name."""
        return {name: value for name, value in self.items() if value}

    def __repr__(self) -> str:
        return f"Values({self.used})"

    def write(self, path: Path | str) -> None:
        """Write objective and values to a file in MIPLIB's format ``.sol``, which HiGHS, SCIP and Gurobi read.

        Raises
        ------
        InputError
            If the name of a variable has blanks, which such a file cannot hold.
        """
        for name in self:
            if name.split() != [name]:
                raise InputError(f"{path}: a .sol file cannot hold names with blanks, such as {name!r}")
        objective = _objective(self.compact.formulation, self.array)
        values = [f"{name} {_decimal(value)}\n" for name, value in self.items()]
        write_text(path, "".join([f"=obj= {_decimal(objective)}\n", *values]))


def _decimal(value: float) -> str:
    """Return the shortest text from which the same number is read."""
    return repr(float(value)).removesuffix(".0")


def recompute_objective(compact: CompactModel, answer: Values) -> float:
    """Return the objective, after checking bounds, integrality and all constraints of the model.

    Raise InfeasibleAnswerError with the name of the violated variable or constraint.
    """
    f, x = compact.formulation, np.asarray(answer.array)
    low, high = np.where(np.isfinite(f.lower), f.lower, 0.0), np.where(np.isfinite(f.upper), f.upper, 0.0)
    slack = TOLERANCES.feasibility * np.maximum(np.maximum(np.abs(low), np.abs(high)), np.abs(x))
    bad = np.flatnonzero((x < f.lower - slack) | (x > f.upper + slack))
    if len(bad):
        k = int(bad[0])
        raise InfeasibleAnswerError(
            f"variable {compact.names[k]!r} is {x[k]:.10g}, expected {f.lower[k]:g} to {f.upper[k]:g}"
        )
    bad = np.flatnonzero(f.integer & (x != np.round(x)))
    if len(bad):
        raise InfeasibleAnswerError(f"variable {compact.names[bad[0]]!r} is {x[bad[0]]:.10g}, expected an integer")
    rows = compact.rows
    activity, terms = rows @ x, np.zeros(rows.shape[0])
    if rows.nnz:  # the size of a row is its largest coefficient, side or term
        entries = abs(rows)
        terms = entries.max(axis=1).toarray().ravel()
        terms = np.maximum(terms, entries.multiply(np.abs(x)[None, :]).max(axis=1).toarray().ravel())
    for sides in (f.row_lower, f.row_upper):
        terms = np.maximum(terms, np.where(np.isfinite(sides), np.abs(sides), 0.0))
    slack = TOLERANCES.feasibility * terms
    bad = np.flatnonzero((activity < f.row_lower - slack) | (activity > f.row_upper + slack))
    if len(bad):
        r = int(bad[0])
        raise InfeasibleAnswerError(
            f"constraint {compact.constraint_name(r)!r} has the body {activity[r]:.10g}, expected "
            f"{f.row_lower[r]:.10g} to {f.row_upper[r]:.10g}"
        )
    return _objective(f, x)


def require_sum(name: str, values: Floats, flow: Floats) -> None:
    """Raise InfeasibleAnswerError unless the variables of arcs are the sum of the paths, ``flow``, of a block."""
    if (np.abs(flow - values) > TOLERANCES.feasibility * np.maximum(1.0, np.abs(flow))).any():
        raise InfeasibleAnswerError(f"{name}: the variables of arcs are not the sum of the paths")


def _objective(f: Rows, x: Floats) -> float:
    return math.fsum((f.costs * x).tolist()) + f.offset


def load_values(source: PyomoSource, answer: Any) -> None:
    """Load an answer into the model's variables, if there is one."""
    if isinstance(answer, Values):
        integral = answer.compact.formulation.integer.tolist()
        StaleFlagManager.mark_all_as_stale()  # variables without a value in the answer become stale
        for variable, value, integer in zip(source.variables, answer.array.tolist(), integral, strict=True):
            variable.set_value(round(value) if integer else value, skip_validation=True)
        StaleFlagManager.mark_all_as_stale(delayed=True)


def duals_of(source: PyomoSource, kept: Ints, certificate: Certificate | None) -> Iterator[tuple[Any, float]]:
    """Yield the constraints that stay in the master with their dual values at the root."""
    if certificate is None:
        return
    for row in kept.tolist():
        yield source.constraints[row], certificate.duals.get(source.row_keys[row], 0.0)


def load(compact: CompactModel, result: Result, kept: Ints) -> None:
    """Load an answer into the Pyomo model, if it is one, and dual values into its suffix ``dual``, if any.

    Dual values of an earlier run are removed.
    """
    source = compact.source
    if not isinstance(source, PyomoSource):
        return
    load_values(source, result.answer)
    suffix = source.model.component("dual")
    if suffix is None or suffix.ctype is not pyo.Suffix or not suffix.import_enabled():
        return
    suffix.clear()
    if result.solution is not None:
        for constraint, dual in duals_of(source, kept, result.certificate):
            suffix[constraint] = dual


def to_pyomo(result: Result) -> pyo.ConcreteModel:
    """Return the model of a result with answer and dual values loaded; see :meth:`colgen.Result.to_pyomo`."""
    answer = result.answer
    if answer is None:
        raise InputError(f"to_pyomo: the result has no answer: {result.termination.value}")
    if not isinstance(answer, Values) or not isinstance(answer.compact.source, PyomoSource):
        raise InputError("to_pyomo: expected the result of a problem made by colgen.decompose from a Pyomo model")
    model = answer.compact.source.model
    suffix = model.component("dual")
    if suffix is None:
        model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    elif suffix.ctype is not pyo.Suffix:
        raise InputError("to_pyomo: the model's component 'dual' is not a suffix; rename it")
    load(answer.compact, result, answer.kept)
    return model


def objective_step(f: Rows) -> float | None:
    """Return a divisor of all objective values if costs have few decimals and their variables are integer, or None."""
    used = f.costs != 0.0
    costs = np.append(f.costs[used], f.offset)
    return step_of(costs) if f.integer[used].all() else None


def step_of(numbers: Floats) -> float | None:
    """Return the greatest common divisor of numbers with few decimals; None for others, and if all are 0."""
    for scale in _SCALES:
        scaled = np.rint(numbers * scale)
        if (scaled / scale == numbers).all():
            exact = np.abs(scaled).sum() < EXACT
            return float(math.gcd(*map(int, scaled.tolist())) / scale) or None if exact else None
    return None

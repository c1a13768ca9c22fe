"""Mixed-integer programs with names: from files in MPS or LP format, and from models of HiGHS."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colgen.solvers.linear.program import Program


class ModelError(ValueError):
    """A model that is not a mixed-integer linear program, or that HiGHS reads with a warning."""


class NamedProgram(NamedTuple):
    """A program, which columns are integer, and the names of columns and rows."""

    program: Program
    integer: NDArray[np.bool_]
    columns: tuple[str, ...]
    rows: tuple[str, ...]


def read_program(path: Path) -> NamedProgram:
    """Read a file in MPS or LP format, which its ending states; raise ModelError with HiGHS's first message."""
    model = highspy.Highs()
    model.setOptionValue("log_to_console", False)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        model.setOptionValue("log_file", str(log))
        status = model.readModel(str(path))
        model.setOptionValue("log_file", "")
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    if status != highspy.HighsStatus.kOk:
        said = [line.partition(":")[2].strip() for line in lines if line.startswith(("WARNING:", "ERROR:"))]
        reason = " ".join((said[0] if said else "the format is not valid").split())
        raise ModelError(f"HiGHS cannot read the file without loss: {reason}")
    return named_program(model)


def named_program(model: Any) -> NamedProgram:
    """Return a ``highspy.Highs`` or ``highspy.HighsLp`` as arrays; names that are missing become ``x0`` and ``c0``.

    Raises
    ------
    ModelError
        If the objective is quadratic, a variable is semicontinuous, a name occurs twice, or there is no variable.
    """
    lp = model
    if isinstance(model, highspy.Highs):
        lp = model.getLp()
        if model.getModel().hessian_.dim_:
            raise ModelError("the objective has quadratic terms, expected a linear one")
    if not isinstance(lp, highspy.HighsLp):
        raise ModelError(f"expected a highspy.Highs or highspy.HighsLp, not {type(model).__name__}")
    width, height = lp.num_col_, lp.num_row_
    if not width:  # HiGHS reads any text without sections as an empty LP file
        raise ModelError("the model has no variables, expected at least one")
    columns = unique("variables", lp.col_names_ or [f"x{k}" for k in range(width)])
    rows = unique("constraints", lp.row_names_ or [f"c{k}" for k in range(height)])
    kinds = np.array([kind.value for kind in lp.integrality_] or [0] * width, dtype=np.int64)
    integer = kinds == highspy.HighsVarType.kInteger.value
    other = np.flatnonzero(~integer & (kinds != highspy.HighsVarType.kContinuous.value))
    if len(other):
        raise ModelError(f"variable {columns[other[0]]!r} is semicontinuous, expected continuous or integer variables")
    a = lp.a_matrix_
    parts = (np.array(a.value_), np.array(a.index_, dtype=np.int64), np.array(a.start_, dtype=np.int64))
    kind = sparse.csc_array if a.format_ == highspy.MatrixFormat.kColwise else sparse.csr_array
    program = Program(
        lp.sense_ == highspy.ObjSense.kMaximize,
        sparse.csc_array(kind(parts, shape=(height, width))),
        np.array(lp.col_cost_, dtype=np.float64),
        np.array(lp.col_lower_, dtype=np.float64),
        np.array(lp.col_upper_, dtype=np.float64),
        np.array(lp.row_lower_, dtype=np.float64),
        np.array(lp.row_upper_, dtype=np.float64),
        float(lp.offset_),
    )
    return NamedProgram(program, integer, columns, rows)


def unique(what: str, names: list[str]) -> tuple[str, ...]:
    """Return the names of ``what``; raise ModelError if one occurs twice."""
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ModelError(f"two {what} have the name {twice!r}, expected different names")
    return tuple(names)

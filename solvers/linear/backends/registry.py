"""Solvers of linear programs by name, and reasons why one is unavailable."""

from __future__ import annotations

import difflib
import functools
import importlib
from typing import Any, NamedTuple

from colgen.solvers.linear.backends.highs import HighsBackend
from colgen.solvers.linear.backends.protocol import LPBackend
from colgen.solvers.linear.highs import FEASIBILITY_TOLERANCE, SolverError
from colgen.solvers.linear.options import Options


class BackendError(ValueError):
    """The solver of linear programs is unknown or unavailable."""


class _Maker(NamedTuple):
    package: str
    module: str
    title: str


_MAKERS = {
    "clp": _Maker("cylp", "clp", "CLP"),
    "cplex": _Maker("cplex", "cplex", "CPLEX"),
    "glpk": _Maker("swiglpk", "glpk", "GLPK"),
    "gurobi": _Maker("gurobipy", "gurobi", "Gurobi"),
    "soplex": _Maker("pyscipopt", "soplex", "SoPlex"),
    "xpress": _Maker("xpress", "xpress", "Xpress"),
}

HIGHS = HighsBackend.name
"""The default, always available."""

NAMES = (HIGHS, *_MAKERS)
"""Names of all backends, installed or not."""


def check_backend(name: Any) -> str:
    """Return the name of an available backend.

    Otherwise a BackendError gives the known names, the package to install, or the licence error.
    """
    if not isinstance(name, str):
        raise BackendError(f"expected the name of a solver of linear programs, such as 'gurobi', got {name!r}")
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else f"; expected one of {', '.join(NAMES)}"
        raise BackendError(f"unknown solver of linear programs {name!r}{meant}")
    refused = _refusal(name)
    if refused is not None:
        raise BackendError(refused)
    return name


def new_backend(name: str, tolerance: float, options: Options) -> LPBackend:
    """Return a backend without a program; ``options`` apply to HiGHS."""
    if name == HIGHS:
        return HighsBackend(tolerance, options)
    made: LPBackend = _class(name)(tolerance)
    return made


def _class(name: str) -> Any:
    maker = _MAKERS[name]
    module = importlib.import_module(f"colgen.solvers.linear.backends.{maker.module}")
    return getattr(module, f"{maker.title}Backend")


@functools.cache
def _refusal(name: str) -> str | None:
    """Return why a backend is unavailable, or None."""
    if name == HIGHS:
        return None
    package, _, title = _MAKERS[name]
    try:
        new_backend(name, FEASIBILITY_TOLERANCE, {})
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] != package:
            return f"{title} cannot be loaded: {' '.join(str(error).split())}"
        return f"{title} is not installed: pip install colgen[{name}]"
    except SolverError as error:
        return str(error)
    return None

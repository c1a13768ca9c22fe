"""Solvers of linear programs by name: which there are, and why one cannot be had."""

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
    """There is no such solver of linear programs, or it cannot be had here."""


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
"""The default, which is always there."""

NAMES = (HIGHS, *_MAKERS)
"""Of all backends, whether they are installed or not."""


def check_backend(name: Any) -> str:
    """The name of a backend that can be had here.

    Raises
    ------
    BackendError
        In one sentence: which names there are, what to install, or what its licence says.
    """
    if not isinstance(name, str):
        raise BackendError(f"expected the name of a solver of linear programs, such as 'gurobi', not {name!r}")
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1)
        meant = f"; did you mean {near[0]!r}?" if near else f": there are {', '.join(NAMES)}"
        raise BackendError(f"no solver of linear programs is called {name!r}{meant}")
    refused = _refusal(name)
    if refused is not None:
        raise BackendError(refused)
    return name


def new_backend(name: str, tolerance: float, options: Options) -> LPBackend:
    """A backend that holds no program yet; ``options`` are those of HiGHS."""
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
    """Why a backend cannot be had; None if it can."""
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

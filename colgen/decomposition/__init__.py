"""Dantzig-Wolfe and Benders decomposition of compact Pyomo models: blocks become pricing problems or second stages.

Importing this package registers ``pyo.SolverFactory("colgen")``, as importing colgen after Pyomo does.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyomo.opt import SolverFactory


@SolverFactory.register("colgen", doc="Branch and price over the blocks of a model")  # type: ignore[untyped-decorator]
def _solver(**options: Any) -> Any:
    """Return the solver; it is imported on first use."""
    return import_module("colgen.decomposition.pyomo_solver").PyomoSolver(**options)

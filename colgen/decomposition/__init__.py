"""From a compact Pyomo model to branch and price: blocks become pricing problems (Dantzig and Wolfe, 1960).

Importing this room makes ``pyo.SolverFactory("colgen")`` known, as importing colgen does after Pyomo.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyomo.opt import SolverFactory


@SolverFactory.register("colgen", doc="Branch and price over the blocks of a model")  # type: ignore[untyped-decorator]
def _solver(**options: Any) -> Any:
    """The solver, imported when somebody asks for one."""
    return import_module("colgen.decomposition.pyomo_solver").PyomoSolver(**options)

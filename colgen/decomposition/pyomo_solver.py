"""``SolverFactory("colgen")``: a Pyomo model with blocks, solved by branch and price in place."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pyomo.environ as pyo
from pyomo.common.collections import Bunch
from pyomo.opt import SolverResults, SolverStatus, TerminationCondition

from colgen.core.domains import real
from colgen.core.errors import InputError
from colgen.core.result import Result, Termination
from colgen.core.sense import Sense
from colgen.core.stop import GapLimit, StopRule, TimeLimit
from colgen.decomposition.decomposed import decompose
from colgen.solving import solve

_CONDITIONS = {
    Termination.OPTIMAL: TerminationCondition.optimal,
    Termination.INFEASIBLE: TerminationCondition.infeasible,
    Termination.UNBOUNDED: TerminationCondition.unbounded,
    Termination.GAP_LIMIT: TerminationCondition.optimal,
    Termination.TIME_LIMIT: TerminationCondition.maxTimeLimit,
    Termination.INTERRUPTED: TerminationCondition.userInterrupt,
}

_OPTIONS = ("by", "method", "aggregate", "recognize", "time_limit", "mipgap")


class PyomoSolver:
    """Branch and price under Pyomo's interface of solvers.

    ``options`` are ``by``, ``method``, ``aggregate`` and ``recognize`` as in :func:`colgen.decompose`, ``time_limit``,
    in seconds, and ``mipgap``, a relative gap.  Without ``by`` the blocks are those of the suffix ``colgen_block``, of
    ``pyo.Block`` components, or those that :func:`colgen.find_blocks` finds.
    """

    def __init__(self, options: Mapping[str, Any] | None = None, **more: Any) -> None:
        self.options = Bunch(**{**(options or {}), **{key: value for key, value in more.items() if key in _OPTIONS}})

    def available(self, exception_flag: bool = False) -> bool:
        """Always."""
        return True

    def license_is_valid(self) -> bool:
        """Always: it needs none."""
        return True

    def version(self) -> tuple[int, ...]:
        """Of colgen."""
        try:
            said = version("colgen")
        except PackageNotFoundError:  # a checkout on the path that was never installed
            said = "0"
        return tuple(int(part) for part in said.split(".") if part.isdigit())

    def __enter__(self) -> PyomoSolver:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def solve(
        self,
        model: pyo.ConcreteModel,
        *,
        tee: bool = False,
        timelimit: float | None = None,
        options: Mapping[str, Any] | None = None,
        load_solutions: bool = True,
    ) -> SolverResults:
        """Solve a model; values and, where it has a suffix ``dual``, dual values are loaded into it.

        Parameters
        ----------
        tee
            Whether rounds are shown as they come.
        timelimit
            In seconds.
        options
            In addition to those of the solver.
        load_solutions
            As other solvers of Pyomo have it; only True is possible.

        Raises
        ------
        InputError
            If the model cannot be decomposed, or an option is none.
        """
        if not load_solutions:
            raise InputError("load_solutions: expected True, values are loaded as soon as they are checked")
        told = {**self.options, **(options or {})}
        unknown = [name for name in told if name not in _OPTIONS]
        if unknown:
            raise InputError(f"options: expected {', '.join(_OPTIONS)}, not {unknown[0]!r}")
        stop: list[StopRule] = []
        limit = timelimit if timelimit is not None else told.get("time_limit")
        if limit is not None:
            stop.append(TimeLimit(real(limit, "timelimit")))
        if told.get("mipgap") is not None:
            stop.append(GapLimit(real(told["mipgap"], "mipgap")))
        chosen = {name: told[name] for name in ("method", "aggregate", "recognize") if name in told}
        result = solve(decompose(model, told.get("by"), **chosen), stop=stop, progress=tee)
        return _as_results(model, result)


def _as_results(model: pyo.ConcreteModel, result: Result) -> SolverResults:
    """A result in Pyomo's words."""
    found = SolverResults()
    condition = _CONDITIONS.get(result.termination, TerminationCondition.other)
    found.solver.name = "colgen"
    found.solver.termination_condition = condition
    found.solver.status = SolverStatus.ok if result.termination.is_proof else SolverStatus.aborted
    if result.termination is Termination.GAP_LIMIT:
        found.solver.status = SolverStatus.ok
    found.solver.message = str(result)
    found.solver.time = result.seconds.get("total", 0.0)
    found.problem.name = model.name
    lower, upper = result.dual_bound, result.objective
    found.problem.sense = pyo.minimize
    if result.sense is Sense.MAXIMIZE:
        lower, upper, found.problem.sense = upper, lower, pyo.maximize
    found.problem.lower_bound, found.problem.upper_bound = lower, upper
    return found

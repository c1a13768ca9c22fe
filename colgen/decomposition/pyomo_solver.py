"""``SolverFactory("colgen")``: solves a Pyomo model with blocks in place."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, cast

import numpy as np
import pyomo.environ as pyo
from pyomo.common.collections import Bunch
from pyomo.core.base.symbol_map import SymbolMap
from pyomo.opt import Solution as PyomoSolution
from pyomo.opt import SolverResults, SolverStatus, TerminationCondition

from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.numbers import real
from colgen.core.result import Result, Termination
from colgen.core.sense import Sense
from colgen.core.stop import GapLimit, StopRule, TimeLimit
from colgen.core.text import meant
from colgen.core.warm_start import WarmStart
from colgen.decomposition.answers import Values, duals_of, recompute_objective
from colgen.decomposition.benders.template import Benders
from colgen.decomposition.decomposed import Decomposed
from colgen.decomposition.decomposing import decompose
from colgen.decomposition.reading.compact_model import PyomoSource
from colgen.solving import solve

_CONDITIONS = {
    Termination.OPTIMAL: TerminationCondition.optimal,
    Termination.INFEASIBLE: TerminationCondition.infeasible,
    Termination.UNBOUNDED: TerminationCondition.unbounded,
    Termination.UNBOUNDED_OR_INFEASIBLE: TerminationCondition.infeasibleOrUnbounded,
    Termination.GAP_LIMIT: TerminationCondition.optimal,
    Termination.TIME_LIMIT: TerminationCondition.maxTimeLimit,
    Termination.INTERRUPTED: TerminationCondition.userInterrupt,
    Termination.TERMINATED: TerminationCondition.userInterrupt,
}

_OPTIONS = ("by", "method", "aggregate", "recognize", "time_limit", "mipgap")

_SUFFIXES = ("dual",)
"""Suffixes that can be imported into a model."""


class PyomoSolver:
    """Branch and price with the interface of a Pyomo solver.

    ``options`` are ``by``, ``method``, ``aggregate`` and ``recognize`` of :func:`colgen.decompose`, ``time_limit`` in
    seconds, and ``mipgap``, a relative gap.  Without ``by`` the blocks are those of the suffix ``colgen_block``, of
    ``pyo.Block`` components, or those found by :func:`colgen.decomposition.detection.find_blocks`.

    Parameters
    ----------
    options, more
        Options, as a mapping or by name.
    solver_io
        None or ``"python"``, as no files are written.
    """

    name = "colgen"

    def __init__(self, options: Mapping[str, Any] | None = None, *, solver_io: str | None = None, **more: Any) -> None:
        self._options = Bunch()
        self._refused: InputError | None = None
        try:
            if solver_io not in (None, "python"):
                raise InputError(f"solver_io: expected None or 'python', as no files are written, not {solver_io!r}")
            self._options = Bunch(**_check_names({**(options or {}), **more}))
        except InputError as error:
            self._refused = error

    @property
    def options(self) -> Bunch:
        """The options; raises InputError if the constructor received invalid ones.

        Pyomo's factory turns errors of a constructor into a warning and a solver that does nothing, so the error is
        deferred until the solver is used.
        """
        if self._refused is not None:
            raise self._refused
        return self._options

    @options.setter
    def options(self, options: Mapping[str, Any]) -> None:
        self._options = Bunch(**_check_names(options))

    def available(self, exception_flag: bool = False) -> bool:
        """Return True."""
        return True

    def license_is_valid(self) -> bool:
        """Return True, as no license is needed."""
        return True

    def version(self) -> tuple[int, ...]:
        """Return the version of colgen."""
        try:
            said = version("colgen")
        except PackageNotFoundError:  # a source checkout that is not installed
            said = "0"
        return tuple(int(part) for part in said.split(".") if part.isdigit())

    def warm_start_capable(self) -> bool:
        """Return True: ``solve`` accepts ``warmstart=True``."""
        return True

    def has_capability(self, capability: str) -> bool:
        """Return whether models may have a feature: ``linear`` or ``integer``."""
        return capability in ("linear", "integer")

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
        warmstart: bool = False,
        suffixes: Sequence[str] = (),
        report_timing: bool = False,
        keepfiles: bool = False,
        symbolic_solver_labels: bool = False,
        **unknown: Any,
    ) -> SolverResults:
        """Solve a model and load the values, and dual values if it has a suffix ``dual``.

        Parameters
        ----------
        tee
            Whether to print each round.
        timelimit
            In seconds.
        options
            Options in addition to the solver's.
        load_solutions
            If False the model is not changed; ``model.solutions.load_from(results)`` loads the answer later.
        warmstart
            Whether to start from the values of the model's variables, if all have one and satisfy the constraints.
        suffixes
            Suffixes to import; only ``dual``, for the linking constraints.
        report_timing
            Whether to print seconds.
        keepfiles, symbolic_solver_labels
            Ignored; accepted for compatibility with other Pyomo solvers.

        Raises
        ------
        InputError
            If the model cannot be decomposed, or an option or argument is unknown.
        """
        if unknown:
            raise InputError(f"solve: unknown argument {next(iter(unknown))!r}; pass options as options={{...}}")
        for name in [suffixes] if isinstance(suffixes, str) else suffixes:
            if name not in _SUFFIXES:
                raise InputError(f"suffixes: expected {', '.join(_SUFFIXES)}, not {name!r}")
        chosen_options = {**self.options, **_check_names(options or {})}
        _check_names(chosen_options)  # the solver's own options may have changed since
        stop: list[StopRule] = []
        limit = timelimit if timelimit is not None else chosen_options.get("time_limit")
        if limit is not None:
            stop.append(TimeLimit(real(limit, "timelimit")))
        if chosen_options.get("mipgap") is not None:
            stop.append(GapLimit(real(chosen_options["mipgap"], "mipgap")))
        chosen = {name: chosen_options[name] for name in ("method", "aggregate", "recognize") if name in chosen_options}
        begun = time.monotonic()
        problem = decompose(model, chosen_options.get("by"), **chosen)
        source = cast(PyomoSource, problem.compact.source)
        problem.loads = load_solutions
        taken = time.monotonic() - begun
        result = solve(problem, stop=stop, progress=tee, start=_values_of(problem, source) if warmstart else None)
        if report_timing:
            print(f"      {taken:6.2f} seconds required for presolve")
            print(f"      {result.seconds.get('total', 0.0):6.2f} seconds required for solver")
        found = _as_results(model, problem, result)
        if not load_solutions:
            _add_solution(found, source, result)
        return found


def _check_names(options: Mapping[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            raise InputError(f"options: expected {', '.join(_OPTIONS)}, not {name!r}{meant(str(name), _OPTIONS)}")
    return dict(options)


def _values_of(problem: Decomposed | Benders, source: PyomoSource) -> WarmStart | None:
    """Return the values of the model's variables as a warm start, or None if they are infeasible or missing."""
    compact = problem.compact
    values = [variable.value for variable in source.variables]
    if any(value is None for value in values):
        return None
    array = np.array(values, dtype=np.float64)
    if isinstance(problem, Benders):
        first, array = problem.model.first, problem.model.compact.from_user(array)
        solution = problem.model.solution(
            np.where(compact.formulation.integer[first], np.rint(array[first]), array[first])
        )
    else:
        solution = None
        with contextlib.suppress(InfeasibleAnswerError):
            objective = recompute_objective(compact, Values(compact, array.copy(), problem.splitting.linking))
            solution = problem.splitting.solution(problem.splitting.compact.from_user(array), objective)
    return None if solution is None else WarmStart(answers=[solution], tentative=True)


def _as_results(model: pyo.ConcreteModel, problem: Decomposed | Benders, result: Result) -> SolverResults:
    found = SolverResults()
    condition = _CONDITIONS.get(result.termination, TerminationCondition.other)
    found.solver.name = "colgen"
    found.solver.termination_condition = condition
    found.solver.status = SolverStatus.ok if result.termination.is_proof else SolverStatus.aborted
    if result.termination is Termination.GAP_LIMIT:
        found.solver.status = SolverStatus.ok
    found.solver.message = str(result)
    found.solver.time = result.seconds.get("total", 0.0)
    found.solver.statistics.branch_and_bound.number_of_created_subproblems = len(result.nodes)
    about, f = found.problem, problem.compact.formulation
    about.name = model.name
    lower, upper = result.dual_bound, result.objective
    about.sense = pyo.minimize
    if result.sense is Sense.MAXIMIZE:
        lower, upper, about.sense = upper, lower, pyo.maximize
    about.lower_bound, about.upper_bound = lower, upper
    binary = f.integer & (f.lower >= 0.0) & (f.upper <= 1.0)
    about.number_of_objectives = 1
    about.number_of_constraints, about.number_of_variables = problem.compact.rows.shape
    about.number_of_nonzeros = int(problem.compact.rows.nnz)
    about.number_of_binary_variables = int(binary.sum())
    about.number_of_integer_variables = int((f.integer & ~binary).sum())
    about.number_of_continuous_variables = int((~f.integer).sum())
    return found


def _add_solution(found: SolverResults, source: PyomoSource, result: Result) -> None:
    """Add the answer to the results, for ``model.solutions.load_from``."""
    answer = result.answer
    if not isinstance(answer, Values):
        return
    symbols, solution = SymbolMap(), PyomoSolution()
    integral = answer.compact.formulation.integer.tolist()
    for variable, value, integer in zip(source.variables, answer.array.tolist(), integral, strict=True):
        symbols.addSymbol(variable, variable.name)
        solution.variable[variable.name] = {"Value": round(value) if integer else value}
    for constraint in source.constraints:
        symbols.addSymbol(constraint, constraint.name)
    for constraint, dual in duals_of(source, answer.kept, result.certificate):
        solution.constraint[constraint.name] = {"Dual": dual}
    found.solution.insert(solution)
    found._smap = symbols

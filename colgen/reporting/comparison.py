"""Formulations and methods side by side: ``compare`` solves one instance by each and returns a table."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, overload

import numpy as np
import pyomo.environ as pyo

from colgen.core.decision import fractionality
from colgen.core.errors import InputError
from colgen.core.result import Result, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.stop import TimeLimit
from colgen.core.tolerances import TOLERANCES
from colgen.core.wording import number
from colgen.model.formulation import Formulation, compile_model
from colgen.problem import Problem
from colgen.reporting.tables import aligned, count, table
from colgen.solving import solve
from solvers.linear.lp import LPStatus
from solvers.linear.mip import MIPSolution, solve_mip

Way = Callable[[Any], Any]
"""From an instance to a :class:`Problem`, to a complete model (Pyomo or compiled), or to an answer."""

_SAME = TOLERANCES.optimality
"""Relative difference up to which optima are the same."""

_ROUNDING = 1e-12
"""What sums of costs leave of zero, relative to the largest of them."""

_FRACTIONAL = "The relaxation is solved; its solution is fractional, and no answer."


@dataclass(frozen=True)
class Compared:
    """One line of a comparison.

    Attributes
    ----------
    name
        Of the formulation or method.
    objective, dual_bound
        Of its answer, and its bound on all answers; infinite or NaN where there is none.
    columns, rows
        Of the last restricted master, or of the complete model; None where there is no program.
    rounds, nodes
        Of column generation, and of branch and bound; None likewise.
    seconds
        From the instance to the answer, models and compiling included.
    proof
        What is known of the answer, in words.
    sense
        Whether objectives are made small or large; None where a way does not say.
    scale
        The largest cost of a complete model, zero elsewhere: what is smaller by far is rounding.
    """

    name: str
    objective: float
    dual_bound: float
    columns: int | None
    rows: int | None
    rounds: int | None
    nodes: int | None
    seconds: float
    proof: str
    sense: Sense | None = None
    scale: float = 0.0

    @property
    def is_optimal(self) -> bool:
        """Whether the answer is proved optimal: by what solved it, or because its bound meets its objective."""
        return self.proof == Termination.OPTIMAL.value


class Comparison(Sequence[Compared]):
    """The lines of a comparison: prints as a table, shows as one in a notebook, and turns into a pandas frame.

    Attributes
    ----------
    relaxation
        Whether relaxations were compared, whose optima may well differ.
    """

    def __init__(self, lines: Iterable[Compared], *, relaxation: bool = False) -> None:
        self._lines = tuple(lines)
        self.relaxation = relaxation

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> Compared: ...

    @overload
    def __getitem__(self, index: slice) -> Comparison: ...

    def __getitem__(self, index: int | slice) -> Compared | Comparison:
        if isinstance(index, slice):
            return Comparison(self._lines[index], relaxation=self.relaxation)
        return self._lines[index]

    @property
    def agree(self) -> bool:
        """Whether no answer contradicts a proof: proved optima are the same, and none beats another way's bound."""
        proved = [line.objective for line in self if line.is_optimal]
        room = self._room()
        if proved and max(proved) - min(proved) > room:
            return False
        sense = next((line.sense for line in self if line.sense is not None), None)
        if sense is None or self.relaxation:
            return True
        answers = [line.objective for line in self if math.isfinite(line.objective) and line.proof != _FRACTIONAL]
        bounds = [line.dual_bound for line in self if math.isfinite(line.dual_bound)]
        return not any(sense.is_better(answer, bound, room) for answer in answers for bound in bounds)

    def _room(self) -> float:
        """By how much numbers of these lines may differ and still count as equal."""
        numbers = [abs(v) for line in self for v in (line.objective, line.dual_bound) if math.isfinite(v)]
        return max(_SAME * max(numbers, default=0.0), _ROUNDING * max((line.scale for line in self), default=0.0))

    def to_frame(self) -> Any:
        """As a pandas frame, indexed by name (pandas must be installed)."""
        import pandas

        rows = [{name: value for name, value in asdict(line).items() if name in _SHOWN} for line in self]
        return pandas.DataFrame(rows).set_index("name")

    def __str__(self) -> str:
        return "\n".join([aligned(_NAMES, map(_cells, self)), *self.warning()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table(_NAMES, map(_cells, self)) + "".join(f"<p>{line}</p>" for line in self.warning())

    def warning(self) -> list[str]:
        """What a reader must know before anything else, in a sentence or none."""
        return (
            [] if self.agree or self.relaxation else ["Answers and proofs differ: one formulation or proof is wrong."]
        )


def compare(
    instance: Any,
    ways: Mapping[str, Way] | Sequence[Way],
    *,
    time_limit: float = math.inf,
    relaxation: bool = False,
) -> Comparison:
    """Solve one instance in several ways.

    Parameters
    ----------
    ways
        Callables that take the instance, by name, or in a list (then named after themselves).  What one returns says
        what is done with it: a :class:`Problem` is solved by column generation; a complete model, Pyomo's or a compiled
        :class:`Formulation`, by HiGHS with presolve; a :class:`Result` is taken as it is; of anything else the
        attributes ``objective`` and, if there is one, ``dual_bound`` are read, or it is the objective itself.
    time_limit
        Seconds for each problem or model; methods that return answers keep their own limits.
    relaxation
        Compare relaxations: of problems that of the root, of models that without whole variables.  Methods that return
        answers are refused, for these have no relaxation.

    Examples
    --------
    >>> compare(instance, {"column generation": Coreference, "all pairs": full})  # doctest: +SKIP
    >>> compare(instance, {"column generation": Coreference, "all pairs": full}, relaxation=True)  # doctest: +SKIP
    """
    named = ways if isinstance(ways, Mapping) else {_name(way): way for way in ways}
    if not named:
        raise InputError("expected one way or more to solve the instance")
    if not isinstance(ways, Mapping) and len(named) < len(ways):
        raise InputError("two ways have the same name: give them as a mapping from names of their own")
    lines = (_compared(name, way, instance, time_limit, relaxation) for name, way in named.items())
    return Comparison(lines, relaxation=relaxation)


def solve_complete(
    model: pyo.ConcreteModel | Formulation, time_limit: float = math.inf, *, relaxation: bool = False
) -> MIPSolution:
    """HiGHS on a complete model, or on its relaxation: presolve on, one thread, to a gap of zero."""
    f = model if isinstance(model, Formulation) else compile_model(model)
    integer = np.zeros_like(f.integer) if relaxation else f.integer
    arrays = (f.matrix, f.costs, f.lower, f.upper, f.row_lower, f.row_upper, integer, f.offset)
    found = solve_mip(f.sense is Sense.MAXIMIZE, *arrays, time_limit)
    if integer.any() or found.status is LPStatus.INFEASIBLE:
        return found
    # Of a linear program HiGHS states no bound: its optimum is one, and what it has before that is not.
    return replace(found, bound=found.objective if found.status is LPStatus.OPTIMAL else f.sense.ideal)


def _compared(name: str, way: Way, instance: Any, time_limit: float, relaxation: bool) -> Compared:
    started = time.perf_counter()
    found = way(instance)
    if isinstance(found, Problem):
        stop = TimeLimit(time_limit) if time_limit < math.inf else ()
        found = solve(found, stop=stop, relaxation=relaxation)
    elif isinstance(found, (pyo.ConcreteModel, Formulation)):
        return _complete(name, found, started, time_limit, relaxation)
    elif relaxation:
        raise InputError(f"{name} returns an answer, which has no relaxation: leave it out")
    seconds = time.perf_counter() - started
    if isinstance(found, Result):
        return compared(name, found, seconds, relaxation=relaxation)
    objective = float(found.objective if hasattr(found, "objective") else found)
    bound = float(getattr(found, "dual_bound", math.nan))
    meets = abs(objective - bound) <= _SAME * abs(objective)
    proof = Termination.OPTIMAL.value if meets else "Nothing is proved."
    sense = getattr(found, "sense", None)
    counts = (None, None, None, None)
    return Compared(name, objective, bound, *counts, seconds, proof, sense if isinstance(sense, Sense) else None)


def compared(name: str, found: Result, seconds: float, *, relaxation: bool = False) -> Compared:
    """The line of a result."""
    last = found.iterations[-1] if found.iterations else None
    proof = found.termination.value
    if not relaxation and found.is_optimal and _is_fractional(found.solution):
        proof = _FRACTIONAL
    return Compared(
        name,
        found.objective,
        found.dual_bound,
        None if last is None else last.columns,
        None if last is None else last.rows,
        len(found.iterations),
        len(found.nodes),
        seconds,
        proof,
        found.sense,
    )


def _is_fractional(solution: Solution | None) -> bool:
    """Whether it is a relaxation's: something in it that must be whole is not."""
    if solution is None:
        return False
    columns = any(column.integer and fractionality(value) for column, value in solution.columns)
    return columns or any(fractionality(solution.variables[key]) for key in solution.integer)


def _complete(
    name: str, model: pyo.ConcreteModel | Formulation, started: float, time_limit: float, relaxation: bool
) -> Compared:
    formulation = model if isinstance(model, Formulation) else compile_model(model)
    rows, columns = formulation.matrix.shape
    found = solve_complete(formulation, time_limit, relaxation=relaxation)
    proof = {
        LPStatus.OPTIMAL: Termination.OPTIMAL,
        LPStatus.INFEASIBLE: Termination.INFEASIBLE,
        LPStatus.UNBOUNDED: Termination.UNBOUNDED,
    }.get(found.status, Termination.TIME_LIMIT)
    seconds = time.perf_counter() - started
    scale = float(np.abs(formulation.costs).max(initial=0.0))
    counts = (columns, rows, None, found.nodes)
    return Compared(name, found.objective, found.bound, *counts, seconds, proof.value, formulation.sense, scale=scale)


def _name(way: Way) -> str:
    if isinstance(way, functools.partial):
        options = ", ".join(map(str, [*way.args, *(f"{key}={value!r}" for key, value in way.keywords.items())]))
        return f"{_name(way.func)}({options})"
    return str(getattr(way, "__name__", type(way).__name__))


_SHOWN = tuple(field.name for field in fields(Compared) if field.name not in ("sense", "scale"))
_NAMES = tuple(name.replace("_", " ") for name in _SHOWN)


def _cells(line: Compared) -> tuple[str, ...]:
    return (
        line.name,
        number(line.objective, 8),
        number(line.dual_bound, 8),
        count(line.columns),
        count(line.rows),
        count(line.rounds),
        count(line.nodes),
        f"{line.seconds:.3g}",
        line.proof,
    )

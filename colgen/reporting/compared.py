"""One line of a comparison: an instance solved by one method, and what its result proves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from colgen.core.errors import InputError
from colgen.core.lazy_imports import Late
from colgen.core.result import Iteration, NodeRecord, Result, Termination
from colgen.core.sense import Sense
from colgen.core.tolerances import TOLERANCES, size
from colgen.model.rows import Rows, compile_model
from colgen.problem import Problem
from colgen.solvers.compiling import compile_seconds, working_clock
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.linear.mip import MIPSolution, solve_mip
from colgen.solvers.linear.program import Program
from colgen.solving import solve


def proved_by_engine(result: Result) -> bool:
    """Whether oracle calls in the engine's rounds have computed the bounds that end the search.

    Each node without children has a priced round, its own or an ancestor's, that states its bound or a better one; an
    infeasible node has a priced round of its own, and so has one whose columns were enumerated and hold nothing better:
    a bound that says something, from which it follows which columns these are.  A run that the engine calls optimal has
    held the answer's objective against the problem's own check.
    """
    if result.termination not in (Termination.OPTIMAL, Termination.INFEASIBLE):
        return False
    priced: dict[int, list[Iteration]] = {}
    for record in result.iterations:
        if record.pricing_seconds > 0.0:
            priced.setdefault(record.node, []).append(record)
    if not result.nodes:  # a guess was proved before there was a tree
        return any(_states(result, record, result.root_bound) for record in priced.get(0, ()))
    nodes = {node.number: node for node in result.nodes}
    parents = {node.parent for node in result.nodes}
    return all(_is_proved(result, node, nodes, priced) for node in result.nodes if node.number not in parents)


def _is_proved(
    result: Result, leaf: NodeRecord, nodes: dict[int, NodeRecord], priced: dict[int, list[Iteration]]
) -> bool:
    if leaf.outcome == "infeasible":
        return bool(priced.get(leaf.number))
    hopeless = result.sense.hopeless
    if leaf.bound == hopeless and leaf.outcome != "enumerated":  # an oracle says that there is no answer in the node
        return any(record.phase == 2 and record.dual_bound == hopeless for record in priced.get(leaf.number, ()))
    if leaf.outcome == "enumerated" and math.isinf(leaf.bound):
        mine = priced.get(leaf.number, ())
        return any(_states(result, one, result.root_bound if leaf.depth == 0 else one.dual_bound) for one in mine)
    node: NodeRecord | None = leaf
    while node is not None:
        if any(_states(result, record, leaf.bound) for record in priced.get(node.number, ())):
            return True
        node = None if node.parent is None else nodes.get(node.parent)
    return False


def _states(result: Result, record: Iteration, bound: float) -> bool:
    """Whether a round proves no less than a bound, which has to say something."""
    if record.phase != 2 or (math.isinf(bound) and result.termination is not Termination.INFEASIBLE):
        return False
    tolerance = TOLERANCES.pruning * size(0.0, bound, record.dual_bound)
    return not result.sense.is_better(record.dual_bound, bound, tolerance)


if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = Late("pyomo.environ")

Way = Callable[[Any], Any]
"""From an instance to a :class:`Problem`, to a complete model (Pyomo or compiled), or to an answer."""

Ways: TypeAlias = Mapping[str, Any] | Sequence[Way]
"""Ways, with their names: a dictionary of classes and functions is one of objects to a type checker."""

SAME = TOLERANCES.optimality
"""Relative difference up to which optima are the same."""

FRACTIONAL = "The relaxation is solved; its solution is fractional, and no answer."

_COMPILED, _SHORT = 0.02, 2.0
"""A run that took less than so many seconds was one to warm up, if compiling took more than this share of them."""


_PROOFS = frozenset(ended.value for ended in Termination if ended.is_proof)


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
        By the clock, from the instance to the answer: models are included, compiling kernels is not.
    proof
        What is known of the answer, in words.
    sense
        Whether objectives are made small or large; None where a way does not say.
    scale
        The largest cost of a complete model, zero elsewhere: what is smaller by far is rounding.
    processor_seconds
        The same by the clock of the processor, whatever else the machine had to do; NaN where nobody looked.
    compiling
        Seconds of compiling or loading kernels, once a process; in none of the others.
    root_bound
        What the root node has proved, before any branching; NaN where there is no tree of ours.
    stages
        Seconds of :attr:`Result.seconds`, for a run of column generation.
    instance
        Of several, its name.
    trace
        The rounds, of a run of column generation.
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
    processor_seconds: float = math.nan
    compiling: float = 0.0
    root_bound: float = math.nan
    stages: Mapping[str, float] = field(default_factory=dict)
    instance: str = ""
    trace: tuple[Iteration, ...] = field(default=(), repr=False)

    @property
    def is_optimal(self) -> bool:
        """Whether the answer is proved optimal: by what solved it, or because its bound meets its objective."""
        return self.proof == Termination.OPTIMAL.value

    @property
    def is_proved(self) -> bool:
        """Whether the way ended with a proof: of an optimum, the relaxation's too, or that there is none."""
        return self.proof in _PROOFS

    @property
    def root_gap(self) -> float:
        """Relative gap between the objective and the root's bound: what is left to branching and cuts."""
        return math.nan if self.sense is None else self.sense.gap(self.objective, self.root_bound)


def solve_complete(
    model: pyo.ConcreteModel | Rows, time_limit: float = math.inf, *, relaxation: bool = False
) -> MIPSolution:
    """HiGHS on a complete model, or on its relaxation: presolve on, one thread, to a gap of zero."""
    f = model if isinstance(model, Rows) else compile_model(model)
    integer = np.zeros_like(f.integer) if relaxation else f.integer
    arrays = (f.matrix, f.costs, f.lower, f.upper, f.row_lower, f.row_upper, f.offset)
    found = solve_mip(Program(f.sense is Sense.MAXIMIZE, *arrays), integer, time_limit)
    if integer.any() or found.status is LPStatus.INFEASIBLE:
        return found
    # Of a linear program HiGHS states no bound: its optimum is one, and what it has before that is not.
    return replace(found, bound=found.objective if found.status is LPStatus.OPTIMAL else f.sense.ideal)


def measured(
    name: str, way: Way, instance: Any, time_limit: float, relaxation: bool, *, repeats: int = 1, first: bool = False
) -> Compared:
    """The line of a way, by the quickest of its runs.

    Parameters
    ----------
    repeats
        So many runs are measured.  One before them is not, if it was short and kernels were compiled in it.
    first
        Whether nothing has been solved before: a short run is then one to warm up in any case.
    """
    run = _clocked(name, way, instance, time_limit, relaxation)
    compiling = run.compiling
    cold = run.seconds < _SHORT and (first or compiling > _COMPILED * run.seconds)
    runs = [] if cold else [run]
    while len(runs) < repeats:
        runs.append(_clocked(name, way, instance, time_limit, relaxation))
    return replace(min(runs, key=lambda each: each.seconds), compiling=compiling)


def _clocked(name: str, way: Way, instance: Any, time_limit: float, relaxation: bool) -> Compared:
    compiled, processor = compile_seconds(), time.process_time()
    line = _solve_one(name, way, instance, time_limit, relaxation)
    processor, compiled = time.process_time() - processor, compile_seconds() - compiled
    return replace(line, compiling=compiled, processor_seconds=max(processor - compiled, 0.0))


def _solve_one(name: str, way: Way, instance: Any, time_limit: float, relaxation: bool) -> Compared:
    started = working_clock()
    found = way(instance)
    if isinstance(found, Problem):
        found = solve(found, time_limit=time_limit, relaxation=relaxation)
    elif isinstance(found, (pyo.ConcreteModel, Rows)):
        return _complete(name, found, started, time_limit, relaxation)
    elif relaxation:
        raise InputError(f"{name} returns an answer, which has no relaxation: leave it out")
    seconds = working_clock() - started
    if isinstance(found, Result):
        return compared(name, found, seconds, relaxation=relaxation)
    objective = float(found.objective if hasattr(found, "objective") else found)
    bound = float(getattr(found, "dual_bound", math.nan))
    meets = abs(objective - bound) <= SAME * abs(objective)
    proof = Termination.OPTIMAL.value if meets else "Nothing is proved."
    sense = getattr(found, "sense", None)
    counts = (None, None, None, None)
    return Compared(name, objective, bound, *counts, seconds, proof, sense if isinstance(sense, Sense) else None)


def compared(name: str, found: Result, seconds: float, *, relaxation: bool = False) -> Compared:
    """The line of a result."""
    last = found.iterations[-1] if found.iterations else None
    proof = found.termination.value
    if not relaxation and found.is_optimal and not (found.solution is None or found.solution.is_integral):
        proof = FRACTIONAL
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
        root_bound=found.root_bound,
        stages=dict(found.seconds),
        trace=tuple(found.iterations),
    )


def _complete(
    name: str, model: pyo.ConcreteModel | Rows, started: float, time_limit: float, relaxation: bool
) -> Compared:
    formulation = model if isinstance(model, Rows) else compile_model(model)
    rows, columns = formulation.matrix.shape
    found = solve_complete(formulation, time_limit, relaxation=relaxation)
    proof = {
        LPStatus.OPTIMAL: Termination.OPTIMAL,
        LPStatus.INFEASIBLE: Termination.INFEASIBLE,
        LPStatus.UNBOUNDED: Termination.UNBOUNDED,
    }.get(found.status, Termination.TIME_LIMIT)
    seconds = working_clock() - started
    scale = float(np.abs(formulation.costs).max(initial=0.0))
    counts = (columns, rows, None, found.nodes)
    return Compared(name, found.objective, found.bound, *counts, seconds, proof.value, formulation.sense, scale=scale)

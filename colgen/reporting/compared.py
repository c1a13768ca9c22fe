"""One line of a comparison: an instance solved by one method, and what its result proves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from colgen.core.errors import InputError
from colgen.core.lazy_imports import LazyModule
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
    """Return whether oracle calls in rounds of the engine have computed the bounds that end the search.

    Each leaf needs a priced round, its own or of an ancestor, that states its bound or a better one. An infeasible leaf
    needs a priced round of its own. So does a leaf whose columns were enumerated without a better solution, with a
    finite bound that determines these columns. If the engine calls a run optimal, it has checked the objective of the
    answer by the problem's own check.
    """
    if result.termination not in (Termination.OPTIMAL, Termination.INFEASIBLE):
        return False
    priced: dict[int, list[Iteration]] = {}
    for record in result.iterations:
        if record.pricing_seconds > 0.0:
            priced.setdefault(record.node, []).append(record)
    if not result.nodes:  # a warm start was proved without a tree
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
    if leaf.bound == hopeless and leaf.outcome != "enumerated":  # an oracle proves the node infeasible
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
    """Return whether a round proves a bound, which must be finite."""
    if record.phase != 2 or (math.isinf(bound) and result.termination is not Termination.INFEASIBLE):
        return False
    tolerance = TOLERANCES.pruning * size(0.0, bound, record.dual_bound)
    return not result.sense.is_better(record.dual_bound, bound, tolerance)


if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")

Way = Callable[[Any], Any]
"""A function from an instance to a :class:`Problem`, to a complete model (Pyomo or compiled), or to an answer."""

Ways: TypeAlias = Mapping[str, Any] | Sequence[Way]
"""Ways by name; a type checker sees a dictionary of classes and functions as one of objects."""

SAME = TOLERANCES.optimality
"""Relative difference up to which optima count as equal."""

FRACTIONAL = "The relaxation is solved; its solution is fractional, so there is no answer."

_COMPILED, _SHORT = 0.02, 2.0
"""A run is a warm-up if it took less than this many seconds, and compiling more than this share of them."""


_PROOFS = frozenset(ended.value for ended in Termination if ended.is_proof)


@dataclass(frozen=True)
class Compared:
    """One line of a comparison.

    Attributes
    ----------
    name
        Formulation or method.
    objective, dual_bound
        Objective of the answer and dual bound. Infinite or NaN if unknown.
    columns, rows
        Size of the last restricted master or of the complete model, or None.
    rounds, nodes
        Numbers of rounds of column generation and of nodes, or None.
    seconds
        Wall-clock time from the instance to the answer, with modelling and without compiling kernels.
    proof
        The proof in words.
    sense
        Minimize or maximize, or None if unknown.
    scale
        Largest cost of a complete model, otherwise 0. Much smaller values are rounding errors.
    processor_seconds
        Processor time, or NaN.
    compiling
        Seconds for compiling or loading kernels, once per process. Not part of other times.
    root_bound
        Dual bound of the root before branching, or NaN.
    stages
        :attr:`Result.seconds` of a run of column generation.
    instance
        Name of the instance, if there are several.
    trace
        Rounds of a run of column generation.
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
        """True if the answer is proved optimal, by its solver or by a bound that meets its objective."""
        return self.proof == Termination.OPTIMAL.value

    @property
    def is_proved(self) -> bool:
        """True if an optimum, also of a relaxation, or infeasibility is proved."""
        return self.proof in _PROOFS

    @property
    def root_gap(self) -> float:
        """Relative gap between the objective and the bound of the root."""
        return math.nan if self.sense is None else self.sense.gap(self.objective, self.root_bound)


def solve_complete(
    model: pyo.ConcreteModel | Rows, time_limit: float = math.inf, *, relaxation: bool = False
) -> MIPSolution:
    """Solve a complete model, or its relaxation, by HiGHS: with presolve, one thread, and a gap of 0."""
    f = model if isinstance(model, Rows) else compile_model(model)
    integer = np.zeros_like(f.integer) if relaxation else f.integer
    arrays = (f.matrix, f.costs, f.lower, f.upper, f.row_lower, f.row_upper, f.offset)
    found = solve_mip(Program(f.sense is Sense.MAXIMIZE, *arrays), integer, time_limit)
    if integer.any() or found.status is LPStatus.INFEASIBLE:
        return found
    # HiGHS states no bound for linear programs; only an optimum is one.
    return replace(found, bound=found.objective if found.status is LPStatus.OPTIMAL else f.sense.ideal)


def measure(
    name: str, way: Way, instance: Any, time_limit: float, relaxation: bool, *, repeats: int = 1, first: bool = False
) -> Compared:
    """Return the line of the fastest of ``repeats`` runs of a way.

    A short run that compiles kernels, or is the ``first`` of all, is a warm-up and does not count.
    """
    run = _measure_once(name, way, instance, time_limit, relaxation)
    compiling = run.compiling
    cold = run.seconds < _SHORT and (first or compiling > _COMPILED * run.seconds)
    runs = [] if cold else [run]
    while len(runs) < repeats:
        runs.append(_measure_once(name, way, instance, time_limit, relaxation))
    return replace(min(runs, key=lambda each: each.seconds), compiling=compiling)


def _measure_once(name: str, way: Way, instance: Any, time_limit: float, relaxation: bool) -> Compared:
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
        raise InputError(f"relaxation: {name} returns an answer, which has no relaxation; leave it out of ways")
    seconds = working_clock() - started
    if isinstance(found, Result):
        return make_line(name, found, seconds, relaxation=relaxation)
    objective = float(found.objective if hasattr(found, "objective") else found)
    bound = float(getattr(found, "dual_bound", math.nan))
    meets = abs(objective - bound) <= SAME * abs(objective)
    proof = Termination.OPTIMAL.value if meets else "Nothing is proved."
    sense = getattr(found, "sense", None)
    counts = (None, None, None, None)
    return Compared(name, objective, bound, *counts, seconds, proof, sense if isinstance(sense, Sense) else None)


def make_line(name: str, found: Result, seconds: float, *, relaxation: bool = False) -> Compared:
    """Return the line of a result."""
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

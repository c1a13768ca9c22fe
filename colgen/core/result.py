"""The result of a run: reason of stopping, bounds, answer, rounds and nodes."""

from __future__ import annotations

import csv
import dataclasses
import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal

from colgen.core.columns import Column, Key
from colgen.core.decision import ROOT, Decision, DecisionPath
from colgen.core.duals import OwnDuals
from colgen.core.files import writing
from colgen.core.lazy_imports import import_name
from colgen.core.pool import Pool
from colgen.core.sense import Sense
from colgen.core.signals import BY_SIGTERM, BY_THE_USER
from colgen.core.solution import Solution
from colgen.core.text import Described, duration, number, percent, plural
from colgen.core.tolerances import TOLERANCES
from colgen.core.type_variables import Answer
from colgen.core.warm_start import WarmStart

OWN = "colgen"
"""The source of a dual bound that the run itself proved."""


class Termination(enum.Enum):
    """Why a run stopped; the value is a sentence for the user.

    Examples
    --------
    >>> result = solve(problem)
    >>> result.termination is Termination.OPTIMAL, result.termination.value
    (True, 'Proved optimal.')
    """

    OPTIMAL = "Proved optimal."
    INFEASIBLE = "Proved infeasible: no answer satisfies all rows."
    UNBOUNDED = "Unbounded: the objective can be improved without limit."
    UNBOUNDED_OR_INFEASIBLE = (
        "Unbounded or infeasible: the relaxation's objective can be improved without limit, and no answer is known."
    )
    GAP_LIMIT = "Stopped at the gap limit: the gap between answer and dual bound is small enough."
    TIME_LIMIT = "Stopped at the time limit."
    MEMORY_LIMIT = "Stopped at the memory limit."
    ITERATION_LIMIT = "Stopped at the iteration limit."
    NODE_LIMIT = "Stopped at the node limit."
    DEPTH_LIMIT = "Stopped: every open node is at the depth limit."
    STALLED = "Stopped: objective and dual bound have not changed for the given number of rounds."
    INTERRUPTED = BY_THE_USER
    TERMINATED = BY_SIGTERM
    FAULT = "Stopped by an error."
    NO_BRANCHING = "Stopped: the relaxation is solved but not integral, and no branching rule of the problem applies."
    NO_BOUND = "Stopped: no oracle finds another column, but the oracles' bounds do not prove the answer optimal."
    WITHIN_TOLERANCE = "Optimal within tolerance: exact arithmetic proves a slightly weaker bound."
    UNCHECKED = "Bound and objective meet, but the answer is not checked: define Problem.check(answer)."

    @property
    def is_proof(self) -> bool:
        """Whether the run ended with a proof."""
        return self in (Termination.OPTIMAL, Termination.INFEASIBLE, Termination.UNBOUNDED)

    @property
    def is_interrupt(self) -> bool:
        """Whether a signal (Ctrl-C or SIGTERM) ended the run."""
        return self in (Termination.INTERRUPTED, Termination.TERMINATED)


@dataclass(frozen=True, slots=True, repr=False)
class Iteration:
    """One round of the engine: a line of the log, a row of the saved table, the argument of stop rules.

    Attributes
    ----------
    number, node, depth
        Round (over the entire run), branch-and-bound node, and its depth.
    phase
        1 while a feasible solution is sought; ``objective`` and ``dual_bound`` then refer to the sum of the artificial
        variables.
    objective, dual_bound
        Objective of the node's restricted master, and dual bound on its relaxation.
    incumbent, global_bound
        Objective of the best answer of the run, and bound on all answers.
    columns, rows
        Numbers of columns and rows of the master when it was solved.
    new_columns, new_rows
        Numbers of columns and rows added in this round.
    misprices
        Number of times in this round that pricing at stabilized dual values found no improving column and was repeated
        nearer to the master's.
    seconds
        Since the start of the run.
    master_seconds, pricing_seconds, separation_seconds
        Seconds of each stage in this round.
    duals
        Dual values, with ``Record(duals=True)``.
    values
        The restricted master's solution, with ``Record(values=True)``; None in rounds that do not solve it.

    Examples
    --------
    >>> iterations = solve(problem).iterations
    >>> iterations[-1].dual_bound, iterations[-1].columns >= iterations[0].columns
    (452.25, True)
    """

    number: int
    node: int
    depth: int
    phase: int
    objective: float
    dual_bound: float
    incumbent: float
    global_bound: float
    columns: int
    rows: int
    new_columns: int
    new_rows: int
    misprices: int
    seconds: float
    master_seconds: float
    pricing_seconds: float
    separation_seconds: float
    duals: OwnDuals = field(default=None, repr=False, compare=False)
    values: Solution | None = field(default=None, repr=False, compare=False)

    def gap(self, sense: Sense) -> float:
        """Return the relative gap between the incumbent and the bound on all answers."""
        return sense.gap(self.incumbent, self.global_bound)

    def __repr__(self) -> str:
        bounds = f"objective {number(self.objective, 6)}, bound {number(self.dual_bound, 6)}"
        return f"<Iteration {self.number}: node {self.node}, phase {self.phase}, {bounds}, {self.seconds:.3g} s>"


WRITTEN = tuple(f for f in dataclasses.fields(Iteration) if f.repr)
"""The fields of a round that are written: all but dual values and columns."""


@dataclass(frozen=True, slots=True, repr=False)
class NodeRecord:
    """One processed node of the branch-and-bound tree; ``path`` is shared with its ancestors."""

    number: int
    parent: int | None
    depth: int
    bound: float
    outcome: str
    path: DecisionPath = ROOT

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Branching decisions from the root on."""
        return self.path.decisions

    def __repr__(self) -> str:
        parent = "root" if self.parent is None else f"parent {self.parent}"
        return f"<Node {self.number}: {self.outcome}, bound {number(self.bound, 8)}, {parent}, depth {self.depth}>"


@dataclass(frozen=True, slots=True, repr=False)
class NodeVisit(Described):
    """The state of the search after a node, the argument of ``Record(on_node=...)``.

    ``node`` is the node and its outcome, ``incumbent`` the best feasible solution so far or None, ``objective`` its
    objective, and ``dual_bound`` the bound on all answers. ``open_nodes`` are still to process; ``seconds`` count from
    the start of the run.
    """

    node: NodeRecord
    incumbent: Solution | None
    objective: float
    dual_bound: float
    open_nodes: int
    seconds: float


@dataclass(frozen=True, repr=False)
class Certificate(Described):
    """Dual values that prove the root's dual bound by weak duality, for checks that trust no solver.

    ``duals`` maps row keys to values. Templates check them, since that requires all columns.
    """

    bound: float
    duals: Mapping[Key, float]


@dataclass(frozen=True)
class Result(Generic[Answer]):
    """The outcome of a run.

    Attributes
    ----------
    termination
        Why it stopped.
    objective, dual_bound
        Objective of the best answer, and dual bound on all answers; infinite if there is none.
    solution
        Columns and template variables of the best answer; with ``relaxation=True`` those of the relaxation.
    answer
        The solution in the problem's terms (:meth:`Problem.answer`); None if no answer was found, although the type
        ``Result[Answer]`` does not show it.
    relaxation
        The last solution of the root's relaxation, fractional in general.
    root_bound
        The dual bound proved at the root before branching. It may be weaker than the relaxation's value, because the
        root ends early once its rounded bound is final. ``solve(problem, relaxation=True).objective`` is that value.
    iterations
        One record per round.
    nodes
        One record per branch-and-bound node.
    columns_generated, rows_generated
        Numbers of columns from the oracles and of rows from the separations, over the entire run.
    seconds
        Time by stage: ``master``, ``pricing``, ``separation``, ``bounding`` (the rest of the bounding method),
        ``rounding``, ``fixing``, ``enumeration``, ``branching``, ``heuristics``, ``checkpoint``, ``setup``,
        ``compiling``, ``other`` and ``total``. Compiling or loading numba's kernels, on the first call of each, is
        counted in no other stage.
    certificate
        Dual values that prove the root's bound, if the master has row names.
    bound_source
        The source of the dual bound: :data:`OWN`, or another solver, whose bound is trusted and not checked.
    notes
        Further remarks, one sentence each: heuristics that failed and were skipped, oracles whose bounds prove nothing.
    pool
        The columns of the restricted master, their reduced costs, and which of them are basic: none if no linear
        program was solved. None if the restricted master is not a linear program.
    processor_seconds
        Processor time of the run, of all its threads and of the workers that searched subtrees; NaN if unknown. Like
        ``seconds["total"]`` it includes compiling.
    settings
        The problem, its method and the other arguments of the run that were given, each in a few words.

    Examples
    --------
    >>> result = solve(problem)
    >>> result.objective, result.dual_bound, result.is_optimal
    (453.0, 453.0, True)
    """

    sense: Sense
    termination: Termination
    objective: float
    dual_bound: float
    solution: Solution | None
    answer: Answer
    relaxation: Solution | None
    root_bound: float
    iterations: Sequence[Iteration]
    nodes: Sequence[NodeRecord]
    columns_generated: int
    rows_generated: int
    seconds: Mapping[str, float]
    certificate: Certificate | None = None
    bound_source: str = OWN
    notes: Sequence[str] = ()
    pool: Pool | None = None
    processor_seconds: float = math.nan
    settings: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def gap(self) -> float:
        """Relative gap: ``|objective - dual_bound| / |objective|``; 0, without rounding errors, if proved optimal."""
        gap = self.sense.gap(self.objective, self.dual_bound)
        return 0.0 if self.is_optimal and gap <= TOLERANCES.optimality else gap

    @property
    def is_optimal(self) -> bool:
        """Whether the answer is proved optimal."""
        return self.termination is Termination.OPTIMAL

    def __str__(self) -> str:
        return (
            f"{self.termination.value}\nobjective {number(self.objective)}, dual bound {number(self.dual_bound)}, "
            f"gap {percent(self.gap)}; {plural(len(self.iterations), 'round')}, {plural(len(self.nodes), 'node')}, "
            f"{plural(self.columns_generated, 'column')} and {plural(self.rows_generated, 'row')} generated, "
            f"{duration(self.seconds.get('total', 0.0), self.processor_seconds)}"
            + "".join(f"\n{note}" for note in self.notes)
        )

    def __repr__(self) -> str:
        return f"<Result: {' '.join(str(self).splitlines()[:2])}>"

    def _repr_html_(self) -> str:
        page: str = import_name("reporting.html", "show_result")(self)
        return page

    def warm_start(self, *, basis_only: bool = False) -> WarmStart:
        """Return a start for another run: the dual values that prove the root's bound, the answer, the columns.

        The other run treats all of it as guesses. Its rows and their sides may differ, as long as the columns are valid
        in it; an answer that is infeasible there is dropped. If costs changed, the caller must change them in the
        columns.

        Parameters
        ----------
        basis_only
            Only the basic columns.
        """
        columns: Sequence[Column] = () if self.pool is None else self.pool.basis.columns if basis_only else self.pool
        duals = None if self.certificate is None else self.certificate.duals
        is_answer = self.solution is not None and self.answer is not None  # not a relaxation's solution
        answers = (self.solution,) if is_answer and self.solution is not None else ()
        basis = None if self.pool is None else self.pool.basis
        return WarmStart(duals, answers, columns, basis=basis, tentative=True)

    def to_pyomo(self) -> Any:
        """Return the Pyomo model given to :func:`colgen.decompose`, with this answer in its variables.

        The dual values at the root of constraints that stay in the master are in the suffix ``model.dual``, which is
        created if missing.

        Raises
        ------
        InputError
            If there is no answer, or the problem is not a decomposed model.
        """
        return import_name("decomposition.answers", "to_pyomo")(self)

    def to_dict(self) -> dict[str, Any]:
        """Return a summary as plain data for JSON, without answer, solutions and rounds; infinities become None."""
        return {
            "termination": self.termination.name,
            "message": self.termination.value,
            "objective": _finite(self.objective),
            "dual_bound": _finite(self.dual_bound),
            "bound_source": self.bound_source,
            "gap": _finite(self.gap),
            "root_bound": _finite(self.root_bound),
            "rounds": len(self.iterations),
            "nodes": len(self.nodes),
            "columns_generated": self.columns_generated,
            "rows_generated": self.rows_generated,
            "seconds": dict(self.seconds),
            "processor_seconds": _finite(self.processor_seconds),
            "settings": dict(self.settings),
            "notes": list(self.notes),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per round."""
        names = [f.name for f in WRITTEN]
        return [{name: getattr(i, name) for name in names} for i in self.iterations]

    def to_frame(self, of: Literal["rounds", "columns", "nodes"] = "rounds") -> Any:
        """Return the run as a pandas frame; pandas must be installed.

        Parameters
        ----------
        of
            ``"rounds"``: one :class:`Iteration` per row. ``"nodes"``: one :class:`NodeRecord` per row, with its own
            decision. ``"columns"``: one column left in the restricted master per row, the oldest first. Its fields are
            structure, cost, values in the answer and in the root's relaxation, and reduced cost at the dual values that
            prove the root's bound. Further fields: whether it is basic at the end, and the round that added it (-1:
            before the first).
        """
        return import_name("reporting.frames", "frame")(self, of)

    def report(
        self,
        path: str | Path,
        title: str = "A run of colgen",
        *,
        about: Mapping[str, object] | None = None,
        picture: Any = None,
    ) -> None:
        """Write summary, answer, plots, versions and log as one self-contained HTML page.

        Parameters
        ----------
        about
            Further facts by name: settings, seed, digest of the instance.
        picture
            A matplotlib figure of the answer.
        """
        import_name("reporting.report", "report")(self, path, title, about=about, picture=picture)

    def to_csv(self, path: str | Path) -> None:
        """Write the rounds as CSV, one per line."""
        write_csv(self.rows(), path)


class RunListener:
    """A listener of rounds, for ``solve(..., progress=listener)``, that also receives nodes and the result."""

    def __call__(self, iteration: Iteration) -> None:
        """Receive a round."""

    def on_node(self, visit: NodeVisit) -> None:
        """Receive a node with its outcome."""

    def finish(self, result: Result) -> None:
        """Receive the result."""


def write_csv(rows: Sequence[Mapping[str, Any]], path: str | Path) -> None:
    """Write dictionaries with equal keys as CSV; without any, write the header of an :class:`Iteration`."""
    names = list(rows[0]) if rows else [f.name for f in WRITTEN]
    with writing(path) as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

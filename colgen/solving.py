"""`solve`, which puts the parts of a problem together."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from colgen.bounds.bounding import Bounding, Parts, Settings
from colgen.bounds.fixing import Reduction
from colgen.bounds.run import Run
from colgen.bounds.stabilization import Stabilization
from colgen.core.budget import Budget, OutOfBudget, held
from colgen.core.doors import behind
from colgen.core.errors import InputError
from colgen.core.result import Iteration, NodeVisit, Result, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.stop import AnyOf, StopRule
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.cuts.separation import Separation
from colgen.master.protocol import RestrictedMaster
from colgen.pricing.grouping import grouped
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem, answer_to_check
from colgen.proof.certifier import Certifier
from colgen.proof.witness import Witness
from colgen.proof.writing import Ended, write_certificate
from colgen.settings import check_settings, parts_of, what
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.branching import BranchingRule
from colgen.tree.choice import Choice
from colgen.tree.heuristics import Heuristic
from colgen.tree.means import Search
from colgen.tree.search import NodeQueue, TreeResult, branch_and_bound
from colgen.tree.sparing import as_diagnostic


@held
def solve(
    problem: Problem,
    *,
    stop: StopRule | Sequence[StopRule] = (),
    start: Result | WarmStart | None = None,
    relaxation: bool = False,
    stabilization: Stabilization | None = None,
    bounding: Bounding | None = None,
    heuristics: Sequence[Heuristic] | None = None,
    queue: Callable[[Sense], NodeQueue] | None = None,
    choice: Choice | None = None,
    node_limit: int | None = None,
    depth_limit: int | None = None,
    clean_up_after: int | None = None,
    pricing_share: float = 1.0,
    lp: str | None = None,
    lp_options: Mapping[str, Any] | None = None,
    tolerance: float = TOLERANCES.reduced_cost,
    keep_duals: bool = False,
    progress: bool | Callable[[Iteration], None] = False,
    on_node: Callable[[NodeVisit], object] | None = None,
    certificate: Path | str | None = None,
) -> Result:
    """Solve a problem by column generation, and by branch and bound where its relaxation is not whole.

    First of all the problem's guesses are tried (:meth:`Problem.warm_start`): oracles are priced once at guessed dual
    values, and where the bound that they state meets the best answer, that is all.

    Parameters
    ----------
    problem
        What to solve.
    stop
        A stop rule or several (:mod:`colgen.core.stop`); whichever speaks first ends the run with the best answer and
        bound so far.
    start
        What to start from instead of the problem's own guesses: another run's result, of this problem or of a similar
        one, or a :class:`WarmStart`.  None of it is believed.
    relaxation
        Solve the root's relaxation only, to its exact optimum; the result's solution is then fractional in general.
    stabilization
        Instead of the problem's own.
    bounding
        What nodes are bounded by, instead of the problem's own: ``Chain(Volume(200), ColumnGeneration())``, say.
    heuristics
        Instead of the problem's own.
    queue
        Which node comes next: a class of :mod:`colgen.tree.search`, by default ``Plunging``.
    choice
        How the tree chooses among the candidates of a branching rule, instead of the problem's own:
        ``StrongBranching()``, say.
    node_limit, depth_limit
        Of the branch-and-bound tree.
    clean_up_after
        Delete columns that have not improved for so many solves; None keeps all.
    pricing_share
        Of many pricing problems, ask this share at a time, in turn, until one finds a column; all of them are asked
        before anything is proved.  It pays where oracles are slow and most rounds find columns anywhere.
    lp
        The solver of the restricted master's linear programs instead of HiGHS, where it is installed: ``"gurobi"``,
        ``"xpress"``, ``"cplex"``, ``"soplex"``, ``"glpk"``.
    lp_options
        Options of HiGHS for the restricted master's linear programs, by name: ``{"simplex_price_strategy": 1}``.
    tolerance
        A column improves if its reduced cost gains more than this, relative to the scale of the objective.
    keep_duals
        Keep each round's dual values in ``result.iterations``.
    progress
        True shows rounds as they come (a live line on a terminal, log lines elsewhere); a callable is given each of
        them.
    on_node
        Called after each node of the tree, with what became of it, the best answer so far and the bounds.
    certificate
        Write what is proved to this file (compressed if its name ends in ``.gz``), for ``colgen check``.  Where exact
        arithmetic does not reach what the run says, the result is optimal *within tolerance*.

    Returns
    -------
    Result
        A limit, an interrupt (Ctrl-C) or an infeasible problem is a termination, not an exception.  An interrupt is
        remembered and ends the run at its next look at the clock; a second one ends it wherever it is.

    Raises
    ------
    ColgenError
        Where continuing could end in a wrong answer (see :mod:`colgen.core.errors`).  Whatever is raised carries the
        best result so far as its attribute ``result``.
    """
    if not isinstance(problem, Problem):
        raise InputError(f"expected a problem to solve, an object of a subclass of Problem, not {what(problem)}")
    check_settings(
        stop=stop,
        start=start,
        relaxation=relaxation,
        stabilization=stabilization,
        bounding=bounding,
        heuristics=heuristics,
        queue=queue,
        choice=choice,
        node_limit=node_limit,
        depth_limit=depth_limit,
        clean_up_after=clean_up_after,
        pricing_share=pricing_share,
        lp=lp,
        lp_options=lp_options,
        tolerance=tolerance,
        keep_duals=keep_duals,
        progress=progress,
        on_node=on_node,
        certificate=certificate,
    )
    recording = None if certificate is None else _Recording(certificate, problem.certifier())
    rule = AnyOf(*((stop,) if callable(stop) else stop))
    budget = Budget(rule.seconds, rule.bytes)
    warm = _warm(problem, start, budget)
    try:
        master = problem.restricted_master()
    except OutOfBudget as spent:
        return _nothing(spent.reason, budget)

    def check(solution: Solution) -> float | None:
        return problem.check(answer_to_check(problem, solution))

    if lp is not None:
        master.set_solver(lp)
    if lp_options is not None:
        master.set_options(lp_options)
    settings = Settings(
        stop_early=not relaxation,
        round_early=not relaxation,
        clean_up_after=clean_up_after,
        keep_duals=keep_duals,
        tolerance=tolerance,
        scale=problem.scale,
        pricing_share=pricing_share,
    )
    with listening(progress, master.sense) as listener:
        run = Run(
            master.sense,
            rule,
            None if relaxation else problem.objective_step,
            listener,
            budget,
            check,
            problem.scale or 0.0,
            master.offset,
        )
        try:
            search = _search(
                problem,
                master,
                run,
                settings,
                relaxation,
                bounding,
                stabilization,
                heuristics,
                choice,
                recording,
            )
        except OutOfBudget as spent:
            return _nothing(spent.reason, budget, master.sense)
        try:
            with run.stage("setup"):
                closed = search.start(warm, type(problem).__name__)
            if closed:
                outcome = TreeResult(Termination.OPTIMAL, run.global_bound, ())
            else:
                outcome = branch_and_bound(
                    search,
                    run,
                    queue=None if queue is None else queue(master.sense),
                    node_limit=node_limit,
                    depth_limit=depth_limit,
                    on_node=on_node,
                )
        except OutOfBudget as spent:
            outcome = TreeResult(spent.reason, run.global_bound, ())
        except KeyboardInterrupt:
            outcome = TreeResult(Termination.INTERRUPTED, run.global_bound, ())
        except MemoryError as error:  # a limit like others: of a kernel, or of the machine
            run.notes.append(f"Memory ran out: {str(error) or 'there is no more of it'}.")
            outcome = TreeResult(Termination.MEMORY_LIMIT, run.global_bound, ())
        except Exception as error:
            fault = TreeResult(Termination.FAULT, run.global_bound, ())
            told = as_diagnostic(error)
            told.result = _result(problem, search, run, fault, relaxation)  # type: ignore[attr-defined]
            if told is error:
                raise
            raise told from error
    result = problem.finished(_result(problem, search, run, outcome, relaxation))
    return result if recording is None else recording.written(result)


@dataclasses.dataclass(frozen=True)
class _Recording:
    """A certificate that is to be written: where, by whom, and who keeps until then what the tree proves."""

    path: Path | str
    certifier: Certifier
    witness: Witness = dataclasses.field(default_factory=Witness)

    def written(self, result: Result) -> Result:
        """Write a result's certificate, and say of the result what that proves."""
        begun = time.monotonic()
        ended = Ended(result.sense, result.termination, result.dual_bound, result.solution, result.nodes)
        written = write_certificate(self.path, self.certifier, self.witness, ended)
        lasted = time.monotonic() - begun
        seconds = {**result.seconds, "certificate": lasted, "total": result.seconds["total"] + lasted}
        notes = [*result.notes, f"The certificate has {written.leaves} leaves; {written.trusted} claims are trusted."]
        if written.short:
            notes.append(f"Exact arithmetic does not prove what is said of node {written.short[0]}.")
        short = bool(written.short) and result.termination is Termination.OPTIMAL
        termination = Termination.WITHIN_TOLERANCE if short else result.termination
        return dataclasses.replace(result, termination=termination, seconds=seconds, notes=tuple(notes))


_SHARE = 0.85
"""The share of the time that is left which a warm start may take: the rest is for the round that proves it."""


def _warm(problem: Problem, start: Result | WarmStart | None, budget: Budget) -> WarmStart:
    if start is not None:
        return start.warm_start() if isinstance(start, Result) else start
    try:
        found: Any = problem.warm_start(budget.capped(_SHARE * budget.seconds_left))
    except OutOfBudget:
        return NOTHING
    if not isinstance(found, WarmStart):
        raise InputError(f"{type(problem).__name__}.warm_start() returned {what(found)}: expected a WarmStart")
    return found


def listening(
    progress: bool | Callable[[Iteration], None], sense: Sense
) -> AbstractContextManager[Callable[[Iteration], None] | None]:
    """Whoever is to be told of rounds."""
    if progress is False:
        return nullcontext(None)
    found: AbstractContextManager[Callable[[Iteration], None] | None]
    found = behind("reporting.progress", "listening")(progress, sense)
    return found


def _search(
    problem: Problem,
    master: RestrictedMaster,
    run: Run,
    settings: Settings,
    relaxation_only: bool,
    bounding: Bounding | None,
    stabilization: Stabilization | None,
    heuristics: Sequence[Heuristic] | None,
    choice: Choice | None,
    recording: _Recording | None,
) -> BranchAndPrice:
    parts = Parts(
        master,
        grouped(parts_of(problem.pricing(), Pricing, problem, "pricing")),
        parts_of(problem.separation(), Separation, problem, "separation"),
        problem.stabilization() if stabilization is None else stabilization,
        run,
        settings,
    )
    search = Search(
        parts_of(problem.branching(), BranchingRule, problem, "branching"),
        parts_of(problem.reductions(), Reduction, problem, "reductions"),
        problem.enumeration(),
        parts_of(problem.heuristics(), Heuristic, problem, "heuristics") if heuristics is None else tuple(heuristics),
        relaxation_only,
        problem.sharpen,
        problem.choice() if choice is None else choice,
        None if recording is None else recording.witness,
        recording is None or not recording.certifier.checks_nodes,
    )
    return BranchAndPrice(parts, search, problem.bounding() if bounding is None else bounding)


def _result(problem: Problem, search: BranchAndPrice, run: Run, outcome: TreeResult, relaxation: bool) -> Result:
    solution = search.root if relaxation else run.incumbent
    termination = outcome.termination
    if termination is Termination.OPTIMAL and not relaxation and not run.is_checked:
        termination = Termination.UNCHECKED
    if termination is Termination.OPTIMAL and relaxation and not search.is_solved(outcome.bound):
        # Nothing open holds a better answer, which is less than an optimum of the relaxation.
        termination = Termination.NO_BOUND if run.is_checked else Termination.UNCHECKED
    if termination is Termination.OPTIMAL and search.pricing and not (run.columns_generated or search.master.is_driven):
        run.notes.append(
            "No column was used: the template's own variables satisfy all rows. Those that only stand in for columns "
            "are declared with artificial(...), which drives them out."
        )
    return Result(
        sense=run.sense,
        termination=termination,
        objective=run.sense.hopeless if solution is None else solution.objective,
        dual_bound=outcome.bound,
        solution=solution,
        answer=None if solution is None or relaxation else problem.answer(solution),
        relaxation=search.root,
        root_bound=run.sense.ideal if search.root_bound is None else search.root_bound,
        iterations=tuple(run.iterations),
        nodes=tuple(outcome.nodes),
        columns_generated=run.columns_generated,
        rows_generated=run.rows_generated,
        seconds=_seconds(run),
        certificate=search.certificate,
        notes=(*run.notes, *run.budget.warnings),
        pool=search.pool(),
    )


def _nothing(reason: Termination, budget: Budget, sense: Sense = Sense.MINIMIZE) -> Result:
    """What is said of a run that a limit ends before there is a master: not even the direction is known then."""
    return Result(
        sense=sense,
        termination=reason,
        objective=sense.hopeless,
        dual_bound=sense.ideal,
        solution=None,
        answer=None,
        relaxation=None,
        root_bound=sense.ideal,
        iterations=(),
        nodes=(),
        columns_generated=0,
        rows_generated=0,
        seconds={
            "setup": budget.seconds - budget.compiling,
            "compiling": budget.compiling,
            "total": budget.seconds,
            "other": 0.0,
        },
        notes=("The limit came before the restricted master and its oracles were set up.",),
    )


def _seconds(run: Run) -> dict[str, float]:
    seconds = dict(run.stage_seconds)
    seconds["total"] = run.seconds
    seconds["compiling"] = run.budget.compiling
    seconds["other"] = max(run.seconds - seconds["compiling"] - sum(run.stage_seconds.values()), 0.0)
    return seconds

"""`solve`, which assembles the parts of a problem and runs them."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Never, cast

from colgen.bounding.protocol import Bounding, Parts, Settings
from colgen.bounding.run import Run
from colgen.branching.rules import BranchingRule, OnTemplateVariable
from colgen.branching.selection import Choice
from colgen.certificate.certifier import Certifier
from colgen.certificate.verified import write_verified
from colgen.certificate.witness import Witness
from colgen.certificate.writing import FinishedRun
from colgen.checkpoint.file import Checkpoint
from colgen.checkpoint.persistence import Checkpointing, PoolStart, origin_of
from colgen.claims import RowClaims, covers_separation
from colgen.core.budget import Budget, OutOfBudget, interruption
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.lazy_imports import import_name
from colgen.core.renamed import refuse_old
from colgen.core.result import OWN, Iteration, Result, RunListener, Termination
from colgen.core.run_settings import RunSettings
from colgen.core.sense import Sense
from colgen.core.signals import hold_signals, holding_termination
from colgen.core.solution import Complete
from colgen.core.stop import AnyOf, StopRule
from colgen.core.text import brief, describe, number
from colgen.core.type_variables import Answer
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.cuts.separation import Separation
from colgen.enumeration import Enumeration
from colgen.fixing import Reduction
from colgen.heuristics import Heuristic
from colgen.master.linear_master import as_linear
from colgen.master.protocol import RestrictedMaster, switch
from colgen.master.statement import restricted_master
from colgen.method import Method
from colgen.options import Options, Parallel, Record, Start, check_stated, part_of, parts_of, stated
from colgen.parallel.clusters import Cluster, open_cluster
from colgen.parallel.node_batches import InBatches
from colgen.parallel.subtrees import WIDTH, OnCluster, pack
from colgen.parallel.threads import Threads
from colgen.pricing.derived import Unlimited, merge_identical
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem, codec_of, method_of, name_of
from colgen.stabilization import Stabilization
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node import as_diagnostic
from colgen.tree.open_tree import OpenTree
from colgen.tree.parts import Search
from colgen.tree.queues import BestBound, Plunging
from colgen.tree.search import Relaxation, TreeResult, branch_and_bound


@hold_signals
def solve(
    problem: Problem[Answer],
    *,
    stop: StopRule | Sequence[StopRule] = (),
    time_limit: float = math.inf,
    start: Start = None,
    relaxation: bool = False,
    progress: bool | Callable[[Iteration], None] = False,
    method: Method = Method(),
    record: Record = Record(),
    parallel: Parallel = Parallel(),
    checkpoint: Checkpoint | Path | str | None = None,
    **old: Never,
) -> Result[Answer]:
    """Solve a problem by column generation, and by branch and bound if its relaxation is not integral.

    The guesses of :meth:`Problem.warm_start` are tried first: oracles price once at the guessed dual values. If the
    resulting bound equals the objective of the best answer, the run ends.

    Parameters
    ----------
    problem
        The problem to solve.
    stop
        A stop rule or several (:mod:`colgen.core.stop`). The first that applies ends the run with the best answer and
        bound so far.
    time_limit
        Seconds. ``time_limit=60`` is short for ``stop=TimeLimit(60)`` and is combined with other stop rules.
    start
        Where to start, instead of the problem's own guesses. One of: the result of a run of this or a similar problem;
        a :class:`WarmStart`; a pool (``result.pool``, or a file that ``result.pool.save`` wrote) of this or a changed
        instance. Columns of a pool are decoded for this instance (:meth:`Problem.codec`) and dropped if they are not
        valid here. If a pool's answer is infeasible here, the problem's own guesses are used too. All input is checked.
    relaxation
        Solve only the relaxation at the root, to its exact optimum. The result's solution is fractional in general.
    progress
        True shows each round: a live line on a terminal or in a notebook, log lines elsewhere. A callable is called
        with each :class:`Iteration`.
    method
        How to solve the problem (:class:`Method`): stabilization, bounding, heuristics, branching and more. Replaces
        the problem's own choices.
    record
        What to keep of the run (:class:`Record`): dual values, a certificate.
    parallel
        Threads, batches of nodes, or a cluster (:class:`Parallel`).
    checkpoint
        A :class:`Checkpoint`, or its file, which is written during the run. If the file exists, the run resumes from
        it.

    Returns
    -------
    Result
        Limits, interrupts (Ctrl-C) and infeasible problems are terminations, not exceptions. A first interrupt ends
        the run when it next checks the clock; a second ends it at once.

    Raises
    ------
    InputError
        Before any work, if an option is invalid.
    ColgenError
        Where continuing could give a wrong answer (see :mod:`colgen.core.errors`). The attribute ``result`` of any
        exception holds the best result so far.

    Examples
    --------
    >>> result = solve(problem, time_limit=60.0)
    >>> print(result.termination.value, result.objective)
    Proved optimal. 453.0
    """
    refuse_old(solve, old)
    if not isinstance(problem, Problem):
        raise InputError(f"solve: expected an object of a subclass of Problem, not {describe(problem)}")
    options = Options(
        stop=stop,
        time_limit=time_limit,
        start=start,
        relaxation=relaxation,
        progress=progress,
        method=method,
        record=record,
        parallel=parallel,
        checkpoint=checkpoint,
    )
    check_stated(problem)
    options.check_files()
    result: Result[Answer] = _Solver(problem, options).solve()
    if isinstance(progress, RunListener):
        progress.finish(result)
    return result


class _Solver:
    """One run of a problem with its options."""

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem, self.options = problem, options
        parallel, record = options.parallel, options.record
        codec_of(problem)  # raises on an invalid codec before any work
        self.pooled = None if options.pool is None else PoolStart(problem, options.pool)
        self.saved = None if options.saving is None else Checkpointing(problem, options.saving, options.relaxation)
        self.recording: _Recording | None = None
        self.rule = options.rule
        self.budget = Budget(self.rule.seconds, self.rule.bytes)
        workers = int(parallel.workers or 1) if parallel.cluster is None else 1
        self.budget.workers = self.threads = Threads(workers)
        self.settings = Settings(
            stop_early=not options.relaxation,
            round_early=not options.relaxation,
            keep_duals=record.duals,
            keep_values=record.values,
            scale=stated(problem, "scale"),
        )
        self.prototype: _Prototype | None = None
        self.packed = b""
        if parallel.cluster is not None:
            self.prototype = _Prototype(problem, options.method)
            self.packed = pack(self.prototype, self.settings)
        elif parallel.node_batch > 1:
            self.prototype = _Prototype(problem, options.method).copy()

    def solve(self) -> Result:
        """Run the search and return its result."""
        problem, options = self.problem, self.options
        self.warm = NOTHING if self.pooled is not None else _warm_start(problem, options.guess, self.budget)
        try:
            master = part_of(restricted_master(problem.master()), RestrictedMaster, problem, "master")
            claims = RowClaims(problem, master)
            self.method = method_of(problem, options.method, claims)
        except OutOfBudget as limit:
            return _empty_result(limit.reason, self.budget)
        if not claims.hold("warm_start"):  # answers for other rows may be infeasible here
            self.warm = dataclasses.replace(self.warm, tentative=True)
        if options.record.certificate is not None:
            self.recording = _Recording(options.record.certificate, claims.certifier())
        _set_solver(master, self.method)
        # On a cluster the workers plunge.
        queue = self.method.queue or (Plunging if options.parallel.cluster is None else BestBound)
        self.tree = OpenTree(master.sense, queue(master.sense))
        terminated = nullcontext() if self.saved is None else holding_termination()
        with (
            listening(options.progress, master.sense) as listener,
            self.threads,
            terminated,
            _open_cluster(options.parallel) as cluster,
        ):
            run = _run(claims, master, self.rule, listener, self.budget, options.relaxation)
            try:
                search = _search(claims, master, run, self.settings, options.relaxation, self.method, self.recording)
            except OutOfBudget as limit:
                return _empty_result(limit.reason, self.budget, master.sense)
            outcome = self._run_search(search, cluster)
            if self.saved is not None:
                if outcome.termination in (Termination.OPTIMAL, Termination.INFEASIBLE):
                    self.tree.close()
                self.saved.close()
        if outcome.bound_source != OWN:
            run.notes.append(
                f"The dual bound is from {outcome.bound_source} and is trusted, not verified. The tree itself proves "
                f"{number(run.global_bound)}."
            )
        draft = _result(problem, search, run, outcome, options.relaxation, self._described())
        result: Result = part_of(problem.finish(draft), Result, problem, "finish")
        return result if self.recording is None else self.recording.write(result)

    def _run_search(self, search: BranchAndPrice, cluster: Cluster | None) -> TreeResult:
        """Search the tree until it is done or a limit is reached; an error carries the result so far."""
        run, tree = search.run, self.tree
        try:
            if self._begin(search):
                tree.close()
                return TreeResult(Termination.OPTIMAL, run.global_bound, ())
            return self._search_tree(search, cluster)
        except OutOfBudget as limit:
            return TreeResult(limit.reason, run.global_bound, tree.records)
        except KeyboardInterrupt:
            return TreeResult(interruption(), run.global_bound, tree.records)
        except MemoryError as error:  # raised by a kernel or by the operating system
            run.notes.append(f"Memory ran out: {str(error) or 'an allocation failed'}.")
            return TreeResult(Termination.MEMORY_LIMIT, run.global_bound, tree.records)
        except Exception as error:
            fault = TreeResult(Termination.FAULT, run.global_bound, tree.records)
            diagnostic = as_diagnostic(error)
            for source in (self.saved, self.pooled):
                diagnostic = diagnostic if source is None else source.explain(diagnostic)
            diagnostic.result = _result(  # type: ignore[attr-defined]
                self.problem, search, run, fault, self.options.relaxation, self._described()
            )
            if diagnostic is error:
                raise
            raise diagnostic from error

    def _described(self) -> RunSettings:
        given = (self.method, self.rule, self.options.parallel, self.options.relaxation)
        return RunSettings(partial(_describe, name_of(self.problem), *given))

    def _begin(self, search: BranchAndPrice) -> bool:
        """Resume or start the search; return whether the guesses already prove the optimum."""
        run, saved, warm = search.run, self.saved, self.warm
        with run.stage("setup"):
            if saved is not None:
                saved.begin(search, self.tree, self.prototype is None)
            if self.pooled is not None:
                guess = partial(_warm_start, self.problem, None, self.budget)
                warm = self.pooled.warm_start(guess, search.master, search.incumbents.separation)
                run.notes.append(self.pooled.note)
            if saved is not None and saved.resumes:
                return False
            name = "start" if self.options.guess is not None else f"{type(self.problem).__name__}.warm_start"
            return search.start(warm, name)

    def _search_tree(self, search: BranchAndPrice, cluster: Cluster | None) -> TreeResult:
        """Search the tree here, in batches of nodes, or on a cluster."""
        parallel, rule = self.options.parallel, self.rule
        relaxation: Relaxation = search
        if cluster is not None:
            width = int(parallel.node_batch) if parallel.node_batch > 1 else WIDTH
            if parallel.free_running and parallel.node_batch == 1:
                width = 2 * max(cluster.count, 1)
            relaxation = OnCluster(
                search,
                self.packed,
                cluster,
                self.tree,
                width=width,
                free=bool(parallel.free_running),
                node_limit=rule.nodes,
            )
        elif self.prototype is not None:
            copies = partial(self.prototype.search, self.budget, self.settings)
            relaxation = InBatches(search, copies, int(parallel.node_batch), self.threads)
        asks = not self.options.relaxation and bool(search.search.heuristics)
        complete = self.method.complete if asks else None
        return branch_and_bound(
            relaxation,
            search.run,
            node_limit=rule.nodes,
            depth_limit=rule.depth,
            on_node=self.options.on_node,
            tree=self.tree,
            complete=None if complete is None else partial(_complete, search, complete),
        )


@dataclasses.dataclass(frozen=True)
class _Recording:
    """A certificate to be written: its file, its certifier, and the witness that collects what the tree proves."""

    path: Path | str
    certifier: Certifier
    witness: Witness = dataclasses.field(default_factory=Witness)

    def write(self, result: Result[Answer]) -> Result[Answer]:
        """Write a result's certificate and return the result with the outcome of its verification."""
        start, processor = time.monotonic(), time.process_time()
        own = result.bound_source == OWN
        ended = FinishedRun(result.sense, result.termination, result.dual_bound, result.solution, result.nodes, own)
        written, remarks = write_verified(self.path, self.certifier, self.witness, ended)
        duration, processor = time.monotonic() - start, time.process_time() - processor
        seconds = {**result.seconds, "certificate": duration, "total": result.seconds["total"] + duration}
        processor += result.processor_seconds
        notes = [*result.notes, *remarks]
        if written.short:
            notes.append(f"Exact arithmetic does not prove the recorded bound of node {written.short[0]}.")
        short = bool(written.short) and result.termination is Termination.OPTIMAL
        termination = Termination.WITHIN_TOLERANCE if short else result.termination
        return dataclasses.replace(
            result, termination=termination, seconds=seconds, processor_seconds=processor, notes=tuple(notes)
        )


@dataclasses.dataclass(frozen=True)
class _Prototype:
    """A problem and its method, copied for each restricted master of a batch of nodes."""

    problem: Problem
    method: Method

    def copy(self) -> _Prototype:
        """Return a deep copy."""
        try:
            return copy.deepcopy(self)
        except Exception as error:  # an object that cannot be copied may raise anything
            raise InputError(
                f"node_batch: each restricted master needs a copy of {type(self.problem).__name__}, but copy.deepcopy "
                f"failed: {type(error).__name__}: {error}"
            ) from error

    def search(self, budget: Budget, settings: Settings) -> BranchAndPrice:
        """Return a branch and price on a copy; its run shares the clock of ``budget`` and has no stop rules."""
        own = self.copy()
        problem = own.problem
        master = restricted_master(problem.master())
        claims = RowClaims(problem, master)
        method = method_of(problem, own.method, claims)
        _set_solver(master, method)
        run = _run(claims, master, AnyOf(), None, budget.apart())
        return _search(claims, master, run, settings, False, method, None)


def _run(
    claims: RowClaims,
    master: RestrictedMaster,
    rule: AnyOf,
    listener: Callable[[Iteration], None] | None,
    budget: Budget,
    relaxation: bool = False,
) -> Run:
    """Return the state of a new run over a master."""
    problem = claims.problem
    return Run(
        master.sense,
        rule,
        None if relaxation else claims.step(stated(problem, "objective_step")),
        listener,
        budget,
        claims.objective,
        stated(problem, "scale") or 0.0,
        master.precision.offset,
        master.precision.cost_rounding,
    )


@contextmanager
def _open_cluster(parallel: Parallel) -> Iterator[Cluster | None]:
    """Yield the cluster that the tree is searched on, or None; a cluster made for this run is closed."""
    if parallel.cluster is None:
        yield None
        return
    cluster, is_mine = open_cluster(parallel.cluster, parallel.workers)
    try:
        yield cluster
    finally:
        if is_mine:
            cluster.close()


def _set_solver(master: RestrictedMaster, method: Method) -> None:
    """Set the linear solver and its options, if given."""
    if method.lp is None and method.lp_options is None:
        return
    linear = as_linear(master)
    if linear is None:
        given = "lp_options" if method.lp is None else "lp"
        raise InputError(f"{given}: expected a linear master, not {type(master).__name__}, which has no LP solver")
    linear.set_solver(method.lp, method.lp_options)


_SHARE = 0.85
"""Largest share of the remaining time for a warm start; the rest is for the round that proves it."""


def _warm_start(problem: Problem, start: Result | WarmStart | None, budget: Budget) -> WarmStart:
    if start is not None:
        return start.warm_start() if isinstance(start, Result) else start
    try:
        guesses = problem.warm_start(budget.cap(_SHARE * budget.seconds_left))
    except OutOfBudget:
        return NOTHING
    return part_of(guesses, WarmStart, problem, "warm_start")


def listening(
    progress: bool | Callable[[Iteration], None], sense: Sense
) -> AbstractContextManager[Callable[[Iteration], None] | None]:
    """Return a context manager that yields a function to call with each round, or None."""
    if progress is False:
        return nullcontext(None)
    context: AbstractContextManager[Callable[[Iteration], None] | None]
    context = import_name("reporting.progress", "listening")(progress, sense)
    return context


def _search(
    claims: RowClaims,
    master: RestrictedMaster,
    run: Run,
    settings: Settings,
    relaxation_only: bool,
    method: Method,
    recording: _Recording | None,
) -> BranchAndPrice:
    problem = claims.problem
    oracles = merge_identical(parts_of(problem.pricing(), Pricing, problem, "pricing"))
    branching: tuple[BranchingRule, ...] = parts_of(problem.branching(), BranchingRule, problem, "branching")
    left_out: list[str] = []
    if not claims.extend("pricing"):
        left_out += ["multiplicities"] if any(math.isfinite(oracle.multiplicity) for oracle in oracles) else []
        oracles = tuple(map(Unlimited, oracles))
    if not claims.extend("branching"):
        valid = tuple(rule for rule in branching if isinstance(rule, OnTemplateVariable))
        left_out += [] if len(valid) == len(branching) else ["branching()"]
        branching = valid
    note = claims.note(*left_out)
    if note is not None and note not in run.notes:
        run.notes.append(note)
    run.check_knows_rows = covers_separation(problem)
    if method.work_shares is not None:
        run.budget.allotment.rule = method.work_shares
    assert method.tolerance is not None  # Problem.method() states both
    assert method.pricing_share is not None
    settings = dataclasses.replace(
        settings,
        clean_up_after=method.clean_up_after,
        tolerance=method.tolerance,
        pricing_share=method.pricing_share,
        pricing_order=method.pricing_order,
    )
    parts = Parts(
        master,
        oracles,
        parts_of(problem.separation(), Separation, problem, "separation"),
        part_of(method.stabilization, Stabilization, problem, "method"),
        run,
        settings,
    )
    search = Search(
        branching,
        parts_of(method.reductions or (), Reduction, problem, "method"),
        part_of(method.enumeration, Enumeration, problem, "method") if method.enumeration else None,
        parts_of(method.heuristics or (), Heuristic, problem, "method"),
        relaxation_only,
        method.rounding,
        part_of(method.choice, Choice, problem, "method"),
        None if recording is None else recording.witness,
        recording is None or not recording.certifier.checks_nodes,
    )
    return BranchAndPrice(parts, search, part_of(method.bounding, Bounding, problem, "method"))


def _complete(search: BranchAndPrice, complete: Callable[[int, Budget], Complete | None], nodes: int) -> None:
    """Solve the complete model with another solver: check its solution, trust its bound."""
    run = search.run
    if run.expired:
        return
    with run.stage("heuristics"):
        outcome = complete(nodes, run.budget)
        if outcome is None:
            return
        switch(search.master, ())
        if outcome.solution is not None:
            with contextlib.suppress(InfeasibleAnswerError):  # feasible within that solver's tolerance only
                search.incumbents.offer_found(outcome.solution, outcome.source)
        run.trust(outcome)


def _result(
    problem: Problem[Answer],
    search: BranchAndPrice,
    run: Run,
    outcome: TreeResult,
    relaxation: bool,
    settings: RunSettings,
) -> Result[Answer]:
    solution = search.root if relaxation else run.incumbent
    termination = outcome.termination
    if termination is Termination.OPTIMAL and not relaxation and not run.is_checked:
        termination = Termination.UNCHECKED
    if termination is Termination.OPTIMAL and relaxation and not search.is_solved(outcome.bound):
        # All open nodes are pruned by the incumbent, which does not give the optimum of the relaxation.
        termination = Termination.NO_BOUND if run.is_checked else Termination.UNCHECKED
    if termination is Termination.INFEASIBLE and search.master.holds_columns and not run.columns_generated:
        run.notes.append(_no_columns_note(search.pricing))
    rows = search.master.rows
    driven = run.columns_generated or rows is None or rows.has_artificials or not search.master.num_rows
    if termination is Termination.OPTIMAL and search.pricing and not driven:
        run.notes.append(
            "No column was used: the template's own variables satisfy all rows. Declare variables that only stand in "
            "for columns with artificial(...), so that they are driven to zero."
        )
    answer = None if solution is None or relaxation else problem.answer(solution)
    pool = search.pool()
    if pool is not None:
        pool.origin = origin_of(problem, search)
    return Result(
        sense=run.sense,
        termination=termination,
        objective=run.sense.hopeless if solution is None else solution.objective,
        dual_bound=outcome.bound,
        solution=solution,
        answer=cast(Answer, answer),
        relaxation=search.root,
        root_bound=run.sense.ideal if search.root_bound is None else search.root_bound,
        iterations=tuple(run.iterations),
        nodes=tuple(outcome.nodes),
        columns_generated=run.columns_generated,
        rows_generated=run.rows_generated,
        seconds=_seconds(run),
        certificate=search.certificate,
        bound_source=outcome.bound_source,
        notes=(*run.notes, *run.budget.warnings),
        pool=pool,
        processor_seconds=run.processor_seconds,
        settings=settings,
    )


def _describe(problem: str, method: Method, rule: AnyOf, parallel: Parallel, relaxation: bool) -> dict[str, str]:
    """Return the settings of a run by name, in words."""
    texts = {"problem": problem, "stop_rules": ", ".join(map(brief, rule.rules)) or "none"}
    if relaxation:
        texts["relaxation"] = "only the root's, to its optimum"
    if parallel != Parallel():
        texts["parallel"] = repr(parallel)
    given = {name: value for name, value in vars(method).items() if value is not None}
    lists = {
        n: ", ".join(map(brief, value)) or "none" for n, value in given.items() if isinstance(value, (tuple, list))
    }
    return texts | {name: lists.get(name) or brief(value) for name, value in given.items()}


def _no_columns_note(pricing: Sequence[Pricing]) -> str:
    """Return a note on a problem that is infeasible although no column was generated."""
    if not pricing:
        return "No column was generated: pricing() returned no oracle, so only the template's variables are available."
    names = ", ".join(oracle.name for oracle in pricing)
    return (
        f"No column was generated: {names} returned no improving column even at zero column costs. Check the sign of "
        "the dual values in the reduced cost c_j - πᵀa_j."
    )


def _empty_result(reason: Termination, budget: Budget, sense: Sense = Sense.MINIMIZE) -> Result:
    """Return the result of a run that a limit ends before the master exists; its sense may be unknown."""
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
        processor_seconds=budget.processor_seconds,
        notes=("The limit was reached before the restricted master and its oracles were set up.",),
    )


def _seconds(run: Run) -> dict[str, float]:
    seconds = dict(run.stage_seconds)
    seconds["total"] = run.seconds
    seconds["compiling"] = run.budget.compiling
    seconds["other"] = max(run.seconds - seconds["compiling"] - sum(run.stage_seconds.values()), 0.0)
    return seconds

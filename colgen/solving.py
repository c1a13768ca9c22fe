"""`solve`, which puts the parts of a problem together."""

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
from colgen.certificate.writing import Ended
from colgen.checkpoint.file import Checkpoint
from colgen.checkpoint.persistence import Checkpointing, PoolStart, origin_of
from colgen.claims import RowClaims, covers_separation
from colgen.core.budget import Budget, OutOfBudget, interruption
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.lazy_imports import behind
from colgen.core.renamed import refuse_old
from colgen.core.result import OWN, Iteration, Result, Termination
from colgen.core.sense import Sense
from colgen.core.signals import held, holding_termination
from colgen.core.solution import Complete
from colgen.core.stop import AnyOf, StopRule
from colgen.core.text import describe, number
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
from colgen.pricing.derived import Unlimited, grouped
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem, codec_of, method_of
from colgen.stabilization import Stabilization
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node import as_diagnostic
from colgen.tree.open_tree import OpenTree
from colgen.tree.parts import Search
from colgen.tree.queues import BestBound, Plunging
from colgen.tree.search import Relaxation, TreeResult, branch_and_bound


@held
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
    """Solve a problem by column generation, and by branch and bound where its relaxation is not integral.

    First the problem's guesses are tried (:meth:`Problem.warm_start`): oracles price once at the guessed dual values,
    and where the bound that they state meets the best answer, the run ends.

    Parameters
    ----------
    problem
        What to solve.
    stop
        A stop rule or several (:mod:`colgen.core.stop`); the first that applies ends the run with the best answer and
        bound so far.
    time_limit
        Seconds: ``time_limit=60`` is short for ``stop=TimeLimit(60)``, and holds beside other stop rules.
    start
        What to start from instead of the problem's own guesses: another run's result, of this problem or of a similar
        one; a :class:`WarmStart`; or a pool, ``result.pool`` or the file that ``result.pool.save`` has written, of the
        same instance or of a changed one.  Each column of a pool is made anew (:meth:`Problem.codec`) and left out
        if it is no column of this instance; where the pool's answer is no answer of this instance, the problem's own
        guesses are used too.  Whatever is given is checked.
    relaxation
        Solve the root's relaxation only, to its exact optimum; the result's solution is then fractional in general.
    progress
        True shows rounds as they come (a live line on a terminal or in a notebook, log lines elsewhere); a callable is
        called with each of them.
    method
        How the problem is solved (:class:`Method`): stabilization, bounding, heuristics, branching and more, instead of
        the problem's own.
    record
        What is kept of the run (:class:`Record`): dual values, a certificate.
    parallel
        Who works on it (:class:`Parallel`): threads, batches of nodes, a cluster.
    checkpoint
        A :class:`Checkpoint`, or the file of one, in which the run is written while it goes on.  If the file is there
        already, the run goes on from it.

    Returns
    -------
    Result
        A limit, an interrupt (Ctrl-C) or an infeasible problem is a termination, not an exception.  An interrupt ends
        the run at its next look at the clock; a second one ends it at once.

    Raises
    ------
    InputError
        Before any work, if an option is out of its domain.
    ColgenError
        Where continuing could end in a wrong answer (see :mod:`colgen.core.errors`).  Whatever is raised carries the
        best result so far as its attribute ``result``.
    """
    refuse_old(solve, old)
    if not isinstance(problem, Problem):
        raise InputError(f"expected a problem to solve, an object of a subclass of Problem, not {describe(problem)}")
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
    return result


class _Solver:
    """One run: a problem, its options, and what they are made into."""

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem, self.options = problem, options
        parallel, record = options.parallel, options.record
        codec_of(problem)  # a wrong one is refused before any work
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
        self.spare: _Spare | None = None
        self.packed = b""
        if parallel.cluster is not None:
            self.spare = _Spare(problem, options.method)
            self.packed = pack(self.spare, self.settings)
        elif parallel.node_batch > 1:
            self.spare = _Spare(problem, options.method).copied()

    def solve(self) -> Result:
        """Return the result of the run."""
        problem, options = self.problem, self.options
        self.warm = NOTHING if self.pooled is not None else _warm(problem, options.guess, self.budget)
        try:
            master = part_of(restricted_master(problem.master()), RestrictedMaster, problem, "master")
            claims = RowClaims(problem, master)
            self.method = method_of(problem, options.method, claims)
        except OutOfBudget as spent:
            return _nothing(spent.reason, self.budget)
        if not claims.hold("warm_start"):  # answers to other rows may be none to these
            self.warm = dataclasses.replace(self.warm, tentative=True)
        if options.record.certificate is not None:
            self.recording = _Recording(options.record.certificate, claims.certifier())
        _suit(master, self.method)
        # On a cluster it is the workers that plunge.
        queue = self.method.queue or (Plunging if options.parallel.cluster is None else BestBound)
        self.tree = OpenTree(master.sense, queue(master.sense))
        terminated = nullcontext() if self.saved is None else holding_termination()
        with (
            listening(options.progress, master.sense) as listener,
            self.threads,
            terminated,
            _clustered(options.parallel) as cluster,
        ):
            run = _run(claims, master, self.rule, listener, self.budget, options.relaxation)
            try:
                search = _search(claims, master, run, self.settings, options.relaxation, self.method, self.recording)
            except OutOfBudget as spent:
                return _nothing(spent.reason, self.budget, master.sense)
            outcome = self._outcome(search, cluster)
            if self.saved is not None:
                if outcome.termination in (Termination.OPTIMAL, Termination.INFEASIBLE):
                    self.tree.close()
                self.saved.close()
        if outcome.bound_source != OWN:
            run.notes.append(
                f"The dual bound is that of {outcome.bound_source}, which is trusted; the tree has proved "
                f"{number(run.global_bound)}."
            )
        made = _result(problem, search, run, outcome, options.relaxation)
        result: Result = part_of(problem.finish(made), Result, problem, "finish")
        return result if self.recording is None else self.recording.written(result)

    def _outcome(self, search: BranchAndPrice, cluster: Cluster | None) -> TreeResult:
        """Search the tree, whatever ends it; errors carry the result so far."""
        run, tree = search.run, self.tree
        try:
            if self._is_closed(search):
                tree.close()
                return TreeResult(Termination.OPTIMAL, run.global_bound, ())
            return self._searched(search, cluster)
        except OutOfBudget as spent:
            return TreeResult(spent.reason, run.global_bound, tree.records)
        except KeyboardInterrupt:
            return TreeResult(interruption(), run.global_bound, tree.records)
        except MemoryError as error:  # a limit like others: of a kernel, or of the machine
            run.notes.append(f"Memory ran out: {str(error) or 'there is no more of it'}.")
            return TreeResult(Termination.MEMORY_LIMIT, run.global_bound, tree.records)
        except Exception as error:
            fault = TreeResult(Termination.FAULT, run.global_bound, tree.records)
            told = as_diagnostic(error)
            for source in (self.saved, self.pooled):
                told = told if source is None else source.explain(told)
            told.result = _result(  # type: ignore[attr-defined]
                self.problem, search, run, fault, self.options.relaxation
            )
            if told is error:
                raise
            raise told from error

    def _is_closed(self, search: BranchAndPrice) -> bool:
        """Resume or start the search; whether the guesses are proved already."""
        run, saved, warm = search.run, self.saved, self.warm
        with run.stage("setup"):
            if saved is not None:
                saved.begin(search, self.tree, self.spare is None)
            if self.pooled is not None:
                guess = partial(_warm, self.problem, None, self.budget)
                warm = self.pooled.warm_start(guess, search.master, search.incumbents.separation)
                run.notes.append(self.pooled.note)
            if saved is not None and saved.resumes:
                return False
            name = "start" if self.options.guess is not None else f"{type(self.problem).__name__}.warm_start"
            return search.start(warm, name)

    def _searched(self, search: BranchAndPrice, cluster: Cluster | None) -> TreeResult:
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
        elif self.spare is not None:
            spare = partial(self.spare.search, self.budget, self.settings)
            relaxation = InBatches(search, spare, int(parallel.node_batch), self.threads)
        asks = not self.options.relaxation and bool(search.search.heuristics)
        complete = self.method.complete if asks else None
        return branch_and_bound(
            relaxation,
            search.run,
            node_limit=rule.nodes,
            depth_limit=rule.depth,
            on_node=self.options.record.on_node,
            tree=self.tree,
            complete=None if complete is None else partial(_complete, search, complete),
        )


@dataclasses.dataclass(frozen=True)
class _Recording:
    """A certificate that is to be written: where, by whom, and who keeps until then what the tree proves."""

    path: Path | str
    certifier: Certifier
    witness: Witness = dataclasses.field(default_factory=Witness)

    def written(self, result: Result[Answer]) -> Result[Answer]:
        """Write a result's certificate, and say of the result what that proves."""
        begun = time.monotonic()
        own = result.bound_source == OWN
        ended = Ended(result.sense, result.termination, result.dual_bound, result.solution, result.nodes, own)
        written, told = write_verified(self.path, self.certifier, self.witness, ended)
        lasted = time.monotonic() - begun
        seconds = {**result.seconds, "certificate": lasted, "total": result.seconds["total"] + lasted}
        notes = [*result.notes, *told]
        if written.short:
            notes.append(f"Exact arithmetic does not prove what is said of node {written.short[0]}.")
        short = bool(written.short) and result.termination is Termination.OPTIMAL
        termination = Termination.WITHIN_TOLERANCE if short else result.termination
        return dataclasses.replace(result, termination=termination, seconds=seconds, notes=tuple(notes))


@dataclasses.dataclass(frozen=True)
class _Spare:
    """A problem, and what it is solved by, of which a copy is made for each restricted master of a batch of nodes."""

    problem: Problem
    method: Method

    def copied(self) -> _Spare:
        """All of it once more, sharing nothing."""
        try:
            return copy.deepcopy(self)
        except Exception as error:  # whatever an object that cannot be copied says of it
            raise InputError(
                f"node_batch: expected a {type(self.problem).__name__} that copy.deepcopy copies for each restricted "
                f"master: {type(error).__name__}: {error}"
            ) from error

    def search(self, budget: Budget, settings: Settings) -> BranchAndPrice:
        """A copy's branch and price, whose own run has the clock of this budget and no other stop rules."""
        mine = self.copied()
        problem = mine.problem
        master = restricted_master(problem.master())
        claims = RowClaims(problem, master)
        method = method_of(problem, mine.method, claims)
        _suit(master, method)
        own = _run(claims, master, AnyOf(), None, budget)
        return _search(claims, master, own, settings, False, method, None)


def _run(
    claims: RowClaims,
    master: RestrictedMaster,
    rule: AnyOf,
    listener: Callable[[Iteration], None] | None,
    budget: Budget,
    relaxation: bool = False,
) -> Run:
    """The state of a run of a problem over a master."""
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
def _clustered(parallel: Parallel) -> Iterator[Cluster | None]:
    """The cluster that the tree is searched on, if any; one that was made for it is closed."""
    if parallel.cluster is None:
        yield None
        return
    cluster, is_mine = open_cluster(parallel.cluster, parallel.workers)
    try:
        yield cluster
    finally:
        if is_mine:
            cluster.close()


def _suit(master: RestrictedMaster, method: Method) -> None:
    """Let a master use the solver that is asked for."""
    if method.lp is None and method.lp_options is None:
        return
    linear = as_linear(master)
    if linear is None:
        given = "lp_options" if method.lp is None else "lp"
        raise InputError(f"{given}: {type(master).__name__} is no linear program, so it has no solver of one")
    linear.set_solver(method.lp, method.lp_options)


_SHARE = 0.85
"""The share of the time that is left which a warm start may take: the rest is for the round that proves it."""


def _warm(problem: Problem, start: Result | WarmStart | None, budget: Budget) -> WarmStart:
    if start is not None:
        return start.warm_start() if isinstance(start, Result) else start
    try:
        found = problem.warm_start(budget.capped(_SHARE * budget.seconds_left))
    except OutOfBudget:
        return NOTHING
    return part_of(found, WarmStart, problem, "warm_start")


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
    claims: RowClaims,
    master: RestrictedMaster,
    run: Run,
    settings: Settings,
    relaxation_only: bool,
    method: Method,
    recording: _Recording | None,
) -> BranchAndPrice:
    problem = claims.problem
    oracles = grouped(parts_of(problem.pricing(), Pricing, problem, "pricing"))
    branching: tuple[BranchingRule, ...] = parts_of(problem.branching(), BranchingRule, problem, "branching")
    left_out: list[str] = []
    if not claims.extend("pricing"):
        left_out += ["multiplicities"] if any(math.isfinite(oracle.multiplicity) for oracle in oracles) else []
        oracles = tuple(map(Unlimited, oracles))
    if not claims.extend("branching"):
        kept = tuple(rule for rule in branching if isinstance(rule, OnTemplateVariable))
        left_out += [] if len(kept) == len(branching) else ["branching()"]
        branching = kept
    note = claims.note(*left_out)
    if note is not None and note not in run.notes:
        run.notes.append(note)
    run.check_knows_rows = covers_separation(problem)
    assert method.tolerance is not None  # Problem.method() states both
    assert method.pricing_share is not None
    settings = dataclasses.replace(
        settings,
        clean_up_after=method.clean_up_after,
        tolerance=method.tolerance,
        pricing_share=method.pricing_share,
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
    """Solve the complete model by another solver: its answer is checked, and its bound is trusted."""
    run = search.run
    if run.expired:
        return
    with run.stage("heuristics"):
        found = complete(nodes, run.budget)
        if found is None:
            return
        switch(search.master, ())
        if found.solution is not None:
            with contextlib.suppress(InfeasibleAnswerError):  # what a solver's tolerance allows may be no answer
                search.incumbents.offer(found.solution, found.source)
        run.trust(found)


def _result(
    problem: Problem[Answer], search: BranchAndPrice, run: Run, outcome: TreeResult, relaxation: bool
) -> Result[Answer]:
    solution = search.root if relaxation else run.incumbent
    termination = outcome.termination
    if termination is Termination.OPTIMAL and not relaxation and not run.is_checked:
        termination = Termination.UNCHECKED
    if termination is Termination.OPTIMAL and relaxation and not search.is_solved(outcome.bound):
        # Nothing open holds a better answer, which is less than an optimum of the relaxation.
        termination = Termination.NO_BOUND if run.is_checked else Termination.UNCHECKED
    if termination is Termination.INFEASIBLE and search.master.holds_columns and not run.columns_generated:
        run.notes.append(_without_columns(search.pricing))
    rows = search.master.rows
    driven = run.columns_generated or rows is None or rows.has_artificials
    if termination is Termination.OPTIMAL and search.pricing and not driven:
        run.notes.append(
            "No column was used: the template's own variables satisfy all rows. Those that only stand in for columns "
            "are declared with artificial(...), which drives them out."
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
    )


def _without_columns(pricing: Sequence[Pricing]) -> str:
    """A note on a problem that is infeasible with no column at all."""
    if not pricing:
        return "No column was generated: pricing() returned no pricing problem, so the template's variables are all."
    names = ", ".join(oracle.name for oracle in pricing)
    return (
        f"No column was generated: {names} returned none that improves, even where columns cost nothing; if there are "
        "any, look at the sign of the dual values in the reduced cost c_j - πᵀa_j."
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

"""`solve`, which puts the parts of a problem together."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, cast

from colgen.bounding.protocol import Bounding, Parts, Settings
from colgen.bounding.run import Run
from colgen.branching.rules import BranchingRule, OnTemplateVariable
from colgen.branching.selection import Choice
from colgen.certificate.certifier import Certifier
from colgen.certificate.verified import write_verified
from colgen.certificate.witness import Witness
from colgen.certificate.writing import Ended, check_replaceable
from colgen.checkpoint.file import EVERY, Saving
from colgen.checkpoint.persistence import Checkpointing, Pooled, origin_of, saving_of
from colgen.core.budget import Budget, OutOfBudget, interruption
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.files import Named, check_distinct
from colgen.core.lazy_imports import behind
from colgen.core.pool import Pool
from colgen.core.result import OWN, Iteration, NodeVisit, Result, Termination
from colgen.core.sense import Sense
from colgen.core.signals import held, holding_termination
from colgen.core.stop import AnyOf, StopRule
from colgen.core.text import number
from colgen.core.tolerances import TOLERANCES
from colgen.core.type_variables import Answer
from colgen.core.warm_start import NOTHING, WarmStart
from colgen.cuts.separation import Separation
from colgen.fixing import Reduction
from colgen.heuristics import Heuristic
from colgen.master.protocol import RestrictedMaster
from colgen.parallel.clusters import Cluster, cluster_of
from colgen.parallel.node_batches import InBatches
from colgen.parallel.subtrees import WIDTH, OnCluster, packed
from colgen.parallel.threads import Threads
from colgen.pricing.identical import grouped
from colgen.pricing.oracles import Pricing
from colgen.pricing.unlimited import Unlimited
from colgen.problem import (
    Problem,
    check_rows_are_solved,
    claim_of,
    claims_left_out,
    keeps_rows,
    knows_rows,
    objective_checked,
    states_rows_anew,
    step_of,
)
from colgen.settings import check_settings, check_stated, part_of, parts_of, rule_of, stated, what
from colgen.stabilization import Stabilization
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.node import as_diagnostic
from colgen.tree.open_tree import OpenTree
from colgen.tree.parts import Search
from colgen.tree.queues import BestBound, NodeQueue, Plunging
from colgen.tree.search import Relaxation, TreeResult, branch_and_bound


@held
def solve(
    problem: Problem[Answer],
    *,
    stop: StopRule | Sequence[StopRule] = (),
    time_limit: float = math.inf,
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
    keep_values: bool = False,
    progress: bool | Callable[[Iteration], None] = False,
    on_node: Callable[[NodeVisit], object] | None = None,
    certificate: Path | str | None = None,
    workers: int | None = None,
    node_batch: int = 1,
    client: Any = None,
    free_running: bool = False,
    checkpoint: Path | str | Saving | None = None,
    every: float = EVERY,
    pool: Path | str | Pool | None = None,
) -> Result[Answer]:
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
    time_limit
        Seconds: ``time_limit=60`` is short for ``stop=TimeLimit(60)``, and holds beside other stop rules.
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
        Which node comes next: a class of :mod:`colgen.tree.queues`, by default ``Plunging``.
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
        ``"xpress"``, ``"cplex"``, ``"soplex"``, ``"glpk"``, ``"clp"``.
    lp_options
        Options of HiGHS for the restricted master's linear programs, by name: ``{"simplex_price_strategy": 1}``.
    tolerance
        A column improves if its reduced cost gains more than this, relative to the scale of the objective.
    keep_duals
        Keep each round's dual values in ``result.iterations``.
    keep_values
        Keep there the restricted master's solution of each round of column generation as well.
    progress
        True shows rounds as they come (a live line on a terminal or in a notebook, log lines elsewhere); a callable is
        given each of them.
    on_node
        Called after each node of the tree, with what became of it, the best answer so far and the bounds.
    certificate
        Write what is proved to this file (compressed if its name ends in ``.gz``), for ``colgen check``.  Where exact
        arithmetic does not reach what the run says, the result is optimal *within tolerance*.
    workers
        So many threads work on the pricing problems of a round: the result is the same for any number of them.
        Oracles that share what they change are not for more than one.
    node_batch
        Evaluate so many open nodes of the tree at once, each over a restricted master and oracles of its own (of a copy
        of the problem).  It is another tree than that of 1, but the same one for any number of workers; stop rules
        other than limits of time and memory look at it between batches.
    client
        Search the tree on a cluster: a ``distributed.Client`` of Dask, a scheduler's address
        (``"tcp://host:8786"``), ``"local"`` for Dask on this machine, ``"processes"`` for processes without it, or any
        :class:`~colgen.parallel.clusters.Cluster`; ``workers`` says how many, where they are of this machine.  The root
        is solved here, then subtrees are sent out, ``node_batch`` of them at once (16).  It is another tree than that
        of one process, but the same one for any number of workers, whichever of them are lost.  The problem travels by
        ``pickle``, and so do columns; a script calls this below ``if __name__ == "__main__":``.
    free_running
        Of subtrees on a cluster none waits for another: faster, and no two runs have the same tree.
    checkpoint
        Write to this file, as the run goes on, what another run needs to go on; if the file is there already, go on
        from it.  Ctrl-C and SIGTERM write a last one.  Answers and columns in the file are checked; its open nodes,
        their bounds and its cuts are what proofs rest on, and are believed.  The file has a checksum and the digest of
        the instance: one that is damaged, or of another instance, is refused (:mod:`colgen.checkpoint.file`).
    every
        Seconds from one checkpoint to the next.
    pool
        Columns, cuts and the answer of another run to start from, of the same instance or of a changed one: a file that
        ``result.pool.save`` has written, or ``result.pool`` itself.  Each column is made anew
        (:meth:`Problem.column_of`) and left out if it is none of this instance.  Where the answer is one of this
        instance, the problem is not asked for guesses of its own.

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
        time_limit=time_limit,
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
        keep_values=keep_values,
        progress=progress,
        on_node=on_node,
        certificate=certificate,
        workers=workers,
        node_batch=node_batch,
        client=client,
        free_running=free_running,
        checkpoint=checkpoint,
        every=every,
        pool=pool,
    )
    check_stated(problem)
    _check_files(certificate, checkpoint, pool, progress)
    pooled = None if pool is None else Pooled(problem, pool)
    saved = None if checkpoint is None else Checkpointing(problem, saving_of(checkpoint, every), relaxation)
    recording = None if certificate is None else _Recording(certificate, claim_of(problem, "certifier")())
    rule = rule_of(stop, time_limit)
    budget = Budget(rule.seconds, rule.bytes)
    budget.workers = threads = Threads(1 if workers is None or client is not None else int(workers))
    settings = Settings(
        stop_early=not relaxation,
        round_early=not relaxation,
        clean_up_after=clean_up_after,
        keep_duals=keep_duals,
        keep_values=keep_values,
        tolerance=tolerance,
        scale=stated(problem, "scale"),
        pricing_share=pricing_share,
    )
    spare = None
    if node_batch > 1 or client is not None:
        spare = _Spare(problem, bounding, stabilization, heuristics, choice, lp, lp_options)
        spare = spare.copied() if client is None else spare
    made = b"" if spare is None or client is None else packed(spare, settings)
    warm = NOTHING if pooled is not None and start is None else _warm(problem, start, budget)
    try:
        master = part_of(problem.restricted_master(), RestrictedMaster, problem, "restricted_master")
    except OutOfBudget as spent:
        return _nothing(spent.reason, budget)
    check_rows_are_solved(problem, master)

    _suit(master, lp, lp_options)
    if queue is None:
        queue = Plunging if client is None else BestBound  # on a cluster it is the workers that plunge
    tree = OpenTree(master.sense, queue(master.sense))
    terminated = nullcontext() if saved is None else holding_termination()
    with listening(progress, master.sense) as listener, threads, terminated, _clustered(client, workers) as cluster:
        run = _run(problem, master, rule, listener, budget, relaxation)
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
                if saved is not None:
                    saved.begin(search, tree, spare is None)
                if pooled is not None:
                    given, guess = None if start is None else warm, partial(_warm, problem, None, budget)
                    warm = pooled.warm_start(given, guess, master, search.answers.separation)
                    run.notes.append(pooled.note)
                resumes = saved is not None and saved.resumes
                closed = not resumes and search.start(
                    warm, f"{type(problem).__name__}.warm_start" if start is None else "start"
                )
            if closed:
                tree.close()
                outcome = TreeResult(Termination.OPTIMAL, run.global_bound, ())
            else:
                seats: Relaxation = search
                if cluster is not None:
                    width = int(node_batch) if node_batch > 1 else WIDTH
                    if free_running and node_batch == 1:
                        width = 2 * max(cluster.count, 1)
                    seats = OnCluster(
                        search, made, cluster, tree, width=width, free=bool(free_running), node_limit=node_limit
                    )
                elif spare is not None:
                    seats = InBatches(search, partial(spare.search, budget, settings), int(node_batch), threads)
                asks = not relaxation and bool(search.search.heuristics)
                outcome = branch_and_bound(
                    seats,
                    run,
                    node_limit=node_limit,
                    depth_limit=depth_limit,
                    on_node=on_node,
                    tree=tree,
                    complete=partial(_complete, problem, search) if asks else None,
                )
        except OutOfBudget as spent:
            outcome = TreeResult(spent.reason, run.global_bound, tree.records)
        except KeyboardInterrupt:
            outcome = TreeResult(interruption(), run.global_bound, tree.records)
        except MemoryError as error:  # a limit like others: of a kernel, or of the machine
            run.notes.append(f"Memory ran out: {str(error) or 'there is no more of it'}.")
            outcome = TreeResult(Termination.MEMORY_LIMIT, run.global_bound, tree.records)
        except Exception as error:
            fault = TreeResult(Termination.FAULT, run.global_bound, tree.records)
            told = as_diagnostic(error)
            for source in (saved, pooled):
                told = told if source is None else source.explained(told)
            told.result = _result(problem, search, run, fault, relaxation)  # type: ignore[attr-defined]
            if told is error:
                raise
            raise told from error
        if saved is not None:
            if outcome.termination in (Termination.OPTIMAL, Termination.INFEASIBLE):
                tree.close()
            saved.close()
    if outcome.bound_source != OWN:
        run.notes.append(
            f"The dual bound is that of {outcome.bound_source}, which is trusted; the tree has proved "
            f"{number(run.global_bound)}."
        )
    result = problem.finished(_result(problem, search, run, outcome, relaxation))
    return result if recording is None else recording.written(result)


def _check_files(certificate: object, checkpoint: object, pool: object, progress: object) -> None:
    """That what a run writes goes into files of their own, over nothing that it reads."""
    checkpoint = checkpoint.path if isinstance(checkpoint, Saving) else checkpoint
    named = (("certificate", certificate), ("checkpoint", checkpoint), ("progress", getattr(progress, "path", None)))
    written: list[Named] = [(name, path) for name, path in named if isinstance(path, (str, Path))]
    if isinstance(checkpoint, (str, Path)):
        written.append(("what is kept of the checkpoint,", f"{checkpoint}~"))
    check_distinct(written, [("pool", pool)] if isinstance(pool, (str, Path)) else [])
    if isinstance(certificate, (str, Path)):
        check_replaceable(certificate)


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
    bounding: Bounding | None
    stabilization: Stabilization | None
    heuristics: Sequence[Heuristic] | None
    choice: Choice | None
    lp: str | None
    lp_options: Mapping[str, Any] | None

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
        master = problem.restricted_master()
        _suit(master, mine.lp, mine.lp_options)
        own = _run(problem, master, AnyOf(), None, budget)
        return _search(
            problem, master, own, settings, False, mine.bounding, mine.stabilization, mine.heuristics, mine.choice, None
        )


def _run(
    problem: Problem,
    master: RestrictedMaster,
    rule: AnyOf,
    listener: Callable[[Iteration], None] | None,
    budget: Budget,
    relaxation: bool = False,
) -> Run:
    """The state of a run of a problem over a master."""
    return Run(
        master.sense,
        rule,
        None if relaxation else step_of(problem, master, stated(problem, "objective_step")),
        listener,
        budget,
        partial(objective_checked, problem),
        stated(problem, "scale") or 0.0,
        master.offset,
        master.cost_rounding,
    )


@contextmanager
def _clustered(client: Any, workers: int | None) -> Iterator[Cluster | None]:
    """The cluster that the tree is searched on, if any; one that was made for it is closed."""
    if client is None:
        yield None
        return
    cluster, is_mine = cluster_of(client, workers)
    try:
        yield cluster
    finally:
        if is_mine:
            cluster.close()


def _suit(master: RestrictedMaster, lp: str | None, lp_options: Mapping[str, Any] | None) -> None:
    """Let a master use the solver that is asked for."""
    if lp is not None:
        master.set_solver(lp)
    if lp_options is not None:
        master.set_options(lp_options)


_SHARE = 0.85
"""The share of the time that is left which a warm start may take: the rest is for the round that proves it."""


def _warm(problem: Problem, start: Result | WarmStart | None, budget: Budget) -> WarmStart:
    if start is not None:
        return start.warm_start() if isinstance(start, Result) else start
    try:
        found = problem.warm_start(budget.capped(_SHARE * budget.seconds_left))
    except OutOfBudget:
        return NOTHING
    found = part_of(found, WarmStart, problem, "warm_start")
    if states_rows_anew(problem, "warm_start"):  # answers of the template may be none
        found = dataclasses.replace(found, tentative=True)
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
    oracles = grouped(parts_of(problem.pricing(), Pricing, problem, "pricing"))
    branching: tuple[BranchingRule, ...] = parts_of(problem.branching(), BranchingRule, problem, "branching")
    left_out: list[str] = []
    inherited = [method for method in ("pricing", "branching") if states_rows_anew(problem, method)]
    if inherited and not keeps_rows(problem, master):
        if "pricing" in inherited:
            left_out += ["multiplicities"] if any(math.isfinite(oracle.multiplicity) for oracle in oracles) else []
            oracles = tuple(map(Unlimited, oracles))
        if "branching" in inherited:
            kept = tuple(rule for rule in branching if isinstance(rule, OnTemplateVariable))
            left_out += [] if len(kept) == len(branching) else ["branching()"]
            branching = kept
    note = claims_left_out(problem, *left_out)
    if note is not None and note not in run.notes:
        run.notes.append(note)
    run.check_knows_rows = knows_rows(problem)
    parts = Parts(
        master,
        oracles,
        parts_of(problem.separation(), Separation, problem, "separation"),
        part_of(problem.stabilization(), Stabilization, problem, "stabilization")
        if stabilization is None
        else stabilization,
        run,
        settings,
    )
    search = Search(
        branching,
        parts_of(claim_of(problem, "reductions")(), Reduction, problem, "reductions"),
        claim_of(problem, "enumeration")(),
        parts_of(claim_of(problem, "heuristics")(), Heuristic, problem, "heuristics")
        if heuristics is None
        else tuple(heuristics),
        relaxation_only,
        claim_of(problem, "sharpen"),
        part_of(problem.choice(), Choice, problem, "choice") if choice is None else choice,
        None if recording is None else recording.witness,
        recording is None or not recording.certifier.checks_nodes,
    )
    if bounding is None:
        bounding = part_of(claim_of(problem, "bounding")(), Bounding, problem, "bounding")
    return BranchAndPrice(parts, search, bounding)


def _complete(problem: Problem, search: BranchAndPrice, nodes: int) -> None:
    """Ask the problem what another solver finds for its complete model: an answer, and a bound that is trusted."""
    run = search.run
    if run.expired:
        return
    with run.stage("heuristics"):
        found = problem.complete(nodes, run.budget)
        if found is None:
            return
        search.master.apply(())
        if found.solution is not None:
            with contextlib.suppress(InfeasibleAnswerError):  # what a solver's tolerance allows may be no answer
                search.answers.take(found.solution, found.source)
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
    if termination is Termination.OPTIMAL and search.pricing and not (run.columns_generated or search.master.is_driven):
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

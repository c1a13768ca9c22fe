"""`Problem`, what a researcher subclasses, and `solve`, which puts the parts together."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import pyomo.environ as pyo
from numpy.typing import ArrayLike

from colgen.bounds.column_generation import Settings
from colgen.bounds.fixing import Reduction
from colgen.bounds.run import Run
from colgen.bounds.stabilization import Stabilization, Wentges
from colgen.core.budget import Budget, OutOfBudget, holding_signals
from colgen.core.columns import Column
from colgen.core.doors import behind
from colgen.core.errors import InputError
from colgen.core.proof import Proof
from colgen.core.result import Iteration, Result, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.stop import AnyOf, StopRule
from colgen.core.tolerances import TOLERANCES
from colgen.cuts.separation import Separation
from colgen.master.linear import LinearMaster
from colgen.master.protocol import RestrictedMaster
from colgen.model.formulation import Formulation, FormulationCache, compile_model
from colgen.pricing.oracles import Pricing
from colgen.settings import check_settings, what
from colgen.tree.branch_and_price import BranchAndPrice
from colgen.tree.branching import BranchingRule
from colgen.tree.enumeration import Enumeration
from colgen.tree.heuristics import Heuristic, RestrictedMIP
from colgen.tree.search import NodeQueue, Relaxation, TreeResult, branch_and_bound

_SHAPES = FormulationCache()


class Problem(ABC):
    """A problem for column generation: a master stated in Pyomo, oracles, and whatever else it has.

    Subclasses write :meth:`master` and :meth:`pricing`; the other methods have defaults that add nothing.

    Attributes
    ----------
    objective_step
        Every answer's objective is a multiple of this (1 where the objective counts things): dual bounds are rounded to
        it.  None if nothing of the kind is known.
    """

    objective_step: float | None = None

    sense: Sense | None = None
    """Stated by a problem whose nodes are bounded by :meth:`relaxation`; otherwise that of the master's objective."""

    scale: float | None = None
    """What differences of objectives are relative to, a power of two (:func:`colgen.core.tolerances.power_of_two`);
    None: a linear master finds out by itself, and elsewhere they are relative to the objectives."""

    def relaxation(self, run: Run) -> Relaxation:
        """Where the bounds of the nodes come from, if not from column generation: asked of problems that state a sense.

        It offers answers to ``run`` as solutions, whose columns carry the structures that :meth:`answer` reads.
        """
        raise NotImplementedError(f"{type(self).__name__} states a sense, so it must define relaxation(run)")

    def master(self) -> pyo.ConcreteModel:
        """The master's rows as a Pyomo model, with artificial variables that can satisfy them; columns come later."""
        raise NotImplementedError(
            f"{type(self).__name__} must define master(), or formulation() or restricted_master()"
        )

    def shape(self) -> Hashable | None:
        """What the matrix of :meth:`master` depends on, if that is little; None: it is compiled for each problem.

        Masters of one class and shape are compiled once and given this problem's numbers by :meth:`data`.  A subclass
        that states another :meth:`master` says anew what its shape is: its parent's is not asked.
        """
        return None

    def data(self) -> Mapping[str, Mapping[str, ArrayLike]]:
        """The numbers of this problem in a master of its shape: arguments of :meth:`Formulation.with_data`."""
        return {}

    def formulation(self) -> Formulation:
        """The compiled master."""
        shape = self.shape() if _states_last(self, "shape", "master") else None
        if shape is None:
            return compile_model(self.master())
        return _SHAPES.get(shape, self.master).with_data(**self.data())

    def restricted_master(self) -> RestrictedMaster:
        """The restricted master problem; override for one that is not a linear program."""
        return LinearMaster(self.formulation())

    def pricing(self) -> Pricing | Sequence[Pricing]:
        """The pricing problem, or all of them."""
        return ()

    def separation(self) -> Sequence[Separation]:
        """Where violated rows come from."""
        return ()

    def stabilization(self) -> Stabilization:
        """Which duals to price at: Wentges smoothing with the automatic parameter, unless overridden."""
        return Wentges()

    def branching(self) -> Sequence[BranchingRule]:
        """Branching rules, asked in order until one applies."""
        return ()

    def reductions(self) -> Sequence[Reduction]:
        """Reduced-cost fixing at the nodes."""
        return ()

    def enumeration(self) -> Enumeration | None:
        """Column enumeration at the nodes."""
        return None

    def heuristics(self) -> Sequence[Heuristic]:
        """Primal heuristics, run in order."""
        return (RestrictedMIP(),)

    def initial_columns(self) -> Iterable[Column]:
        """Columns to start from, each one that an oracle could return."""
        return ()

    def initial_duals(self) -> Mapping[str, ArrayLike] | None:
        """A guess at optimal dual values, ``{block: values}``, from which smoothing starts; any guess is valid."""
        return None

    def initial_answers(self) -> Iterable[Solution]:
        """Whole solutions to start from: the best becomes the first incumbent.

        Their columns join the initial columns.
        """
        return ()

    def initial_proof(self, budget: Budget) -> Proof | None:
        """An answer and a bound that another method has found, asked for before there is a restricted master.

        Where they meet, no round is needed.  Where they do not, the answer is the first incumbent, its columns join the
        initial columns, and the bound is the first bound on all answers.  A method that can last looks at ``budget``.
        """
        return None

    def answer(self, solution: Solution) -> Any:
        """A whole solution in the problem's own terms; by default ``[(structure, value), ...]``."""
        return [(column.structure, value) for column, value in solution.columns]

    def check(self, answer: Any) -> float | None:
        """The objective of an answer, recomputed from the instance alone.

        The engine holds every incumbent against it, wherever it comes from.  None, the default, says nothing: the rows
        and bounds of a linear master are then recomputed from the columns; where the master is no linear program,
        nothing can be called optimal.

        Parameters
        ----------
        answer
            What :meth:`answer` returns.

        Raises
        ------
        InfeasibleAnswerError
            If it is not an answer; the message says why.
        """
        return None


def _states_last(problem: Problem, name: str, other: str) -> bool:
    """Whether a method is stated by the class that states another one, or by a subclass of that."""
    if name in vars(problem) or other in vars(problem):
        return name in vars(problem)
    order = type(problem).__mro__
    where = {method: next(k for k, kind in enumerate(order) if method in vars(kind)) for method in (name, other)}
    return where[name] <= where[other]


def _answer_to_check(problem: Problem, solution: Solution) -> Any:
    """An answer as the class that states ``check`` knows it: a subclass may show answers in another form."""
    if "check" in vars(problem) or _states_last(problem, "check", "answer"):
        return problem.answer(solution)
    order = type(problem).__mro__
    first = next(k for k, kind in enumerate(order) if "check" in vars(kind))
    stating = next(kind for kind in order[first:] if "answer" in vars(kind))
    return vars(stating)["answer"](problem, solution)


def solve(
    problem: Problem,
    *,
    stop: StopRule | Sequence[StopRule] = (),
    relaxation: bool = False,
    stabilization: Stabilization | None = None,
    heuristics: Sequence[Heuristic] | None = None,
    queue: Callable[[Sense], NodeQueue] | None = None,
    node_limit: int | None = None,
    depth_limit: int | None = None,
    clean_up_after: int | None = None,
    tolerance: float = TOLERANCES.reduced_cost,
    keep_duals: bool = False,
    progress: bool | Callable[[Iteration], None] = False,
) -> Result:
    """Solve a problem by column generation, and by branch and bound where its relaxation is not whole.

    A problem that states its sense is solved by branch and bound alone, over the relaxation that it brings; settings
    that speak of columns or duals then mean nothing.

    Parameters
    ----------
    problem
        What to solve.
    stop
        A stop rule or several (:mod:`colgen.core.stop`); whichever speaks first ends the run with the best answer and
        bound so far.
    relaxation
        Solve the root's relaxation only, to its exact optimum; the result's solution is then fractional in general.
    stabilization
        Instead of the problem's own.
    heuristics
        Instead of the problem's own.
    queue
        Which node comes next: a class of :mod:`colgen.tree.search`, by default ``Plunging``.
    node_limit, depth_limit
        Of the branch-and-bound tree.
    clean_up_after
        Delete columns that have not improved for so many solves; None keeps all.
    tolerance
        A column improves if its reduced cost gains more than this, relative to the scale of the objective.
    keep_duals
        Keep each round's dual values in ``result.iterations``.
    progress
        True shows rounds as they come (a live line on a terminal, log lines elsewhere); a callable is given each of
        them.

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
        relaxation=relaxation,
        stabilization=stabilization,
        heuristics=heuristics,
        queue=queue,
        node_limit=node_limit,
        depth_limit=depth_limit,
        clean_up_after=clean_up_after,
        tolerance=tolerance,
        keep_duals=keep_duals,
        progress=progress,
    )
    if problem.sense is not None and relaxation:
        raise InputError(
            f"{type(problem).__name__} brings its own relaxation, which is not solved on its own: node_limit=1 stops "
            "after the root"
        )
    rule = AnyOf(*((stop,) if callable(stop) else stop))
    with holding_signals():
        budget = Budget(rule.seconds, rule.bytes)
        try:
            proof = problem.initial_proof(budget)
        except OutOfBudget:
            proof = None

        def check(solution: Solution) -> float | None:
            return problem.check(_answer_to_check(problem, solution))

        if proof is not None and proof.is_closed:
            run = Run(proof.sense, rule, problem.objective_step, None, budget, check, problem.scale or 0.0)
            if run.offer(proof.solution, None, f"{type(problem).__name__}.initial_proof") and run.is_checked:
                return _proved(problem, proof, run, relaxation)
        if proof is not None and budget.expired:  # nothing is built for a run that is over
            return _cut_short(problem, proof, Run(proof.sense, rule, None, None, budget, check), relaxation)
        try:
            master = problem.restricted_master() if problem.sense is None else None
        except OutOfBudget:
            if proof is None:
                raise
            return _cut_short(problem, proof, Run(proof.sense, rule, None, None, budget, check), relaxation)
        sense = problem.sense if master is None else master.sense
        assert sense is not None
        with behind("reporting.progress", "listening")(progress, sense) as listener:
            run = Run(
                sense,
                rule,
                None if relaxation else problem.objective_step,
                listener,
                budget,
                (lambda solution: None) if relaxation else check,
                problem.scale or 0.0,
            )
            if master is None:
                search = problem.relaxation(run)
            else:
                search = _branch_and_price(
                    problem,
                    master,
                    run,
                    heuristics=heuristics,
                    stabilization=stabilization,
                    settings=Settings(
                        stop_early=not relaxation,
                        round_early=not relaxation,
                        clean_up_after=clean_up_after,
                        keep_duals=keep_duals,
                        tolerance=tolerance,
                        scale=problem.scale,
                    ),
                    relaxation_only=relaxation,
                )
            try:
                with run.stage("setup"):
                    proved = _start(problem, search, master, run, proof)
                if proved and proof is not None:
                    return _proved(problem, proof, run, relaxation)
                outcome = branch_and_bound(
                    search,
                    run,
                    queue=None if queue is None else queue(sense),
                    node_limit=node_limit,
                    depth_limit=depth_limit,
                )
            except OutOfBudget as spent:
                outcome = TreeResult(spent.reason, run.global_bound, ())
            except KeyboardInterrupt:
                outcome = TreeResult(Termination.INTERRUPTED, run.global_bound, ())
            except Exception as error:
                fault = TreeResult(Termination.FAULT, run.global_bound, ())
                error.result = _result(problem, search, run, fault, relaxation)  # type: ignore[attr-defined]
                raise
        return _result(problem, search, run, outcome, relaxation)


def _branch_and_price(
    problem: Problem,
    master: RestrictedMaster,
    run: Run,
    *,
    heuristics: Sequence[Heuristic] | None,
    stabilization: Stabilization | None,
    settings: Settings,
    relaxation_only: bool,
) -> BranchAndPrice:
    oracles = problem.pricing()
    return BranchAndPrice(
        master,
        (oracles,) if isinstance(oracles, Pricing) else tuple(oracles),
        tuple(problem.separation()),
        tuple(problem.branching()),
        tuple(problem.reductions()),
        problem.enumeration(),
        tuple(problem.heuristics() if heuristics is None else heuristics),
        problem.stabilization() if stabilization is None else stabilization,
        run,
        settings,
        relaxation_only,
        problem.initial_duals(),
    )


def _start(
    problem: Problem, search: Relaxation, master: RestrictedMaster | None, run: Run, proof: Proof | None
) -> bool:
    """Take in what the problem knows before the first round; whether that is a proof of an answer that was checked."""
    name = type(problem).__name__
    if proof is not None:
        if master is not None:
            master.add([column for column, _ in proof.solution.columns])
        search.take(proof.solution, f"{name}.initial_proof")
        run.prove(proof.bound)
        if proof.is_closed and run.incumbent is not None and run.is_checked:
            return True
    for solution in problem.initial_answers():
        if master is not None:
            master.add([column for column, _ in solution.columns])
        search.take(solution, f"{name}.initial_answers")
    if master is not None:
        master.add(list(problem.initial_columns()))
    return False


def _proved(problem: Problem, proof: Proof, run: Run, relaxation: bool) -> Result:
    """The result of a run that a proof beforehand has decided."""
    solution = run.incumbent
    assert solution is not None
    return Result(
        sense=proof.sense,
        termination=Termination.OPTIMAL,
        objective=solution.objective,
        dual_bound=proof.bound,
        solution=solution,
        answer=None if relaxation else problem.answer(solution),
        relaxation=solution,
        root_bound=proof.bound,
        iterations=(),
        nodes=(),
        columns_generated=0,
        rows_generated=0,
        seconds=_seconds(run),
        certificate=proof.certificate,
    )


def _cut_short(problem: Problem, proof: Proof, run: Run, relaxation: bool) -> Result:
    """The result of a run whose budget was spent before there was a master."""
    run.offer(proof.solution, None, f"{type(problem).__name__}.initial_proof")
    run.prove(proof.bound)
    solution = run.incumbent
    assert solution is not None
    return Result(
        sense=proof.sense,
        termination=run.budget.reason or Termination.TIME_LIMIT,
        objective=proof.sense.hopeless if relaxation else solution.objective,
        dual_bound=run.global_bound,
        solution=None if relaxation else solution,
        answer=None if relaxation else problem.answer(solution),
        relaxation=None,
        root_bound=proof.bound,
        iterations=(),
        nodes=(),
        columns_generated=0,
        rows_generated=0,
        seconds=_seconds(run),
    )


def _result(problem: Problem, search: Relaxation, run: Run, outcome: TreeResult, relaxation: bool) -> Result:
    solution = search.root if relaxation else run.incumbent
    termination = outcome.termination
    if termination is Termination.OPTIMAL and not relaxation and not run.is_checked:
        termination = Termination.UNCHECKED
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
        notes=tuple(run.notes),
    )


def _seconds(run: Run) -> dict[str, float]:
    seconds = dict(run.stage_seconds)
    seconds["total"] = run.seconds
    seconds["other"] = max(run.seconds - sum(run.stage_seconds.values()), 0.0)
    return seconds

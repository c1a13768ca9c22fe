"""Head automata on the engine: multipliers are guessed by an ascent, one oracle call at them proves a bound.

:mod:`colgen.problems.grandparent_parsing.kernels.second_order` has both.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from colgen import (
    BranchingRule,
    Column,
    Decision,
    InputError,
    Method,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    Result,
    Sense,
    Solution,
    Termination,
)
from colgen.bounding.guesses import Proved, prove, record
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.columns import Key
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.warm_start import WarmStart
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.problems.dependency.decisions import ArcDecision, NoBetter
from colgen.problems.dependency.exact import TreeScores
from colgen.problems.dependency.pool import check_k
from colgen.problems.dependency.proof import TreeCertifier
from colgen.problems.dependency.sentence import Heads, check_tree, is_projective
from colgen.problems.grandparent_parsing.instance import (
    Floats,
    GrandparentInstance,
    Ints,
    Mask,
    PartScores,
    allowed,
    allowed_trees,
    as_heads,
    dense_scores,
    from_scores,
    has_siblings,
    identity_of_scores,
    refuse_pairs,
    tree_objective,
    wants_projective,
)
from colgen.problems.grandparent_parsing.kernels import tree_parts
from colgen.problems.grandparent_parsing.kernels.automata_dual import EPSILON, marginals
from colgen.problems.grandparent_parsing.kernels.deadlines import watching
from colgen.problems.grandparent_parsing.kernels.head_automata import Automata
from colgen.problems.grandparent_parsing.kernels.second_order import (
    Candidates,
    ascend,
    bound_at,
    first_candidates,
)
from colgen.problems.grandparent_parsing.standard import StandardScores, is_single_root, standard_scores
from colgen.problems.grandparent_parsing.tree_list import TreeList, first_order
from colgen.problems.grandparent_parsing.work import Work, is_plain, laid_out
from colgen.solvers.compiling import working_clock
from colgen.solvers.trees.backbone import TreeTimeError

WIDTH = 2
"""Candidate heads a modifier at the start."""

ITERATIONS = 100
"""Of an ascent, for each set of candidate arcs; four times as many once no other arc matters."""

ROUNDS = 20
"""At most so often are arcs added at a node."""

NODE_ITERATIONS = 200

TARGET_ITERATIONS = 50
"""Of an ascent over candidates that trees better than the best known may need, before the node is branched on."""


PROJECTIVE_SIZE = 100
"""For so many vertices arcs are added once more, where one projective tree is wanted."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Dual values: λ and μ of the copies of candidate arcs, by head and modifier, shape (n + 1, n + 1) each.

    Attributes
    ----------
    candidates
        Arcs whose parts are all looked at; the others are priced.
    leaving, entering
        λ and μ; numbers where an arc is a candidate.
    target
        Trees with other arcs are to be proved no better than this; +inf: no better than the others may be.
    left
        Arcs of a few trees, or of one: all others have an arc that is none of these.  None: nobody has chosen any.
    """

    candidates: Mask
    leaving: Floats
    entering: Floats
    target: float = math.inf
    left: Mask | None = None

    @property
    def copies(self) -> Candidates:
        """What kernels take of these."""
        return Candidates(self.candidates, self.leaving, self.entering)

    def extended(self, others: Mask, arcs: Floats) -> Multipliers:
        """Of these and other arcs, as far as they are there: arrays of their own."""
        candidates = (self.candidates | others) & (arcs > -math.inf)
        return Multipliers(
            candidates, np.where(candidates, self.leaving, 0.0), np.where(candidates, self.entering, 0.0)
        )


class AutomataParsing(Problem):
    """The best tree of arcs, grandparent parts and consecutive sibling parts, without a linear program.

    The answer is the head of each token; with ``k`` > 1 a list of such trees, best first (all of them where there are
    fewer than k), and the result's objective and bound speak of the last.

    *Several trees.*  The incumbent is the k-th best tree that is known, and bounds speak of the trees that are not
    among these: what no better tree has is given up as it is for one, all trees of the arcs that are left are looked
    at where they are few, and where they are not the node is split by an arc that is required in one half and forbidden
    in the other (Lawler, 1972, with two sets in the place of n).

    *Projective trees.*  Bounds on all trees hold for these.  Where the best of all is not projective, a dynamic program
    (:mod:`colgen.solvers.trees.eisner_grandsibling`) over all arcs is exact; or, of long sentences and where several
    trees are wanted, over those that are left once arcs that no tree better than the best projective ones known has are
    given up.

    Parameters
    ----------
    scores
        See :func:`colgen.problems.grandparent_parsing.parser.parse`.
    single_root
        Whether exactly one token must hang from the root; by default what the scores say.
    projective
        Whether the tree must be projective; by default what the scores say.
    k
        How many trees are wanted.

    Attributes
    ----------
    iterations, rounds, candidates
        Of the Lagrangian, how often arcs were priced, and candidate arcs of the last ascent, so far.
    listed
        The best trees so far, where several are wanted or they have to be projective; None elsewhere.
    """

    def __init__(
        self, scores: PartScores, *, single_root: bool | None = None, projective: bool | None = None, k: int = 1
    ) -> None:
        refuse_pairs(scores, type(self).__name__)
        self.scores, self.k = scores, check_k(k)
        self._limit = self.k if self.k == 1 else check_k(self.k, np.asarray(scores.arcs) > -math.inf)
        self.single_root = is_single_root(scores) if single_root is None else single_root
        self.projective = wants_projective(scores) if projective is None else projective
        self.iterations = self.rounds = self.candidates = 0
        self.listed: TreeList | None = None
        self._work: Work | None = None
        self._best: _Best | None = None
        self._worth: dict[Heads, float] = {}

    @cached_property
    def standard(self) -> StandardScores:
        """The scores without what all trees have in common."""
        return standard_scores(self.scores, single_root=self.single_root)

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The unit of the scores."""
        return self.standard.unit

    @property
    def identity(self) -> Any:
        """The scores, and which trees are wanted."""
        return identity_of_scores(self.scores), self.single_root, self.projective, self.k

    def master(self) -> LagrangianMaster:
        return LagrangianMaster(Sense.MAXIMIZE, lambda duals: self.standard.constant)

    def pricing(self) -> Pricing:
        return BestAutomataTree(self)

    def method(self) -> Method:
        return Method(bounding=AutomataAscent(self))

    def branching(self) -> Sequence[BranchingRule]:
        return (OnCandidates(),)

    def warm_start(self, budget: Budget) -> WarmStart:
        self.listed = self._best = None
        with watching(lambda: budget.expired):
            duals, feasible = self.first_multipliers(budget)
            if not feasible:
                return WarmStart(duals)
            arcs, known = self.prepare(budget).arcs, np.zeros_like(duals.candidates)
            tree, score = self.ascended(arcs, duals, known, -math.inf, None, ITERATIONS)
            if self.wants_list:
                duals = self._list(duals, tree, score)
                return WarmStart(duals, (self.list_solution(),) if self.listed and self.listed.pool.is_full else ())
        return WarmStart(duals, () if tree is None else (self.solution(tree, score),))

    def first_multipliers(self, budget: Budget) -> tuple[Multipliers, bool]:
        """Zeros over the first candidate arcs, and whether these have a tree."""
        work = self.prepare(budget)
        candidates, feasible = first_candidates(work.arcs, work.bounds, self.single_root, WIDTH)
        zeros = np.zeros(candidates.shape)
        return Multipliers(candidates, zeros, zeros.copy()), feasible

    @property
    def wants_list(self) -> bool:
        """Whether several trees are wanted, or not all trees are."""
        return self.k > 1 or self.projective

    def begin_list(self, duals: Multipliers, incumbent: Solution | None, budget: Budget) -> Multipliers:
        """What the warm start would have listed, where it was not asked, and trees that are known."""
        work = self.prepare(budget)
        with watching(lambda: budget.expired):
            duals = self._list(duals, None, -math.inf)
        assert self.listed is not None
        if incumbent is not None:
            known: Any = incumbent.columns[0][0].structure
            for heads in known if self.k > 1 else [known]:
                self.listed.pool.add(heads, -tree_objective(work.standard.as_given, heads))
        return duals

    def _list(self, duals: Multipliers, tree: Ints | None, score: float) -> Multipliers:
        """Find k trees, beginning with one of an ascent; multipliers, with those of other arcs that these have."""
        assert self._work is not None
        self.listed = TreeList(self._limit, projective=self.projective, single_root=self.single_root)
        self._best = _Best(None if tree is None else tree.copy(), score)
        try:
            duals = duals.extended(self.listed.fill(self._work, duals.candidates, tree), self._work.arcs)
            given = self._work.standard
            if given.floor > -math.inf and self.listed.pool.is_full:
                # Scores were raised beside the best tree known; the k-th best may have what that has not.
                last = self.listed.pool.last
                standard = standard_scores(given.given, single_root=self.single_root, known=last)
                work = self._work = Work(standard, *laid_out(standard))
                tree, score = self.ascended(work.arcs, duals, duals.candidates, -math.inf, None, ITERATIONS)
                self._best = _Best(tree, score)
                duals = duals.extended(self.listed.fill(work, duals.candidates, tree), work.arcs)
        except TreeTimeError:
            pass
        return duals

    def prepare(self, budget: Budget) -> Work:
        """The parts and their bounds, laid out for kernels; those of a class of one's own are all scored first."""
        if self._work is None:
            standard = self.standard
            if not isinstance(self.scores, GrandparentInstance) and not is_plain(self.scores):
                dense = dense_scores(self.scores, single_root=self.single_root, expired=lambda: budget.expired)
                if dense is None:
                    raise OutOfBudget(budget.reason or Termination.TIME_LIMIT)
                standard = standard_scores(dense, single_root=self.single_root)
            self._work = Work(standard, *laid_out(standard))
        return self._work

    def ascended(
        self, arcs: Floats, duals: Multipliers, known: Mask, lower: float, best: Ints | None, iterations: int
    ) -> tuple[Ints | None, float]:
        """Bring multipliers down, in place; the best tree known, heads of all vertices, and its standard score."""
        assert self._work is not None
        work = self._work
        heads = np.full(len(arcs), -1) if best is None else best
        found, taken = ascend(
            duals.copies,
            known,
            arcs,
            work.parts,
            lower,
            heads,
            iterations,
            self.single_root,
            work.standard.unit,
        )
        self.iterations += taken
        self.candidates = int(duals.candidates.sum())
        return (None if found == -math.inf else heads), found

    def best_known(self, incumbent: Solution | None, node: int) -> _Best:
        """A tree that an ascent is to be better than; at the root the best of all, be it wanted or not."""
        if self.listed is None:
            return _Best.of(self, incumbent)
        if node == 0 and self._best is not None:
            return replace(self._best)
        return _Best(self.listed.last if self.listed.pool.trees else None, self.listed.least)

    def marginals(self, duals: Multipliers, arcs: Floats) -> tuple[Automata, Floats]:
        """The candidate arcs at a node, and the most that a tree of them with each is worth."""
        assert self._work is not None
        a = tree_parts.automata_of(duals.candidates & (arcs > -math.inf), arcs, self._work.parts)
        leaving, entering = duals.leaving[a.heads, a.modifiers], duals.entering[a.heads, a.modifiers]
        return a, marginals(a, leaving, entering, self.single_root)

    def solution(self, vertices: Ints, score: float) -> Solution:
        """A tree, heads of all vertices, as an answer that is worth what the kernels say: the engine checks that."""
        heads, standard = as_heads(vertices), self.standard
        raised = standard.floor > -math.inf  # its parts may be worth less than kernels know
        return tree_solution(heads, tree_objective(self.scores, heads) if raised else score + standard.constant)

    def list_solution(self) -> Solution:
        """The trees of the list as an answer that is worth the last."""
        assert self.listed is not None
        pool = self.listed.pool
        score = tree_objective(self.scores, pool.last)
        if self.k == 1:
            return tree_solution(pool.last, score)
        trees = tuple(pool.trees)
        return Solution(score, ((Column(score, {}, trees, ("trees", trees)), 1.0),))

    def answer(self, solution: Solution) -> Heads | list[Heads]:
        structure: Any = solution.columns[0][0].structure
        if self.k == 1:
            heads: Heads = structure
            return heads
        # A better tree above the k-th moves no objective: the list knows of it, the incumbent does not.
        return list(structure if self.listed is None else self.listed.pool.trees)

    def finish(self, result: Result) -> Result:
        if self.k == 1:
            return allowed(self.scores, result)
        return allowed_trees(self.scores, result)

    def certifier(self) -> Certifier:
        if self.k > 1 or has_siblings(self.scores):  # not what the checker knows
            return super().certifier()

        def scores() -> TreeScores:
            given = self.scores
            instance = given if isinstance(given, GrandparentInstance) else from_scores(given, siblings=False)
            return TreeScores(instance.arcs, instance.grandparent_scores, (), self.single_root, self.projective)

        return TreeCertifier(getattr(self.scores, "name", ""), scores, self.answer)  # type: ignore[arg-type]

    def check(self, answer: Heads | list[Heads]) -> float:
        """The score of a tree, or the last of several, recomputed from the user's scores after checking what they are.

        Raises
        ------
        InfeasibleAnswerError
            If one is no tree of those wanted, stands there twice or after a worse one, or if there are fewer than k
            although there are more.
        """
        if self.k == 1:
            return self._checked(answer)  # type: ignore[arg-type]
        trees: list[Heads] = list(answer)  # type: ignore[arg-type]
        if not 0 < len(trees) <= self.k:
            raise InfeasibleAnswerError(f"expected {self.k} trees, there are {len(trees)}")
        if len(set(trees)) < len(trees):
            raise InfeasibleAnswerError("a tree is there twice")
        for heads in trees:
            if heads not in self._worth:
                self._worth[heads] = self._checked(heads)
        scores = [self._worth[heads] for heads in trees]
        for number, (better, worse) in enumerate(itertools.pairwise(scores), 2):
            if worse - better > self.standard.slack(worse - self.standard.constant):
                raise InfeasibleAnswerError(f"tree {number} scores {worse:g}, the one before it only {better:g}")
        if len(trees) < self.k:
            there = np.where(self.scores.arcs > -math.inf, 0.0, -math.inf)
            if len(first_order(there, len(trees) + 1, self.projective, self.single_root)) > len(trees):
                raise InfeasibleAnswerError(f"expected {self.k} trees, there are {len(trees)} although there are more")
        return scores[-1]

    def _checked(self, heads: Heads) -> float:
        try:
            check_tree(heads, len(self.scores), single_root=self.single_root)
        except InputError as error:
            raise InfeasibleAnswerError(str(error)) from error
        if self.projective and not is_projective(heads):
            raise InfeasibleAnswerError("the tree is not projective")
        score = tree_objective(self.scores, heads)
        if score == -math.inf:
            raise InfeasibleAnswerError("the tree has an arc that is no candidate")
        return score

    @property
    def scored(self) -> tuple[int, int]:
        """Grandparent parts and sibling parts that were scored."""
        return (0, 0) if self._work is None else (int(self._work.parts.scored[0]), int(self._work.parts.scored[1]))


def tree_solution(heads: Heads, score: float) -> Solution:
    """A tree as the engine's answer: one column that stands for it."""
    return Solution(score, ((Column(score, {}, heads, ("tree", heads)), 1.0),))


class BestAutomataTree(Pricing):
    """The bound on all trees at multipliers: arborescence, head automata, and prices of the arcs outside.

    Attributes
    ----------
    short
        After the last call: arcs that have to become candidates; None before any.
    """

    multiplicity = 1.0

    def __init__(self, problem: AutomataParsing) -> None:
        self.problem = problem
        self.short: Mask | None = None

    def price(self, duals: Multipliers | None, context: PricingContext) -> PricingResult:  # type: ignore[override]
        problem, listed = self.problem, self.problem.listed
        with watching(lambda: context.budget.expired):
            work = problem.prepare(context.budget)
            if listed is not None and listed.is_complete:  # no tree is none of these
                self.short = np.zeros_like(work.arcs, dtype=np.bool_)
                return PricingResult(total=listed.least)
            if duals is None:
                return PricingResult(total=work.standard.bound)
            arcs, bounds = work.usable(context.decisions), work.bounds
            if listed is not None and _holds_all(duals.left, arcs):
                return self._by_looking(duals, arcs, context)
            if context.decisions:  # maxima over the arcs of a node say nothing of other nodes
                bounds = bounds.copied()
            bound, short, _, _ = bound_at(
                duals.copies,
                arcs,
                bounds,
                work.parts,
                problem.single_root,
                duals.target,
                work.standard.unit,
            )
            problem.rounds += 1
            self.short = short
            proved = bound < math.inf and not short.any()
            try:
                if proved and -math.inf < bound and duals.target < bound:
                    bound = max(duals.target, min(bound, self._by_arcs(duals, arcs)))
            except TreeTimeError:
                proved = False
        if proved:
            return PricingResult(total=bound)
        # Bounds of single arcs are for runs that may have to end with them.
        limited = context.deadline < math.inf or context.budget.expired
        return PricingResult(total=work.standard.bound if limited else None, cut_off=context.budget.expired)

    def _by_looking(self, duals: Multipliers, arcs: Floats, context: PricingContext) -> PricingResult:
        """What all trees are worth that are not listed then: multipliers say nothing here."""
        problem = self.problem
        assert problem.listed is not None
        assert problem._work is not None
        assert duals.left is not None
        self.short, self.priced = np.zeros_like(duals.candidates), duals
        try:
            return PricingResult(total=problem.listed.within(problem._work, duals.left, arcs))
        except TreeTimeError:
            return PricingResult(total=problem._work.standard.bound, cut_off=True)

    def _by_arcs(self, duals: Multipliers, arcs: Floats) -> float:
        """No tree of candidates is better than the best arc into each modifier, nor than the best that ``left`` lacks.

        The trees of ``left`` themselves are looked at.  With one of them this comes down where multipliers are as large
        as penalties, and the bound at them inexact.
        """
        problem = self.problem
        a, most = problem.marginals(duals, arcs)
        best = np.full(len(arcs), -math.inf)
        np.maximum.at(best, a.modifiers, most)
        bound, left = float(best[1:].min()), duals.left
        if left is None:
            return bound
        assert problem._work is not None
        if problem.listed is not None:
            worth = problem.listed.within(problem._work, left, arcs)
        else:  # there is one
            worth = tree_objective(problem._work.standard, as_heads(np.concatenate([[-1], left[:, 1:].argmax(axis=0)])))
        return min(bound, max(worth, float(most[~left[a.heads, a.modifiers]].max(initial=-math.inf))))


def _holds_all(left: Mask | None, arcs: Floats) -> bool:
    """Whether these are all arcs that there are."""
    return left is not None and bool((left | (arcs == -math.inf)).all())


@dataclass(eq=False)
class _Here:
    """A node that is bounded, and how far that has come: ``proved`` is what the last round of the engine's has."""

    node: NodeState
    parts: Parts
    oracle: BestAutomataTree
    work: Work
    arcs: Floats
    best: _Best
    duals: Multipliers
    proved: Proved = field(init=False)

    @property
    def is_done(self) -> bool:
        """Whether the node is pruned, or there is no time."""
        return self.parts.run.expired or self.parts.run.prunes(self.proved.bound)


class AutomataAscent(Bounding):
    """Ascends over candidate arcs until no other arc matters, and the bound meets a tree or does not improve."""

    def __init__(self, problem: AutomataParsing) -> None:
        self.problem = problem
        self._proved: list[Proved] = []

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        problem, run, near = self.problem, parts.run, None
        here = None if run.expired else self._begin(node, parts)
        if here is None:
            return Bounded(Outcome.STOPPED, math.inf, None, run.budget.reason)
        with watching(lambda: run.budget.expired):
            self._settle(here)
            if (here.best.tree is not None or problem.listed is not None) and not here.is_done:
                near = self._divide(here)
        proved = here.proved
        if problem.listed is None:
            # What more candidates have made of the multipliers may not have settled yet: the best bound proved counts.
            proved = min(self._proved, key=lambda proved: proved.bound)
        outcome = Outcome.STOPPED if run.expired else Outcome.PRUNED if run.prunes(proved.bound) else Outcome.SOLVED
        start = replace(here.duals, target=math.inf, left=None)
        return Bounded(
            outcome,
            proved.bound,
            None,
            run.budget.reason,
            proved.duals,
            solution=near,
            start=start,
            proved=True,  # by rounds of the engine's
        )

    def _begin(self, node: NodeState, parts: Parts) -> _Here | None:
        """Multipliers and the best tree to begin with; None if there was no time to list trees."""
        problem, run = self.problem, parts.run
        oracle = next(oracle for oracle in parts.oracles if isinstance(oracle, BestAutomataTree))
        self._proved = []
        given: Multipliers | None = node.duals if node.start is None else node.start
        duals = problem.first_multipliers(run.budget)[0] if given is None else given  # none of a run that goes on
        if problem.wants_list and not (problem.listed is not None and problem.listed.is_filled):
            if problem.k > 1 and problem.listed is None and node.decisions:
                raise InputError(
                    "k: one process lists the best trees, without a checkpoint: leave client and resuming out"
                )
            duals = problem.begin_list(duals, run.incumbent, run.budget)
        work = problem.prepare(run.budget)
        best = problem.best_known(run.incumbent, node.number)
        if problem.listed is not None:
            if not problem.listed.is_filled:
                return None
            run.state_scale(work.standard.unit)
        return _Here(node, parts, oracle, work, work.usable(node.decisions), best, duals)

    def _settle(self, here: _Here) -> None:
        """Ascend, and add arcs, until no other arc matters."""
        number, work, listed = here.node.number, here.work, self.problem.listed
        short, known = np.zeros_like(here.duals.candidates), here.duals.candidates
        if number == 0 and here.oracle.short is not None:
            short = here.oracle.short  # the guess was priced already
        iterations, settled = NODE_ITERATIONS if number else ITERATIONS, number > 0
        for _ in range(ROUNDS):
            if not short.any() and not settled:
                iterations, settled = 4 * iterations, True
            here.duals = here.duals.extended(short, here.arcs)
            self._ascend(here, iterations, known)
            short = self._price(here)
            if here.is_done or (settled and not short.any()):
                break
            met = here.proved.bound - work.standard.constant <= here.best.score + EPSILON * work.standard.unit
            if listed is not None and met and not short.any():
                break  # the best of all trees is known, be it wanted or not
            known = here.duals.candidates

    def _divide(self, here: _Here) -> Solution | None:
        """Give up arcs that no better tree has, and say where to branch on the others; None if all trees are known."""
        problem, run, listed = self.problem, here.parts.run, self.problem.listed
        complete = self._add_for_better(here)
        lower = (here.best.score if listed is None else listed.least) + 0.5 * EPSILON * here.work.standard.unit
        # Half of what pruning allows: what is left below it must not be too much by a rounding error.
        left = self._left(here.duals, here.arcs, lower, complete)
        few = (left[:, 1:].sum(axis=0) == 1).all() if listed is None else listed.is_few(left)
        if few and not here.is_done:
            # One tree is left, or a few, and of all others arcs tell: nothing is there to branch on.
            here.duals = replace(here.duals, left=left)
            self._price(here)
        if problem.listed is not None and run.prunes(here.proved.bound):
            return None
        tree = here.best.tree if here.best.tree is not None or listed is None else listed.last
        assert tree is not None
        return self._near(here.duals, here.arcs, left, tree, lower)

    def _add_for_better(self, here: _Here) -> bool:
        """Let arcs become candidates that a better tree may need; whether none is left."""
        problem, run, listed, complete = self.problem, here.parts.run, self.problem.listed, False
        if listed is not None and here.best.tree is not None and here.node.number == 0:
            # With good trees known, few arcs have to be looked at.
            with suppress(TreeTimeError):
                listed.look_around(here.work, here.duals.candidates, [here.best.tree])
        for _ in range(self._rounds(len(here.arcs))):
            if listed is not None:
                here.duals = replace(here.duals, target=listed.least, left=None)
            else:
                # A tree may have been too little better than the incumbent to be taken.
                here.best = here.best if run.incumbent is None else _Best.of(problem, run.incumbent)
                here.duals = replace(here.duals, target=here.best.score, left=_arcs_of(here.best.tree))
            short = self._price(here)
            complete = not short.any()
            if complete or here.is_done:
                break
            # Once none is left, all others are given up.
            known = here.duals.candidates
            here.duals = here.duals.extended(short, here.arcs)
            self._ascend(here, TARGET_ITERATIONS, known)
        return complete

    def _rounds(self, size: int) -> int:
        """At most so often are arcs added that better trees may need, with so many vertices.

        For one projective tree all arcs soon take less time: there is a dynamic program for them.
        """
        listed = self.problem.listed
        return ROUNDS if listed is None or self.problem.k > 1 else min(size // PROJECTIVE_SIZE, ROUNDS)

    def _price(self, here: _Here) -> Mask:
        """A round of the engine's: it proves a bound; which arcs have to become candidates."""
        parts, clock = here.parts, working_clock()
        proved = prove(parts.master, parts.oracles, here.duals, parts.context(here.node), parts.settings)
        if self.problem.listed is not None and self.problem.listed.pool.is_full:
            parts.take(self.problem.list_solution(), "head automata")  # the bound speaks of all other trees
        record(parts.run, parts.master, proved, (here.node.number, here.node.depth), clock, parts.settings)
        self._proved.append(proved)
        here.proved = proved
        assert here.oracle.short is not None
        return here.oracle.short

    def _left(self, duals: Multipliers, arcs: Floats, lower: float, complete: bool) -> Mask:
        """The arcs that a tree better than ``lower`` can have.

        ``complete``: none has an arc that is no candidate.  Otherwise every arc can be in one: what trees of candidates
        are worth says nothing of a tree that has others as well.
        """
        if not complete:
            return arcs > -math.inf
        a, most = self.problem.marginals(duals, arcs)
        alive = np.zeros(arcs.shape, dtype=np.bool_)
        alive[a.heads, a.modifiers] = most > lower
        return alive

    def _ascend(self, here: _Here, iterations: int, known: Mask) -> None:
        """Bring multipliers down, in place, from those known; a better tree is kept, and the engine is told of it.

        Arcs that have become candidates are not known: their prices are those of arcs which nobody looks at, and may be
        as large as all scores together.
        """
        best = here.best
        tree, score = self.problem.ascended(here.arcs, here.duals, known, best.score, best.tree, iterations)
        if tree is not None and score > best.score:
            best.tree, best.score = tree, score
            if self.problem.listed is None:
                here.parts.take(self.problem.solution(tree, score), "head automata")
            else:
                self.problem.listed.keep(self.problem.prepare(here.parts.run.budget), tree, score)

    def _near(self, duals: Multipliers, arcs: Floats, left: Mask, best: Ints, lower: float) -> Solution:
        """Where to branch: two heads of the modifier that has most left, half each; 0 for what no better tree has."""
        possible, alive = arcs > -math.inf, left & duals.candidates
        open_modifiers = np.flatnonzero((possible.sum(axis=0) > 1) & (left.sum(axis=0) > 0))
        others = [m for m in open_modifiers.tolist() if left[:, m].sum() > left[best[m], m]]
        values: dict[Key, float] = {("z", NoBetter.of(possible & ~left)): 0.0}
        if not others:
            return Solution(lower, (), values)
        m = max(others, key=lambda m: int(alive[:, m].sum()))
        into = np.flatnonzero(left[:, m])
        two = (int(best[m]), int(into[into != best[m]][0]))
        own = two if left[best[m], m] else two[::-1]
        trees = [as_heads(np.concatenate([best[:m], [head], best[m + 1 :]])) for head in own]
        return Solution(lower, tuple((Column(0.0, {}, tree, ("tree", tree)), 0.5) for tree in trees), values)


def _arcs_of(tree: Ints | None) -> Mask | None:
    """The arcs of a tree, by head and modifier."""
    if tree is None:
        return None
    found = np.zeros((len(tree),) * 2, dtype=np.bool_)
    found[tree[1:], np.arange(1, len(tree))] = True
    return found


@dataclass(eq=False)
class _Best:
    """The best tree known: heads of all vertices, and its standard score; None and -inf if none is."""

    tree: Ints | None
    score: float

    @classmethod
    def of(cls, problem: AutomataParsing, incumbent: Solution | None) -> _Best:
        if incumbent is None:
            return cls(None, -math.inf)
        tree = np.array([-1, *problem.answer(incumbent)])
        return cls(tree, tree_objective(problem.standard, as_heads(tree)))


class OnCandidates(BranchingRule):
    """An arc into the modifier with most heads left is in the tree, or is not; arcs of no better tree are not."""

    makes: Sequence[type[Decision]] = (NoBetter, ArcDecision)

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        if not solution.columns:
            return ()
        (first, _), (second, _) = solution.columns
        m = next(m for m, (h, other) in enumerate(zip(first.structure, second.structure, strict=True), 1) if h != other)
        gone: Any
        ((_, gone),) = solution.variables
        common: list[Decision] = [gone] if gone.gone.any() else []
        return [[*common, ArcDecision(first.structure[m - 1], m, required)] for required in (True, False)]

"""Parsing with head automata: an ascent guesses multipliers, and one oracle call at them proves a bound.

Both are in :mod:`colgen.problems.grandparent_parsing.kernels.second_order`.
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
    as_heads,
    dense_scores,
    drop_forbidden_answer,
    drop_forbidden_trees,
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
from colgen.problems.grandparent_parsing.work import Work, is_plain, lay_out_parts
from colgen.solvers.compiling import working_clock
from colgen.solvers.trees.backbone import TreeTimeError

WIDTH = 2
"""Initial number of candidate heads per modifier."""

ITERATIONS = 100
"""Iterations of an ascent per set of candidate arcs; four times as many once no other arc matters."""

ROUNDS = 20
"""Maximum number of times arcs are added at a node."""

NODE_ITERATIONS = 200

TARGET_ITERATIONS = 50
"""Iterations of an ascent over the candidates that better trees may need, before branching."""


PROJECTIVE_SIZE = 100
"""When one projective tree is wanted, arcs are added once more per this many vertices."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers λ (``leaving``) and μ (``entering``) of arcs by head and modifier, shape (n + 1, n + 1) each.

    Attributes
    ----------
    candidates
        Arcs whose parts are all scored; the others are priced.
    target
        Score that trees with other arcs must be proved not to exceed; +inf: the bound on trees of candidates.
    left
        Arcs of the few trees, or the one tree, that are enumerated.  Any other tree contains an arc outside.  None: not
        restricted.
    """

    candidates: Mask
    leaving: Floats
    entering: Floats
    target: float = math.inf
    left: Mask | None = None

    @property
    def copies(self) -> Candidates:
        return Candidates(self.candidates, self.leaving, self.entering)

    def extend(self, others: Mask, arcs: Floats) -> Multipliers:
        """Return multipliers for these and other arcs that have a score, in new arrays."""
        candidates = (self.candidates | others) & (arcs > -math.inf)
        return Multipliers(
            candidates, np.where(candidates, self.leaving, 0.0), np.where(candidates, self.entering, 0.0)
        )


class AutomataParsing(Problem):
    """The best tree of arcs, grandparent parts and consecutive sibling parts, without a linear program.

    The answer is a tuple with the head of each token.  With ``k`` > 1 it is a list of trees, best first, shorter if
    fewer than k exist.  The objective and the bound of the result then refer to the last tree.

    Parameters
    ----------
    scores
        See :func:`colgen.problems.grandparent_parsing.parser.parse`.
    single_root
        Whether exactly one token must be attached to the root; by default taken from the scores.
    projective
        Whether the tree must be projective; by default taken from the scores.
    k
        Number of trees.

    Attributes
    ----------
    iterations, rounds, candidates
        Lagrangian iterations and rounds of pricing arcs so far, and candidate arcs of the last ascent.
    listed
        The best trees so far if k > 1 or ``projective``; otherwise None.

    Notes
    -----
    *Several trees.*  The incumbent is the k-th best known tree, and bounds refer to the trees outside the list.  As for
    one tree, arcs that no better tree has are deleted.  If the remaining arcs form few trees, all of them are
    enumerated.  Otherwise the node is split by an arc, which one child requires and the other forbids (Lawler, 1972,
    with two sets in place of n).

    *Projective trees.*  Bounds on all trees are valid for projective ones.  If the best tree is not projective, an
    exact dynamic program runs over all arcs (:mod:`colgen.solvers.trees.eisner_grandsibling`).  For long sentences, and
    for several trees, it runs after deleting arcs that no better projective tree has.
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
        return standard_scores(self.scores, single_root=self.single_root)

    @property
    def scale(self) -> float:  # type: ignore[override]
        return self.standard.unit

    @property
    def identity(self) -> Any:
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
            tree, score = self.run_ascent(arcs, duals, known, -math.inf, None, ITERATIONS)
            if self.wants_list:
                duals = self._list(duals, tree, score)
                return WarmStart(duals, (self.list_solution(),) if self.listed and self.listed.pool.is_full else ())
        return WarmStart(duals, () if tree is None else (self.solution(tree, score),))

    def first_multipliers(self, budget: Budget) -> tuple[Multipliers, bool]:
        """Return zero multipliers over the initial candidate arcs, and whether these arcs contain a tree."""
        work = self.prepare(budget)
        candidates, feasible = first_candidates(work.arcs, work.bounds, self.single_root, WIDTH)
        zeros = np.zeros(candidates.shape)
        return Multipliers(candidates, zeros, zeros.copy()), feasible

    @property
    def wants_list(self) -> bool:
        """Whether a list of trees is kept: for k > 1 or projective trees."""
        return self.k > 1 or self.projective

    def begin_list(self, duals: Multipliers, incumbent: Solution | None, budget: Budget) -> Multipliers:
        """Fill the list of trees if the warm start did not, and add the incumbent's trees."""
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
        """Fill the list with k trees, starting with ``tree``; return multipliers extended by the trees' arcs."""
        assert self._work is not None
        self.listed = TreeList(self._limit, projective=self.projective, single_root=self.single_root)
        self._best = _Best(None if tree is None else tree.copy(), score)
        try:
            duals = duals.extend(self.listed.fill(self._work, duals.candidates, tree), self._work.arcs)
            given = self._work.standard
            if given.floor > -math.inf and self.listed.pool.is_full:
                # Scores were raised relative to the best tree, but the k-th best may contain such a part.
                last = self.listed.pool.last
                standard = standard_scores(given.given, single_root=self.single_root, known=last)
                work = self._work = Work(standard, *lay_out_parts(standard))
                tree, score = self.run_ascent(work.arcs, duals, duals.candidates, -math.inf, None, ITERATIONS)
                self._best = _Best(tree, score)
                duals = duals.extend(self.listed.fill(work, duals.candidates, tree), work.arcs)
        except TreeTimeError:
            pass
        return duals

    def prepare(self, budget: Budget) -> Work:
        """Return the parts and their bounds in kernel form; a user-defined scorer is evaluated in full first."""
        if self._work is None:
            standard = self.standard
            if not isinstance(self.scores, GrandparentInstance) and not is_plain(self.scores):
                dense = dense_scores(self.scores, single_root=self.single_root, expired=lambda: budget.expired)
                if dense is None:
                    raise OutOfBudget(budget.reason or Termination.TIME_LIMIT)
                standard = standard_scores(dense, single_root=self.single_root)
            self._work = Work(standard, *lay_out_parts(standard))
        return self._work

    def run_ascent(
        self, arcs: Floats, duals: Multipliers, known: Mask, lower: float, best: Ints | None, iterations: int
    ) -> tuple[Ints | None, float]:
        """Improve the multipliers in place; return the best tree (heads of all vertices) and its standard score."""
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
        """Return the tree that an ascent must improve on; at the root the best of all trees, projective or not."""
        if self.listed is None:
            return _Best.of(self, incumbent)
        if node == 0 and self._best is not None:
            return replace(self._best)
        return _Best(self.listed.last if self.listed.pool.trees else None, self.listed.least)

    def marginals(self, duals: Multipliers, arcs: Floats) -> tuple[Automata, Floats]:
        """Return the automata of a node's candidate arcs, and for each arc a bound on trees that contain it."""
        assert self._work is not None
        a = tree_parts.automata_of(duals.candidates & (arcs > -math.inf), arcs, self._work.parts)
        leaving, entering = duals.leaving[a.heads, a.modifiers], duals.entering[a.heads, a.modifiers]
        return a, marginals(a, leaving, entering, self.single_root)

    def solution(self, vertices: Ints, score: float) -> Solution:
        """Return a tree (heads of all vertices) as a solution with its kernel score, which the engine checks."""
        heads, standard = as_heads(vertices), self.standard
        raised = standard.floor > -math.inf  # kernels use raised scores
        return tree_solution(heads, tree_objective(self.scores, heads) if raised else score + standard.constant)

    def list_solution(self) -> Solution:
        """Return the list of trees as a solution with the score of the last tree."""
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
        # A new tree above the k-th does not change the objective, so the incumbent may be older than the list.
        return list(structure if self.listed is None else self.listed.pool.trees)

    def finish(self, result: Result) -> Result:
        if self.k == 1:
            return drop_forbidden_answer(self.scores, result)
        return drop_forbidden_trees(self.scores, result)

    def certifier(self) -> Certifier:
        if self.k > 1 or has_siblings(self.scores):  # the checker does not cover these
            return super().certifier()

        def scores() -> TreeScores:
            given = self.scores
            instance = given if isinstance(given, GrandparentInstance) else from_scores(given, siblings=False)
            return TreeScores(instance.arcs, instance.grandparent_scores, (), self.single_root, self.projective)

        return TreeCertifier(getattr(self.scores, "name", ""), scores, self.answer)  # type: ignore[arg-type]

    def check(self, answer: Heads | list[Heads]) -> float:
        """Return the score of a tree, or of the last of several, recomputed from the user's scores after checking."""
        if self.k == 1:
            return self._check_tree(answer)  # type: ignore[arg-type]
        trees: list[Heads] = list(answer)  # type: ignore[arg-type]
        if not 0 < len(trees) <= self.k:
            raise InfeasibleAnswerError(f"expected between 1 and {self.k} trees, got {len(trees)}")
        if len(set(trees)) < len(trees):
            raise InfeasibleAnswerError("the list contains a tree twice")
        for heads in trees:
            if heads not in self._worth:
                self._worth[heads] = self._check_tree(heads)
        scores = [self._worth[heads] for heads in trees]
        for number, (better, worse) in enumerate(itertools.pairwise(scores), 2):
            if worse - better > self.standard.slack(worse - self.standard.constant):
                raise InfeasibleAnswerError(
                    f"trees are not sorted: tree {number} scores {worse:g}, tree {number - 1} only {better:g}"
                )
        if len(trees) < self.k:
            there = np.where(self.scores.arcs > -math.inf, 0.0, -math.inf)
            if len(first_order(there, len(trees) + 1, self.projective, self.single_root)) > len(trees):
                raise InfeasibleAnswerError(f"expected {self.k} trees, got {len(trees)}, but more trees exist")
        return scores[-1]

    def _check_tree(self, heads: Heads) -> float:
        try:
            check_tree(heads, len(self.scores), single_root=self.single_root)
        except InputError as error:
            raise InfeasibleAnswerError(str(error)) from error
        if self.projective and not is_projective(heads):
            raise InfeasibleAnswerError("the tree is not projective")
        score = tree_objective(self.scores, heads)
        if score == -math.inf:
            raise InfeasibleAnswerError("the tree contains an arc whose score is -inf")
        return score

    @property
    def scored(self) -> tuple[int, int]:
        """Number of grandparent parts and of sibling parts scored."""
        return (0, 0) if self._work is None else (int(self._work.parts.scored[0]), int(self._work.parts.scored[1]))


def tree_solution(heads: Heads, score: float) -> Solution:
    """Return a tree as a solution with one column."""
    return Solution(score, ((Column(score, {}, heads, ("tree", heads)), 1.0),))


class BestAutomataTree(Pricing):
    """Oracle that bounds all trees at given multipliers: arborescence, head automata, and prices of other arcs.

    ``short`` is the mask of arcs that must become candidates after the last call; None before the first.
    """

    multiplicity = 1.0

    def __init__(self, problem: AutomataParsing) -> None:
        self.problem = problem
        self.short: Mask | None = None

    def price(self, duals: Multipliers | None, context: PricingContext) -> PricingResult:  # type: ignore[override]
        problem, listed = self.problem, self.problem.listed
        with watching(lambda: context.budget.expired):
            work = problem.prepare(context.budget)
            if listed is not None and listed.is_complete:  # no other tree exists
                self.short = np.zeros_like(work.arcs, dtype=np.bool_)
                return PricingResult(total=listed.least)
            if duals is None:
                return PricingResult(total=work.standard.bound)
            arcs, bounds = work.usable(context.decisions), work.bounds
            if listed is not None and duals.left is not None and (duals.left | (arcs == -math.inf)).all():
                return self._enumerate_left(duals, arcs, context)
            if context.decisions:  # maxima over the arcs of a node are not valid at other nodes
                bounds = bounds.copy()
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
                    bound = max(duals.target, min(bound, self._bound_by_arcs(duals, arcs)))
            except TreeTimeError:
                proved = False
        if proved:
            return PricingResult(total=bound)
        # Without a proof return the bound from single arcs, if a limit may end the run here.
        limited = context.deadline < math.inf or context.budget.expired
        return PricingResult(total=work.standard.bound if limited else None, cut_off=context.budget.expired)

    def _enumerate_left(self, duals: Multipliers, arcs: Floats, context: PricingContext) -> PricingResult:
        """Enumerate the trees of ``duals.left``; return a bound on all trees that are not listed afterwards."""
        problem = self.problem
        assert problem.listed is not None
        assert problem._work is not None
        assert duals.left is not None
        self.short, self.priced = np.zeros_like(duals.candidates), duals
        try:
            return PricingResult(total=problem.listed.add_best(problem._work, duals.left, arcs))
        except TreeTimeError:
            return PricingResult(total=problem._work.standard.bound, cut_off=True)

    def _bound_by_arcs(self, duals: Multipliers, arcs: Floats) -> float:
        """Return a bound from the best arc into each modifier, and from the best arc outside ``duals.left``.

        Trees of ``left`` are scored exactly.  The bound helps where multipliers are as large as penalties, which makes
        the Lagrangian bound inexact.
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
            worth = problem.listed.add_best(problem._work, left, arcs)
        else:  # ``left`` is one tree
            worth = tree_objective(problem._work.standard, as_heads(np.concatenate([[-1], left[:, 1:].argmax(axis=0)])))
        return min(bound, max(worth, float(most[~left[a.heads, a.modifiers]].max(initial=-math.inf))))


@dataclass(eq=False)
class _NodeProgress:
    """State of a node while it is bounded; ``proved`` is the result of the last engine round."""

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
        return self.parts.run.expired or self.parts.run.prunes(self.proved.bound)


class AutomataAscent(Bounding):
    """Bounding by ascents over candidate arcs, until no other arc matters and the bound stops improving."""

    def __init__(self, problem: AutomataParsing) -> None:
        self.problem = problem
        self._proved: list[Proved] = []

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        problem, run, near = self.problem, parts.run, None
        progress = None if run.expired else self._begin(node, parts)
        if progress is None:
            return Bounded(Outcome.STOPPED, math.inf, None, run.budget.reason)
        with watching(lambda: run.budget.expired):
            self._settle(progress)
            if (progress.best.tree is not None or problem.listed is not None) and not progress.is_done:
                near = self._delete_arcs(progress)
        proved = progress.proved
        if problem.listed is None:
            # Multipliers of new candidates may not have converged, so use the best bound of all rounds.
            proved = min(self._proved, key=lambda proved: proved.bound)
        outcome = Outcome.STOPPED if run.expired else Outcome.PRUNED if run.prunes(proved.bound) else Outcome.SOLVED
        start = replace(progress.duals, target=math.inf, left=None)
        return Bounded(
            outcome,
            proved.bound,
            None,
            run.budget.reason,
            proved.duals,
            solution=near,
            start=start,
            proved=True,
        )

    def _begin(self, node: NodeState, parts: Parts) -> _NodeProgress | None:
        """Return the initial state of a node; None if time ran out while listing trees."""
        problem, run = self.problem, parts.run
        oracle = next(oracle for oracle in parts.oracles if isinstance(oracle, BestAutomataTree))
        self._proved = []
        given: Multipliers | None = node.duals if node.start is None else node.start
        duals = problem.first_multipliers(run.budget)[0] if given is None else given  # None in a resumed run
        if problem.wants_list and not (problem.listed is not None and problem.listed.is_filled):
            if problem.k > 1 and problem.listed is None and node.decisions:
                raise InputError(
                    f"k={problem.k} does not work with parallel clients or a resumed checkpoint: remove these options"
                )
            duals = problem.begin_list(duals, run.incumbent, run.budget)
        work = problem.prepare(run.budget)
        best = problem.best_known(run.incumbent, node.number)
        if problem.listed is not None:
            if not problem.listed.is_filled:
                return None
            run.state_scale(work.standard.unit)
        return _NodeProgress(node, parts, oracle, work, work.usable(node.decisions), best, duals)

    def _settle(self, progress: _NodeProgress) -> None:
        """Alternate between ascents and adding arcs until no other arc matters."""
        number, work, listed = progress.node.number, progress.work, self.problem.listed
        short, known = np.zeros_like(progress.duals.candidates), progress.duals.candidates
        if number == 0 and progress.oracle.short is not None:
            short = progress.oracle.short  # the warm start's multipliers were priced already
        iterations, settled = NODE_ITERATIONS if number else ITERATIONS, number > 0
        for _ in range(ROUNDS):
            if not short.any() and not settled:
                iterations, settled = 4 * iterations, True
            progress.duals = progress.duals.extend(short, progress.arcs)
            self._ascend(progress, iterations, known)
            short = self._price(progress)
            if progress.is_done or (settled and not short.any()):
                break
            met = progress.proved.bound - work.standard.constant <= progress.best.score + EPSILON * work.standard.unit
            if listed is not None and met and not short.any():
                break  # the best of all trees is known, even if it is not projective
            known = progress.duals.candidates

    def _delete_arcs(self, progress: _NodeProgress) -> Solution | None:
        """Delete arcs that no better tree has; return where to branch, or None if all trees are known."""
        problem, run, listed = self.problem, progress.parts.run, self.problem.listed
        complete = self._add_for_better(progress)
        lower = (progress.best.score if listed is None else listed.least) + 0.5 * EPSILON * progress.work.standard.unit
        # Use half of the pruning tolerance, so that rounding errors of the remaining bound still allow pruning.
        left = self._remaining_arcs(progress.duals, progress.arcs, lower, complete)
        few = (left[:, 1:].sum(axis=0) == 1).all() if listed is None else listed.can_enumerate(left)
        if few and not progress.is_done:
            # The few remaining trees are enumerated, so branching is not needed.
            progress.duals = replace(progress.duals, left=left)
            self._price(progress)
        if problem.listed is not None and run.prunes(progress.proved.bound):
            return None
        tree = progress.best.tree if progress.best.tree is not None or listed is None else listed.last
        assert tree is not None
        return self._branching_point(progress.duals, progress.arcs, left, tree, lower)

    def _add_for_better(self, progress: _NodeProgress) -> bool:
        """Add candidate arcs that a better tree may need; return whether none is missing."""
        problem, run, listed, complete = self.problem, progress.parts.run, self.problem.listed, False
        if listed is not None and progress.best.tree is not None and progress.node.number == 0:
            # Good known trees reduce the number of arcs to examine.
            with suppress(TreeTimeError):
                listed.add_neighbours(progress.work, progress.duals.candidates, [progress.best.tree])
        for _ in range(self._rounds(len(progress.arcs))):
            if listed is not None:
                progress.duals = replace(progress.duals, target=listed.least, left=None)
            else:
                # The engine may have rejected a tree that is only slightly better than the incumbent.
                progress.best = progress.best if run.incumbent is None else _Best.of(problem, run.incumbent)
                progress.duals = replace(progress.duals, target=progress.best.score, left=_arcs_of(progress.best.tree))
            short = self._price(progress)
            complete = not short.any()
            if complete or progress.is_done:
                break
            known = progress.duals.candidates
            progress.duals = progress.duals.extend(short, progress.arcs)
            self._ascend(progress, TARGET_ITERATIONS, known)
        return complete

    def _rounds(self, size: int) -> int:
        """Return how often arcs may be added that better trees may need.

        For one projective tree this is small: the dynamic program over all arcs soon takes less time.
        """
        listed = self.problem.listed
        return ROUNDS if listed is None or self.problem.k > 1 else min(size // PROJECTIVE_SIZE, ROUNDS)

    def _price(self, progress: _NodeProgress) -> Mask:
        """Prove a bound in an engine round; return the arcs that must become candidates."""
        parts, clock = progress.parts, working_clock()
        proved = prove(parts.master, parts.oracles, progress.duals, parts.context(progress.node), parts.settings)
        if self.problem.listed is not None and self.problem.listed.pool.is_full:
            parts.take(self.problem.list_solution(), "head automata")  # the bound is on all other trees
        record(parts.run, parts.master, proved, (progress.node.number, progress.node.depth), clock, parts.settings)
        self._proved.append(proved)
        progress.proved = proved
        assert progress.oracle.short is not None
        return progress.oracle.short

    def _remaining_arcs(self, duals: Multipliers, arcs: Floats, lower: float, complete: bool) -> Mask:
        """Return the arcs that a tree with a score above ``lower`` can contain.

        ``complete``: such a tree contains candidates only.  Otherwise all arcs are returned, because bounds on trees of
        candidates do not apply to trees with other arcs.
        """
        if not complete:
            return arcs > -math.inf
        a, most = self.problem.marginals(duals, arcs)
        alive = np.zeros(arcs.shape, dtype=np.bool_)
        alive[a.heads, a.modifiers] = most > lower
        return alive

    def _ascend(self, progress: _NodeProgress, iterations: int, known: Mask) -> None:
        """Improve the multipliers in place, starting from those of ``known`` arcs; report a better tree to the engine.

        Multipliers of new candidates are restarted: as prices of unscored arcs they may be as large as the sum of all
        scores.
        """
        best = progress.best
        tree, score = self.problem.run_ascent(progress.arcs, progress.duals, known, best.score, best.tree, iterations)
        if tree is not None and score > best.score:
            best.tree, best.score = tree, score
            if self.problem.listed is None:
                progress.parts.take(self.problem.solution(tree, score), "head automata")
            else:
                self.problem.listed.keep(self.problem.prepare(progress.parts.run.budget), tree, score)

    def _branching_point(self, duals: Multipliers, arcs: Floats, left: Mask, best: Ints, lower: float) -> Solution:
        """Return a point to branch on: deleted arcs at 0, and two arcs at 1/2, of the modifier with most arcs left."""
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
    if tree is None:
        return None
    found = np.zeros((len(tree),) * 2, dtype=np.bool_)
    found[tree[1:], np.arange(1, len(tree))] = True
    return found


@dataclass(eq=False)
class _Best:
    """The best known tree (heads of all vertices) and its standard score; None and -inf if none is known."""

    tree: Ints | None
    score: float

    @classmethod
    def of(cls, problem: AutomataParsing, incumbent: Solution | None) -> _Best:
        if incumbent is None:
            return cls(None, -math.inf)
        tree = np.array([-1, *problem.answer(incumbent)])
        return cls(tree, tree_objective(problem.standard, as_heads(tree)))


class OnCandidates(BranchingRule):
    """Branch on an arc into the modifier with most remaining heads: require or forbid it.

    Both branches forbid the arcs that no better tree contains.
    """

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

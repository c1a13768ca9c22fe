"""Head automata on the engine: multipliers are guessed by an ascent, one oracle call at them proves a bound.

:mod:`problems.grandparent_parsing.kernels.second_order` has both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from colgen import (
    BranchingRule,
    Column,
    Decision,
    InputError,
    Key,
    Pricing,
    PricingContext,
    PricingResult,
    Problem,
    Result,
    Sense,
    Solution,
    Termination,
)
from colgen.bounds.bounding import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.bounds.proving import Proved, prove, record
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.warm_start import WarmStart
from colgen.master.lagrangian import LagrangianMaster
from problems.dependency.decisions import ArcDecision, NoBetter, restrict
from problems.dependency.features.score_bounds import score_ends
from problems.dependency.scorer import SentenceScorer
from problems.dependency.sentence import Heads, check_tree
from problems.grandparent_parsing.instance import (
    Floats,
    Instance,
    Ints,
    Mask,
    PartScores,
    allowed,
    as_heads,
    dense_scores,
    refuse_pairs,
    tree_objective,
)
from problems.grandparent_parsing.kernels import tree_parts
from problems.grandparent_parsing.kernels.arc_prices import Bounds
from problems.grandparent_parsing.kernels.automata_dual import EPSILON, marginals
from problems.grandparent_parsing.kernels.head_automata import Automata
from problems.grandparent_parsing.kernels.patience import watching
from problems.grandparent_parsing.kernels.second_order import ascend, bound_at, first_candidates
from problems.grandparent_parsing.standard import StandardScores, is_single_root, standard_scores
from solvers.compiling import working_clock

WIDTH = 2
"""Candidate heads a modifier at the start."""

ITERATIONS = 100
"""Of an ascent, for each set of candidate arcs; four times as many once no other arc matters."""

ROUNDS = 20
"""At most so often are arcs added at a node."""

NODE_ITERATIONS = 200

TARGET_ITERATIONS = 50
"""Of an ascent over candidates that trees better than the best known may need, before the node is branched on."""


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
    tree
        The heads of all vertices in a tree: what is not this one has an arc that it has not.  None: there is none.
    """

    candidates: Mask
    leaving: Floats
    entering: Floats
    target: float = math.inf
    tree: Ints | None = None

    def extended(self, others: Mask, arcs: Floats) -> Multipliers:
        """Of these and other arcs, as far as they are there: arrays of their own."""
        candidates = (self.candidates | others) & (arcs > -math.inf)
        return Multipliers(
            candidates, np.where(candidates, self.leaving, 0.0), np.where(candidates, self.entering, 0.0)
        )


class AutomataParsing(Problem):
    """The best tree of arcs, grandparent parts and consecutive sibling parts, without a linear program.

    The answer is the head of each token.

    Parameters
    ----------
    scores
        See :func:`problems.grandparent_parsing.parser.parse`.
    single_root
        Whether exactly one token must hang from the root; by default what the scores say.

    Attributes
    ----------
    iterations, rounds, candidates
        Of the Lagrangian, how often arcs were priced, and candidate arcs of the last ascent, so far.
    """

    def __init__(self, scores: PartScores, *, single_root: bool | None = None) -> None:
        refuse_pairs(scores, type(self).__name__)
        self.scores = scores
        self.single_root = is_single_root(scores) if single_root is None else single_root
        self.iterations = self.rounds = self.candidates = 0
        self._work: Work | None = None

    @cached_property
    def standard(self) -> StandardScores:
        """The scores without what all trees have in common."""
        return standard_scores(self.scores, single_root=self.single_root)

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The unit of the scores."""
        return self.standard.unit

    def restricted_master(self) -> LagrangianMaster:
        return LagrangianMaster(Sense.MAXIMIZE, lambda duals: self.standard.constant)

    def pricing(self) -> Pricing:
        return BestTree(self)

    def bounding(self) -> Bounding:
        return Ascent(self)

    def branching(self) -> Sequence[BranchingRule]:
        return (OnCandidates(),)

    def warm_start(self, budget: Budget) -> WarmStart:
        with watching(lambda: budget.expired):
            work = self.prepare(budget)
            candidates, feasible = first_candidates(work.arcs, work.bounds, self.single_root, WIDTH)
            zeros = np.zeros(candidates.shape)
            duals = Multipliers(candidates, zeros, zeros.copy())
            if not feasible:
                return WarmStart(duals)
            tree, score = self.ascended(work.arcs, duals, np.zeros_like(candidates), -math.inf, None, ITERATIONS)
        return WarmStart(duals, () if tree is None else (self.solution(tree, score),))

    def prepare(self, budget: Budget) -> Work:
        """The parts and their bounds, laid out for kernels; those of a class of one's own are all scored first."""
        if self._work is None:
            standard = self.standard
            if not isinstance(self.scores, Instance) and not _is_plain(self.scores):
                dense = dense_scores(self.scores, single_root=self.single_root, expired=lambda: budget.expired)
                if dense is None:
                    raise OutOfBudget(budget.reason or Termination.TIME_LIMIT)
                standard = standard_scores(dense, single_root=self.single_root)
            self._work = Work(standard, *_laid_out(standard))
        return self._work

    def ascended(
        self, arcs: Floats, duals: Multipliers, known: Mask, lower: float, best: Ints | None, iterations: int
    ) -> tuple[Ints | None, float]:
        """Bring multipliers down, in place; the best tree known, heads of all vertices, and its standard score."""
        assert self._work is not None
        work = self._work
        heads = np.full(len(arcs), -1) if best is None else best
        found, taken = ascend(
            duals.candidates,
            duals.leaving,
            duals.entering,
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

    def answer(self, solution: Solution) -> Heads:
        heads: Heads = solution.columns[0][0].structure
        return heads

    def finished(self, result: Result) -> Result:
        return allowed(self.scores, result)

    def check(self, answer: Heads) -> float:
        """The score of a tree, recomputed from the user's scores, after checking that it is one."""
        try:
            check_tree(answer, len(self.scores), single_root=self.single_root)
        except InputError as error:
            raise InfeasibleAnswerError(str(error)) from error
        return tree_objective(self.scores, answer)

    @property
    def scored(self) -> tuple[int, int]:
        """Grandparent parts and sibling parts that were scored."""
        return (0, 0) if self._work is None else (int(self._work.parts.scored[0]), int(self._work.parts.scored[1]))


def tree_solution(heads: Heads, score: float) -> Solution:
    """A tree as the engine's answer: one column that stands for it."""
    return Solution(score, ((Column(score, {}, heads, ("tree", heads)), 1.0),))


@dataclass(frozen=True, eq=False)
class Work:
    """What kernels look things up in: facts about a sentence, in whatever order they are found out."""

    standard: StandardScores
    parts: tree_parts.Parts
    bounds: Bounds

    @property
    def arcs(self) -> Floats:
        """Scores of arcs by head and modifier."""
        return self.standard.arcs

    def usable(self, decisions: Sequence[Decision]) -> Floats:
        """Scores of the arcs that decisions leave."""
        if not decisions:
            return self.arcs
        allowed = restrict(self.arcs > -math.inf, decisions)
        return np.where(allowed, self.arcs, -math.inf)


class BestTree(Pricing):
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
        problem = self.problem
        with watching(lambda: context.budget.expired):
            work = problem.prepare(context.budget)
            if duals is None:
                return PricingResult(total=work.standard.bound)
            arcs, bounds = work.usable(context.decisions), work.bounds
            if context.decisions:  # maxima over the arcs of a node say nothing of other nodes
                bounds = bounds.copied()
            bound, short, _, _ = bound_at(
                duals.candidates,
                duals.leaving,
                duals.entering,
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
            if proved and -math.inf < bound and duals.target < bound:
                bound = max(duals.target, min(bound, self._by_arcs(duals, arcs)))
        if proved:
            return PricingResult(total=bound)
        # Bounds of single arcs are for runs that may have to end with them.
        limited = context.deadline < math.inf or context.budget.expired
        return PricingResult(total=work.standard.bound if limited else None, cut_off=context.budget.expired)

    def _by_arcs(self, duals: Multipliers, arcs: Floats) -> float:
        """No tree of candidates is better than the best arc into each modifier, nor than the best that ``tree`` lacks.

        The second comes down where multipliers are as large as penalties, and the bound at them inexact.
        """
        a, most = self.problem.marginals(duals, arcs)
        best = np.full(len(arcs), -math.inf)
        np.maximum.at(best, a.modifiers, most)
        bound = float(best[1:].min())
        if duals.tree is None:
            return bound
        assert self.problem._work is not None
        worth = tree_objective(self.problem._work.standard, as_heads(duals.tree))
        return min(bound, max(worth, float(most[a.heads != duals.tree[a.modifiers]].max(initial=-math.inf))))


class Ascent(Bounding):
    """Ascends over candidate arcs until no other arc matters, and the bound meets a tree or does not improve."""

    def __init__(self, problem: AutomataParsing) -> None:
        self.problem = problem
        self._proved: list[Proved] = []

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        problem, run = self.problem, parts.run
        if node.duals is None or run.expired:
            return Bounded(Outcome.STOPPED, math.inf, None, run.budget.reason)
        oracle = next(oracle for oracle in parts.oracles if isinstance(oracle, BestTree))
        work = problem.prepare(run.budget)
        arcs, epsilon = work.usable(node.decisions), EPSILON * work.standard.unit
        best, self._proved = _Best.of(problem, run.incumbent), []
        duals: Multipliers = node.duals if node.start is None else node.start
        short, known = np.zeros_like(duals.candidates), duals.candidates
        if node.number == 0 and oracle.short is not None:
            short = oracle.short  # the guess was priced already
        iterations, settled = NODE_ITERATIONS if node.number else ITERATIONS, node.number > 0
        with watching(lambda: run.budget.expired):
            for _ in range(ROUNDS):
                if not short.any() and not settled:
                    iterations, settled = 4 * iterations, True
                duals = duals.extended(short, arcs)
                self._ascended(parts, arcs, duals, best, iterations, known)
                short, proved = self._priced(node, parts, oracle, duals)
                if run.expired or run.prunes(proved.bound) or (settled and not short.any()):
                    break
                known = duals.candidates
            near = None
            if best.tree is not None and not run.prunes(proved.bound) and not run.expired:
                for _ in range(ROUNDS):
                    # A tree may have been too little better than the incumbent to be taken.
                    best = best if run.incumbent is None else _Best.of(problem, run.incumbent)
                    duals = replace(duals, target=best.score, tree=best.tree)
                    short, proved = self._priced(node, parts, oracle, duals)
                    if not short.any() or run.expired or run.prunes(proved.bound):
                        break
                    # Arcs that a better tree may need become candidates: once none is left, all others are given up.
                    known = duals.candidates
                    duals = duals.extended(short, arcs)
                    self._ascended(parts, arcs, duals, best, TARGET_ITERATIONS, known)
                lower = best.score + 0.5 * epsilon
                # Half of what pruning allows: what is left below it must not be too much by a rounding error.
                left = self._left(duals, arcs, lower, not short.any())
                if not run.prunes(proved.bound) and (left[:, 1:].sum(axis=0) == 1).all():
                    # One tree is left, and of all others arcs tell: nothing is there to branch on.
                    duals = replace(duals, tree=np.concatenate([[-1], left[:, 1:].argmax(axis=0)]))
                    short, proved = self._priced(node, parts, oracle, duals)
                assert best.tree is not None
                near = self._near(duals, arcs, left, best.tree, lower)
        # What more candidates have made of the multipliers may not have settled yet: the bound is the best one proved.
        least = min(self._proved, key=lambda proved: proved.bound)
        outcome = Outcome.STOPPED if run.expired else Outcome.PRUNED if run.prunes(least.bound) else Outcome.SOLVED
        start = replace(duals, target=math.inf, tree=None)
        return Bounded(
            outcome,
            least.bound,
            None,
            run.budget.reason,
            least.duals,
            solution=near,
            start=start,
            proved=True,  # by rounds of the engine's
        )

    def _priced(self, node: NodeState, parts: Parts, oracle: BestTree, duals: Multipliers) -> tuple[Mask, Proved]:
        """A round of the engine's: what the oracle proves, and which arcs have to become candidates."""
        clock = working_clock()
        proved = prove(parts.master, parts.oracles, duals, parts.context(node), parts.settings)
        record(parts.run, parts.master, proved, (node.number, node.depth), clock, parts.settings)
        self._proved.append(proved)
        assert oracle.short is not None
        return oracle.short, proved

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

    def _ascended(
        self,
        parts: Parts,
        arcs: Floats,
        duals: Multipliers,
        best: _Best,
        iterations: int,
        known: Mask,
    ) -> None:
        """Bring multipliers down, in place, from those known; a better tree is kept, and the engine is told of it.

        Arcs that have become candidates are not known: their prices are those of arcs which nobody looks at, and may be
        as large as all scores together.
        """
        tree, score = self.problem.ascended(arcs, duals, known, best.score, best.tree, iterations)
        if tree is not None and score > best.score:
            best.tree, best.score = tree, score
            parts.take(self.problem.solution(tree, score), "head automata")

    def _near(self, duals: Multipliers, arcs: Floats, left: Mask, best: Ints, lower: float) -> Solution:
        """Where to branch: two heads of the modifier that has most left, half each; 0 for arcs of no better tree."""
        possible, alive = arcs > -math.inf, left & duals.candidates
        open_modifiers = np.flatnonzero((possible.sum(axis=0) > 1) & (left.sum(axis=0) > 0))
        others = [m for m in open_modifiers.tolist() if left[:, m].sum() > left[best[m], m]]
        values: dict[Key, float] = {("z", (h, m)): 0.0 for h, m in np.argwhere(possible & ~left).tolist()}
        if not others:
            return Solution(lower, (), values)
        m = max(others, key=lambda m: int(alive[:, m].sum()))
        into = np.flatnonzero(left[:, m])
        heads = (int(best[m]), int(into[into != best[m]][0]))
        own = heads if left[best[m], m] else heads[::-1]
        trees = [as_heads(np.concatenate([best[:m], [head], best[m + 1 :]])) for head in own]
        return Solution(lower, tuple((Column(0.0, {}, tree, ("tree", tree)), 0.5) for tree in trees), values)


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
        index: Any
        gone: set[tuple[int, int]] = set()
        for (_, index), value in solution.variables.items():
            if not value:
                gone.add(index)
        common: list[Decision] = [NoBetter(frozenset(gone))] if gone else []
        return [[*common, ArcDecision(first.structure[m - 1], m, required)] for required in (True, False)]


def _is_plain(scores: PartScores) -> bool:
    """Whether the scores are those of a model's tables, which kernels look up: no subclass makes others of them."""
    kind = type(scores)
    return (
        isinstance(scores, SentenceScorer)
        and kind.grandparents is SentenceScorer.grandparents
        and kind.siblings is SentenceScorer.siblings
    )


def _laid_out(standard: StandardScores) -> tuple[tree_parts.Parts, Bounds]:
    """Parts, and upper bounds on the parts that an arc closes."""
    scores = standard.given
    size = len(scores) + 1
    grandparents, siblings, last = np.zeros((3, size, size))
    if isinstance(scores, SentenceScorer):
        weights, codes = scores.weights, scores.encoded.codes
        if "grandparents" in weights.parts:
            grandparents = scores.parent_child_bounds.copy()
        if "siblings" in weights.parts:
            siblings = scores.head_modifier_bounds.copy()
            ends = score_ends(codes, weights.bounds["head_modifier"])
            last = np.where(np.tri(size, k=-1, dtype=np.bool_), ends[:, :1], ends[:, 1:])
        pairs = weights.bounds["parent_child"], weights.bounds["head_modifier"]
        parts = tree_parts.lazy_parts(codes, weights.grandparents, weights.siblings, *pairs, grandparents)
    else:
        assert isinstance(scores, Instance)
        tables = [
            None if table is None else standard.raised(table)
            for table in (scores.grandparent_scores, scores.sibling_scores)
        ]
        parts = tree_parts.given_parts(size, tables[0], tables[1])
        grandparents, siblings = standard.parent_child_bounds.copy(), standard.head_modifier_bounds.copy()
        if tables[1] is not None:
            vertices = np.arange(size)
            last = np.ascontiguousarray(tables[1][vertices, :, vertices])
    grandparents[0] = 0.0  # what hangs from the root has no grandparent
    return parts, Bounds(grandparents, siblings, last, np.zeros((size, size), dtype=np.bool_))

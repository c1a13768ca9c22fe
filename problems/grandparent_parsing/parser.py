"""The exact parser: the best tree of arcs, grandparent parts and consecutive sibling parts, with a proof.

Nearly all sentences are proved by :mod:`problems.grandparent_parsing.kernels.second_order` alone, without a linear
program; what is left over, a few arcs of a few sentences, goes to branch and bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen import Column, InputError, Sense, Solution, Termination
from colgen.bounds.run import Run
from colgen.core.budget import holding_signals
from colgen.core.decision import Decision
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.stop import AnyOf, StopRule
from colgen.tree.search import Evaluation, Node, Relaxation, branch_and_bound
from problems.dependency.features.factored_scores import score_ends
from problems.dependency.scorer import SentenceScorer
from problems.dependency.sentence import Heads, check_tree
from problems.grandparent_parsing.instance import Instance, PartScores, as_heads, dense_scores, tree_objective
from problems.grandparent_parsing.kernels.arc_prices import Bounds
from problems.grandparent_parsing.kernels.automata_dual import relax
from problems.grandparent_parsing.kernels.head_automata import Automata, optimistic
from problems.grandparent_parsing.kernels.patience import watching
from problems.grandparent_parsing.kernels.second_order import search
from problems.grandparent_parsing.kernels.tree_parts import Parts, automata_of, given_parts, lazy_parts
from problems.grandparent_parsing.standard import StandardScores, is_single_root, standard_scores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

WIDTH = 2
"""Candidate heads a modifier at the start."""

ITERATIONS = 100
"""Of the Lagrangian before branching, for each set of candidate arcs."""

MET = 1e-9
"""A bound so near to a tree's score, relative to the larger of it and the unit of the scores, meets it."""

ROUNDS = 20
"""At most so often are arcs priced and added."""

NODE_ITERATIONS = 200


@dataclass(frozen=True)
class Parse:
    """A tree and what is proved of it.

    Attributes
    ----------
    heads
        Of each token; None if the candidate arcs hold no tree, or none was found before a limit.
    score, bound
        Of the tree, and an upper bound on all trees; -inf both if there is no tree.
    termination
        Why the search stopped: ``OPTIMAL`` says that the tree is the best of all.
    nodes
        Of branch and bound; 0 where none was needed.
    scored
        Grandparent parts and sibling parts that were scored.
    candidates, rounds, iterations
        Arcs whose parts were looked at, rounds of pricing arcs, iterations of the Lagrangian.
    """

    heads: Heads | None
    score: float
    bound: float
    termination: Termination
    nodes: int
    scored: tuple[int, int]
    candidates: int
    rounds: int
    iterations: int

    @property
    def is_optimal(self) -> bool:
        """Whether the tree is proved to be the best."""
        return self.termination is Termination.OPTIMAL


def parse(
    scores: PartScores,
    *,
    single_root: bool | None = None,
    stop: StopRule | Sequence[StopRule] = (),
) -> Parse:
    """The best tree.

    Parameters
    ----------
    scores
        Arrays (:class:`~problems.grandparent_parsing.instance.Instance`), a trained model's scorer, or a class of your
        own (all of whose parts are then scored).
    single_root
        Whether exactly one token must hang from the root; by default what the scores say.
    stop
        Stop rules.  A time limit holds for everything, from the first line on; the others are for branch and bound,
        which few sentences need.

    An interrupt (Ctrl-C) ends it with the best tree so far; a second one ends it wherever it is.

    Raises
    ------
    InfeasibleAnswerError
        If the tree found is none, or is not worth what was claimed: a mistake of this project's.
    """
    with holding_signals():
        run = Run(Sense.MAXIMIZE, AnyOf(*((stop,) if callable(stop) else stop)))
        with watching(lambda: run.expired):
            return _parse(scores, is_single_root(scores) if single_root is None else single_root, run)


def _parse(scores: PartScores, single_root: bool, run: Run) -> Parse:
    standard = standard_scores(scores, single_root=single_root)
    if not isinstance(scores, Instance) and not _is_plain(scores):
        dense = dense_scores(scores, single_root=single_root, expired=lambda: run.expired)
        if dense is None:
            return _unfinished(standard, run)
        standard = standard_scores(dense, single_root=single_root)
    parts, bounds = _prepared(standard)
    arcs, unit = standard.arcs, standard.unit
    heads, score, bound, allowed, counts = search(arcs, bounds, parts, single_root, WIDTH, ITERATIONS, ROUNDS, unit)
    scored = int(parts.scored[0]), int(parts.scored[1])
    if score == -math.inf:
        if bound > -math.inf:
            return _unfinished(standard, run)
        return Parse(None, -math.inf, -math.inf, Termination.INFEASIBLE, 0, scored, *counts.tolist())
    termination, nodes = Termination.OPTIMAL, 0
    if bound > score + MET * max(unit, abs(score)):
        heads, score, bound, termination, nodes = _branch(standard, allowed, parts, heads, score, bound, run)
    found = as_heads(heads)
    worth = _checked(scores, standard, found, score)
    proved = termination is Termination.OPTIMAL
    bound = worth if proved else max(min(bound, standard.bound) + standard.constant, worth)
    return Parse(found, worth, bound, termination, nodes, scored, *counts.tolist())


def _is_plain(scores: PartScores) -> bool:
    """Whether the scores are those of a model's tables, which kernels look up: no subclass makes others of them."""
    kind = type(scores)
    return (
        isinstance(scores, SentenceScorer)
        and kind.grandparents is SentenceScorer.grandparents
        and kind.siblings is SentenceScorer.siblings
    )


def _unfinished(standard: StandardScores, run: Run) -> Parse:
    """The first tree, and what bounds of single arcs prove, where there was no time for more."""
    heads = standard.first_tree
    if heads is None:
        return Parse(None, -math.inf, -math.inf, Termination.INFEASIBLE, 0, (0, 0), 0, 0, 0)
    worth = tree_objective(standard.given, heads)
    bound = max(standard.bound + standard.constant, worth)
    return Parse(heads, worth, bound, _spent(run), 0, (0, 0), 0, 0, 0)


def _spent(run: Run) -> Termination:
    """Why a run ended early: a kernel that looked says only that it did."""
    return run.budget.reason or Termination.TIME_LIMIT


def _checked(scores: PartScores, standard: StandardScores, heads: Heads, claimed: float) -> float:
    """A tree's score, recomputed from the user's scores, after checking that it is a tree and worth what is claimed."""
    try:
        check_tree(heads, len(scores), single_root=standard.single_root)
    except InputError as error:
        raise InfeasibleAnswerError(f"the parser found something that is no tree: {error}") from error
    worth = tree_objective(scores, heads)
    here = worth - standard.constant if standard.floor == -math.inf else tree_objective(standard, heads)
    if not abs(here - claimed) <= standard.slack(claimed):
        raise InfeasibleAnswerError(
            f"the parser found a tree and claims {claimed:.10g} for it, but its parts sum up to {here:.10g}"
        )
    return worth


def _prepared(standard: StandardScores) -> tuple[Parts, Bounds]:
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
        parts = lazy_parts(codes, weights.grandparents, weights.siblings, *pairs, grandparents)
    else:
        assert isinstance(scores, Instance)
        tables = [
            None if table is None else standard.raised(table)
            for table in (scores.grandparent_scores, scores.sibling_scores)
        ]
        parts = given_parts(size, tables[0], tables[1])
        grandparents, siblings = standard.parent_child_bounds.copy(), standard.head_modifier_bounds.copy()
        if tables[1] is not None:
            vertices = np.arange(size)
            last = np.ascontiguousarray(tables[1][vertices, :, vertices])
    grandparents[0] = 0.0  # what hangs from the root has no grandparent
    return parts, Bounds(grandparents, siblings, last, np.zeros((size, size), dtype=np.bool_))


# --- branch and bound ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArcDecision(Decision):
    """An arc (its number among the automata's) is in the tree, or is not."""

    arc: int
    required: bool


class AutomataRelaxation(Relaxation):
    """Bounds a node by the Lagrangian of the head automata; branches on an arc that its problems disagree about.

    The run sees scores in units, so that its tolerances are relative to these.
    """

    def __init__(self, automata: Automata, single_root: bool, unit: float, run: Run, heads: Ints, score: float) -> None:
        self.automata = automata
        self.single_root = single_root
        self.unit = unit
        self.run = run
        self.heads = heads
        self.score = score

    def evaluate(self, node: Node) -> Evaluation:
        a = self.automata
        alive = np.ones(len(a.heads), dtype=np.bool_)
        leaving, entering = optimistic(a, alive), np.zeros(len(a.heads))
        if node.start is not None:
            alive, leaving, entering = (array.copy() for array in node.start)
        for decision in node.decisions:
            assert isinstance(decision, ArcDecision)
            if decision.required:
                m = int(a.modifiers[decision.arc])
                others = np.arange(a.incoming[m], a.incoming[m + 1])
                alive[others[others != decision.arc]] = False
            else:
                alive[decision.arc] = False
        heads = self.heads.copy()
        bound, score, _ = relax(
            a, alive, leaving, entering, self.score, heads, NODE_ITERATIONS, self.single_root, True, self.unit
        )
        if score > self.score:
            self.heads, self.score = heads, score
            self.run.offer(_solution(heads, score / self.unit), None, "head automata")
        bound = max(bound, score) / self.unit
        if self.run.prunes(bound):
            return Evaluation(bound, "proved")
        return Evaluation(
            bound,
            "branched",
            self._children(alive),
            (alive, leaving, entering),
            stop=self.run.budget.reason,
        )

    def _children(self, alive: Mask) -> list[list[Decision]]:
        """The incumbent's arc into a modifier with the most heads left, or another arc into it."""
        a = self.automata
        m = int(np.bincount(a.modifiers[alive], minlength=len(a.incoming)).argmax())
        into = np.arange(a.incoming[m], a.incoming[m + 1])
        own = int(a.arc[self.heads[m], m])
        arc = own if alive[own] else int(into[alive[into]][0])
        return [[ArcDecision(arc, True)], [ArcDecision(arc, False)]]


def _solution(heads: Ints, score: float) -> Solution:
    structure = as_heads(heads)
    return Solution(score, ((Column(score, {}, structure, ("tree", structure)), 1.0),))


def _branch(
    standard: StandardScores, allowed: Mask, parts: Parts, heads: Ints, score: float, bound: float, run: Run
) -> tuple[Ints, float, float, Termination, int]:
    """Branch and bound over the arcs that a better tree can have; the incumbent may have others."""
    unit = standard.unit
    candidates = allowed.copy()
    candidates[heads[1:], np.arange(1, len(heads))] = True
    automata = automata_of(candidates, standard.arcs, parts)
    if run.expired:
        return heads, score, bound, _spent(run), 0
    run.offer(_solution(heads, score / unit), None, "head automata")
    run.prove(bound / unit)
    relaxation = AutomataRelaxation(automata, standard.single_root, unit, run, heads, score)
    outcome = branch_and_bound(relaxation, run)
    bound = max(min(bound, outcome.bound * unit), relaxation.score)
    return relaxation.heads, relaxation.score, bound, outcome.termination, len(outcome.nodes)

"""The exact parser: the best tree of arcs, grandparent parts and consecutive sibling parts, with a proof.

Nearly all sentences are proved by :mod:`solvers.second_order` alone, without a linear program; what is left over, a few
arcs of a few sentences, goes to branch and bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Sense, Solution, Termination
from colgen.branching import Decision
from colgen.run import Run
from colgen.stop import AnyOf, StopRule
from colgen.tree import Evaluation, Node, Relaxation, branch_and_bound
from problems.dependency.scorer import SentenceScorer
from problems.dependency.sentence import Heads
from problems.grandparent_parsing.instance import Instance, PartScores, as_heads, from_scores
from solvers.arc_prices import Bounds
from solvers.automata_dual import relax
from solvers.factored_scores import score_ends
from solvers.head_automata import Automata, optimistic
from solvers.second_order import search
from solvers.tree_parts import Parts, automata_of, given_parts, lazy_parts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

WIDTH = 2
"""Candidate heads a modifier at the start."""

ITERATIONS = 100
"""Of the Lagrangian before branching, for each set of candidate arcs."""

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
        Stop rules for branch and bound, which few sentences need.
    """
    if single_root is None:
        single_root = _single_root(scores)
    parts, arcs, bounds = _prepared(scores)
    heads, score, bound, allowed, counts = search(arcs, bounds, parts, single_root, WIDTH, ITERATIONS, ROUNDS)
    termination, nodes = Termination.OPTIMAL, 0
    if score == -math.inf:
        termination = Termination.INFEASIBLE
    elif bound > score + _tolerance(score):
        heads, score, bound, termination, nodes = _branch(arcs, allowed, parts, single_root, heads, score, stop)
    else:
        bound = score
    return Parse(
        as_heads(heads) if score > -math.inf else None,
        float(score),
        float(bound),
        termination,
        nodes,
        (int(parts.scored[0]), int(parts.scored[1])),
        *counts.tolist(),
    )


def _single_root(scores: PartScores) -> bool:
    if isinstance(scores, SentenceScorer):
        return scores.weights.single_root
    return bool(getattr(scores, "single_root", False))


def _tolerance(score: float) -> float:
    return 1e-9 * max(1.0, abs(score))


def _prepared(scores: PartScores) -> tuple[Parts, Floats, Bounds]:
    """Parts, arc scores, and upper bounds on the parts that an arc closes."""
    size = len(scores) + 1
    grandparents, siblings, last = np.zeros((3, size, size))
    if isinstance(scores, SentenceScorer):
        weights, codes, arcs = scores.weights, scores.encoded.codes, scores.arcs
        if "grandparents" in weights.parts:
            grandparents = scores.parent_child_bounds.copy()
        if "siblings" in weights.parts:
            siblings = scores.head_modifier_bounds.copy()
            ends = score_ends(codes, weights.bounds["head_modifier"])
            last = np.where(np.tri(size, k=-1, dtype=np.bool_), ends[:, :1], ends[:, 1:])
        pairs = weights.bounds["parent_child"], weights.bounds["head_modifier"]
        parts = lazy_parts(codes, weights.grandparents, weights.siblings, *pairs, grandparents)
    else:
        instance = scores if isinstance(scores, Instance) else from_scores(scores)
        parts, arcs = (
            given_parts(size, instance.grandparent_scores, instance.sibling_scores),
            instance.arc_scores.copy(),
        )
        grandparents, siblings = instance.parent_child_bounds.copy(), instance.head_modifier_bounds.copy()
        if instance.sibling_scores is not None:
            vertices = np.arange(size)
            last = np.ascontiguousarray(instance.sibling_scores[vertices, :, vertices])
    grandparents[0] = 0.0  # what hangs from the root has no grandparent
    return parts, arcs, Bounds(grandparents, siblings, last, np.zeros((size, size), dtype=np.bool_))


# --- branch and bound ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArcDecision(Decision):
    """An arc (its number among the automata's) is in the tree, or is not."""

    arc: int
    required: bool


class AutomataRelaxation(Relaxation):
    """Bounds a node by the Lagrangian of the head automata; branches on an arc that its problems disagree about."""

    def __init__(self, automata: Automata, single_root: bool, run: Run, heads: Ints, score: float) -> None:
        self.automata = automata
        self.single_root = single_root
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
        bound, score, _ = relax(a, alive, leaving, entering, self.score, heads, NODE_ITERATIONS, self.single_root, True)
        if score > self.score:
            self.heads, self.score = heads, score
            self.run.offer(_solution(heads, score), None, "head automata")
        bound = max(bound, score)
        if self.run.prunes(bound):
            return Evaluation(bound, "proved")
        return Evaluation(
            bound,
            "branched",
            self._children(alive),
            (alive, leaving, entering),
            stop=Termination.TIME_LIMIT if self.run.expired else None,
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
    arcs: Floats,
    allowed: Mask,
    parts: Parts,
    single_root: bool,
    heads: Ints,
    score: float,
    stop: StopRule | Sequence[StopRule],
) -> tuple[Ints, float, float, Termination, int]:
    """Branch and bound over the arcs that a better tree can have; the incumbent may have others."""
    run = Run(Sense.MAXIMIZE, AnyOf(*((stop,) if callable(stop) else stop)))
    run.offer(_solution(heads, score), None, "head automata")
    candidates = allowed.copy()
    candidates[heads[1:], np.arange(1, len(heads))] = True
    automata = automata_of(candidates, arcs, parts)
    relaxation = AutomataRelaxation(automata, single_root, run, heads, score)
    outcome = branch_and_bound(relaxation, run)
    return (
        relaxation.heads,
        relaxation.score,
        max(outcome.bound, relaxation.score),
        outcome.termination,
        len(outcome.nodes),
    )

"""Results of the exact parser: trees, scores and bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from colgen import Result, Termination
from colgen.problems.dependency.sentence import Heads
from colgen.problems.grandparent_parsing.automata import AutomataParsing
from colgen.problems.grandparent_parsing.instance import GrandparentInstance, tree_objective
from colgen.problems.grandparent_parsing.pairs import PairParsing
from colgen.problems.grandparent_parsing.tree_list import first_order
from colgen.reporting.compared import proved_by_engine


@dataclass(frozen=True)
class Parse:
    """A tree and the proof of its optimality.

    Attributes
    ----------
    heads
        Head of each token; None if the candidate arcs contain no tree, or a limit was reached before one was found.
    score, bound
        Score of the tree, and an upper bound on all trees; both -inf if there is no tree.
    termination
        Why the search stopped; ``OPTIMAL`` if no tree is better.
    nodes
        Nodes of branch and bound; 0 if the first round was enough.
    scored
        Number of grandparent parts and of sibling parts scored.
    candidates, rounds, iterations
        Number of candidate arcs, of rounds that priced arcs, and of Lagrangian iterations; 0 for arrays of arc
        scores, which need no search.
    proved_by_engine
        Whether an oracle call in an engine round computed the bound, and the check verified the score; False for arrays
        of arc scores, whose bound is the dual value of one compiled algorithm.
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
    proved_by_engine: bool = False

    @property
    def is_optimal(self) -> bool:
        return self.termination is Termination.OPTIMAL


def make_parse(problem: AutomataParsing, result: Result) -> Parse:
    """Return the parse of a run for one tree."""
    heads: Heads | None = result.answer
    counts = _counts(problem)
    if heads is None and result.termination is not Termination.INFEASIBLE:
        heads = _any_tree(problem)  # time ran out before any tree was found
        if heads is not None and isinstance(problem.scores, GrandparentInstance) and not problem.scores.allows(heads):
            return Parse(None, -math.inf, result.dual_bound, result.termination, len(result.nodes), *counts)
    if heads is None:
        return Parse(None, -math.inf, -math.inf, Termination.INFEASIBLE, 0, *counts)
    score = result.objective if result.answer is not None else tree_objective(problem.scores, heads)
    bound = _bound(problem, result)
    bound = max(bound, score)
    stated = score if result.is_optimal else bound
    return Parse(heads, score, stated, result.termination, len(result.nodes), *counts, proved_by_engine(result))


def make_tree_parse(heads: Heads | None, score: float, bound: float) -> Parse:
    """Return the parse of a best tree of arc scores, found without the engine."""
    proved = Termination.INFEASIBLE if heads is None else Termination.OPTIMAL
    return Parse(heads, score, max(score, bound), proved, 0, (0, 0), 0, 0, 0)


def make_parses(problem: AutomataParsing, result: Result) -> list[Parse]:
    """Return the parses of a run, best first.

    The run's bound applies to all trees outside the list, so trees at least as good as the bound are proved.
    """
    trees: list[Heads] = list(result.answer or ()) if problem.k > 1 else [result.answer] if result.answer else []
    if not trees and result.termination is not Termination.INFEASIBLE:  # time ran out before k trees were found
        trees = list(problem.listed.pool.trees) if problem.listed is not None else []
        any_tree = None if trees else _any_tree(problem)
        trees = trees if any_tree is None else [any_tree]
        scores = problem.scores
        trees = [heads for heads in trees if not isinstance(scores, GrandparentInstance) or scores.allows(heads)]
    ranked = sorted(((tree_objective(problem.scores, heads), heads) for heads in trees), key=lambda pair: -pair[0])
    bound, counts, by_engine = _bound(problem, result), _counts(problem), proved_by_engine(result)
    found = []
    for score, heads in ranked:
        proved = result.is_optimal or score >= bound
        ending = Termination.OPTIMAL if proved else result.termination
        stated = score if proved else bound
        found.append(Parse(heads, score, stated, ending, len(result.nodes), *counts, by_engine and proved))
    return found


def make_pair_parse(problem: PairParsing, result: Result) -> Parse:
    """Return the parse of a run with pair scores."""
    scored = problem.scored.get("grandparent", 0), problem.scored.get("sibling", 0)
    candidates = int((problem.scores.arcs > -math.inf).sum())
    return Parse(
        result.answer,
        result.objective,
        result.dual_bound,
        result.termination,
        len(result.nodes),
        scored,
        candidates,
        len(result.iterations),
        0,
        proved_by_engine(result),
    )


def _any_tree(problem: AutomataParsing) -> Heads | None:
    """Return a tree that maximises upper bounds of the arcs; None if there is no tree."""
    if not problem.projective:
        return problem.standard.first_tree
    found = first_order(problem.standard.by_arc, 1, True, problem.single_root)
    return found[0] if found else None


def _bound(problem: AutomataParsing, result: Result) -> float:
    if result.dual_bound < math.inf:
        return result.dual_bound
    return problem.standard.bound + problem.standard.constant  # no round was completed


def _counts(problem: AutomataParsing) -> tuple[tuple[int, int], int, int, int]:
    return problem.scored, problem.candidates, problem.rounds, problem.iterations

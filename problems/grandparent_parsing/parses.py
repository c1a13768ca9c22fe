"""What the exact parser says of trees: their scores, and what is proved of them."""

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
        Of branch and bound; 0 where the first round decided.
    scored
        Grandparent parts and sibling parts that were scored.
    candidates, rounds, iterations
        Arcs whose parts were looked at, rounds of pricing arcs, iterations of the Lagrangian.
    proved_by_engine
        Whether an oracle call in one of the engine's rounds has computed the bound that proves the tree, and the check
        its score.
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
        """Whether the tree is proved to be the best."""
        return self.termination is Termination.OPTIMAL


def parsed(problem: AutomataParsing, result: Result) -> Parse:
    """What a run for one tree has found."""
    heads: Heads | None = result.answer
    counts = _counts(problem)
    if heads is None and result.termination is not Termination.INFEASIBLE:
        heads = _any_tree(problem)  # there was no time for any
        if heads is not None and isinstance(problem.scores, GrandparentInstance) and not problem.scores.allows(heads):
            return Parse(None, -math.inf, result.dual_bound, result.termination, len(result.nodes), *counts)
    if heads is None:
        return Parse(None, -math.inf, -math.inf, Termination.INFEASIBLE, 0, *counts)
    score = result.objective if result.answer is not None else tree_objective(problem.scores, heads)
    bound = _bound(problem, result)
    bound = max(bound, score)
    stated = score if result.is_optimal else bound
    return Parse(heads, score, stated, result.termination, len(result.nodes), *counts, proved_by_engine(result))


def parsed_list(problem: AutomataParsing, result: Result) -> list[Parse]:
    """What a run has found, whatever was asked for: trees, best first, of each what is proved.

    The run's bound is one on all trees that are not in the list: those that are not worse are the best that there are.
    """
    trees: list[Heads] = list(result.answer or ()) if problem.k > 1 else [result.answer] if result.answer else []
    if not trees and result.termination is not Termination.INFEASIBLE:  # there was no time for k
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


def parsed_pairs(problem: PairParsing, result: Result) -> Parse:
    """What a run with scores of pairs has found."""
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
    """A tree by bounds of what arcs bring; None if there is none."""
    if not problem.projective:
        return problem.standard.first_tree
    found = first_order(problem.standard.by_arc, 1, True, problem.single_root)
    return found[0] if found else None


def _bound(problem: AutomataParsing, result: Result) -> float:
    if result.dual_bound < math.inf:
        return result.dual_bound
    return problem.standard.bound + problem.standard.constant  # nothing was priced


def _counts(problem: AutomataParsing) -> tuple[tuple[int, int], int, int, int]:
    return problem.scored, problem.candidates, problem.rounds, problem.iterations

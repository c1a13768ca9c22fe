"""The exact parser: the best tree of arcs, grandparent parts and consecutive sibling parts, with a proof.

Nearly all sentences are proved by one oracle call at multipliers that an ascent has guessed
(:mod:`problems.grandparent_parsing.automata`); what is left over goes to branch and bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast, overload

from numpy.typing import ArrayLike

from colgen import Result, Termination, solve
from colgen.core.errors import InputError
from colgen.core.stop import StopRule
from colgen.reporting.proofs import proved_by_engine
from problems.dependency.sentence import Heads
from problems.grandparent_parsing.automata import AutomataParsing
from problems.grandparent_parsing.instance import Instance, PartScores, tree_objective
from problems.grandparent_parsing.pairs import PairParsing
from solvers.arrays import ArrayError, as_batch


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


@overload
def parse(
    scores: PartScores, *, single_root: bool | None = None, stop: StopRule | Sequence[StopRule] = ()
) -> Parse: ...
@overload
def parse(
    scores: ArrayLike,
    *,
    lengths: ArrayLike | None = None,
    single_root: bool | None = None,
    stop: StopRule | Sequence[StopRule] = (),
) -> Any: ...
def parse(
    scores: Any,
    *,
    lengths: ArrayLike | None = None,
    single_root: bool | None = None,
    stop: StopRule | Sequence[StopRule] = (),
) -> Any:
    """The best tree.

    Parameters
    ----------
    scores
        Scores of arcs, an array or whatever makes one, shape (n + 1, n + 1) by head and modifier, the root first, -inf
        where there is no arc, or a batch of them, shape (sentences, n + 1, n + 1); more arrays
        (:class:`~problems.grandparent_parsing.instance.Instance`); a trained model's scorer, or a class of your own
        (all of whose parts are then scored).  An instance with scores of pairs goes to branch and bound at once
        (:class:`~problems.grandparent_parsing.pairs.PairParsing`).
    lengths
        How many tokens each sentence of a batch has; by default n.
    single_root
        Whether exactly one token must hang from the root; by default what the scores say.
    stop
        Stop rules.  A time limit holds for everything, from the first line on; the others are for branch and bound,
        which few sentences need.

    An interrupt (Ctrl-C) ends it with the best tree so far; a second one ends it wherever it is.

    Returns
    -------
    Parse
        A list of them for a batch.

    Raises
    ------
    InputError
        If the scores are none of this.
    InfeasibleAnswerError
        If the tree found is none, or is not worth what was claimed: a mistake of this project's.
    """
    if isinstance(scores, (list, tuple)) or hasattr(scores, "__array__") or hasattr(scores, "__dlpack__"):
        try:
            batch = as_batch(scores, "scores", lengths=lengths, root=1)
        except ArrayError as error:
            raise InputError(str(error)) from None
        if batch is not None:
            return [parse(Instance(own), single_root=single_root, stop=stop) for own in batch]
        scores = Instance(scores)
    elif lengths is not None:
        raise InputError("lengths: expected scores of shape (sentences, n + 1, n + 1) to go with them")
    if isinstance(scores, Instance) and scores.pair_scores is not None:
        return _with_pairs(PairParsing(scores, single_root=single_root), stop)
    problem = AutomataParsing(cast(PartScores, scores), single_root=single_root)
    return parsed(problem, solve(problem, stop=stop))


def _with_pairs(problem: PairParsing, stop: StopRule | Sequence[StopRule]) -> Parse:
    result = solve(problem, stop=stop)
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


def parsed(problem: AutomataParsing, result: Result) -> Parse:
    """What a run has found."""
    heads: Heads | None = result.answer
    counts = problem.scored, problem.candidates, problem.rounds, problem.iterations
    if heads is None and result.termination is not Termination.INFEASIBLE:
        heads = problem.standard.first_tree  # there was no time for any
        if heads is not None and isinstance(problem.scores, Instance) and not problem.scores.allows(heads):
            return Parse(None, -math.inf, result.dual_bound, result.termination, len(result.nodes), *counts)
    if heads is None:
        return Parse(None, -math.inf, -math.inf, Termination.INFEASIBLE, 0, *counts)
    score = result.objective if result.answer is not None else tree_objective(problem.scores, heads)
    bound = result.dual_bound
    if bound == math.inf:  # nothing was priced
        bound = problem.standard.bound + problem.standard.constant
    bound = max(bound, score)
    stated = score if result.is_optimal else bound
    return Parse(heads, score, stated, result.termination, len(result.nodes), *counts, proved_by_engine(result))

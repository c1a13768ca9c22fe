"""Learned branching: a learner scores candidates by their features, and the best are tried by linear programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import BranchingRule, Candidate, candidates_of
from colgen.branching.selection import Choice, Chosen
from colgen.branching.strong_branching import learn
from colgen.branching.trials import Trial, Trials
from colgen.core.columns import Column, Key, as_numbers
from colgen.core.decision import Decision
from colgen.core.errors import InputError
from colgen.core.numbers import integer
from colgen.core.solution import Solution
from colgen.core.text import describe
from colgen.core.tolerances import fractionality

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_OF_NODES = ("depth", "gap", "candidates", "rows", "columns")
_OF_QUANTITIES = (
    "score",
    "distance_min",
    "distance_max",
    "pseudo_cost_min",
    "pseudo_cost_max",
    "pseudo_cost_merit",
    "pseudo_cost_count",
)
_OF_COLUMNS = (
    "displaced_min",
    "displaced_max",
    "displaced_columns_min",
    "displaced_columns_max",
    "displaced_cost_min",
    "displaced_cost_max",
    "common_rows",
    "common_duals",
    "common_columns_min",
    "common_columns_mean",
    "common_cost_spread",
    "overlap_min",
    "overlap_max",
)
_OF_TRIALS = ("trial_min", "trial_max", "trial_merit")

FEATURES = (*_OF_NODES, *_OF_QUANTITIES, *_OF_COLUMNS, *_OF_TRIALS)
"""Names of the features of a candidate, in the order of the columns of :attr:`CandidateFeatures.values`."""

_SMALLEST = 1e-3
"""A smaller gain, as a share of the gap, counts as this in logarithms."""

_MOST = 100
"""Number of candidates, the first of the rule, that are scored."""


@dataclass(frozen=True)
class CandidateFeatures:
    """The features of the candidates of one node.

    Attributes
    ----------
    candidates
        The candidates, in the order of the rule.
    values
        Shape (candidates, features), all finite; the names are in :data:`FEATURES`.  ``min`` and ``max`` are over the
        children of a candidate.  Gains and costs are shares of the gap to the incumbent; without one, of the objective.

        * ``depth``, ``gap`` (relative to the objective), numbers of candidates, rows and columns in use: equal for all
          candidates of a node.
        * ``score`` of the rule, and the distances by which the children move the quantity.
        * Gains expected by pseudo-costs, the sum of their logarithms (``merit``), and the least number of observations.
        * Values, number and cost of the columns in use that a child displaces.
        * ``common``: rows that all columns of the smallest displaced set cover: their number, absolute dual values,
          the fractional columns that cover them (fewest and mean), and the spread of their costs.
        * ``overlap``: value of the other columns, weighted by the share of their rows that displaced columns cover.
        * ``trial``: gains of the children in trials, and the sum of their logarithms; 0 if not tried.
    tried
        Whether the children were tried.

    References
    ----------
    E. Khalil, P. Le Bodic, L. Song, G. Nemhauser, B. Dilkina, *Learning to branch in mixed integer programming* (AAAI
    2016); A. Alvarez, Q. Louveaux, L. Wehenkel, *A machine learning-based approximation of strong branching*, INFORMS
    Journal on Computing 29 (2017), on features.
    """

    candidates: Sequence[Candidate]
    values: Floats
    tried: bool = False


class CandidateScorer(Protocol):
    """Scores branching candidates; a learner implements it.  Scores change the size of the tree, never a bound."""

    def score(self, features: CandidateFeatures) -> ArrayLike:
        """Return one number per candidate, the largest for the best.  NaN ranks a candidate last."""


class LearnedBranching(Choice):
    """Branching in two stages by a learner.

    The learner scores all candidates by features that need no linear program.  The children of the best candidates are
    tried by linear programs and some rounds of pricing, and the learner scores these candidates again.

    Parameters
    ----------
    scorer
        The learner: an object with a method ``score``; see :class:`CandidateScorer`.
    tried
        Number of candidates whose children are tried.  0: none, and the first score decides.
    rounds
        Rounds of pricing for each child.  0: the linear program over the known columns only.

    Raises
    ------
    InputError
        If ``scorer`` has no method ``score``.  At a node if it does not return one number per candidate.

    References
    ----------
    Z. You, Y. Yang, X. Xu, *Two-stage learning to branch in branch-price-and-cut algorithms for solving vehicle routing
    problems exactly* (2023), on the two stages.

    Examples
    --------
    >>> class ByDistance:
    ...     def score(self, features):  # the children that move the quantity most
    ...         return features.values[:, FEATURES.index("distance_min")]
    >>> solve(problem, method=Method(choice=LearnedBranching(ByDistance()))).objective
    453.0
    """

    def __init__(self, scorer: CandidateScorer, *, tried: int = 5, rounds: int = 1) -> None:
        if isinstance(scorer, type) or not callable(getattr(scorer, "score", None)):
            raise InputError(f"scorer: expected an object with a method score(features), not {describe(scorer)}")
        self.scorer = scorer
        self.tried = integer(tried, "tried")
        self.rounds = integer(rounds, "rounds")

    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trials: Trials) -> Chosen | None:
        found = candidates_of(rule, solution)[:_MOST]
        if len(found) < 2:
            return Chosen(found[0]) if found else None
        features = CandidateFeatures(found, features_of(found, solution, costs, trials))
        order = self._rank(features)
        if self.tried < 2:
            return Chosen(found[order[0]])
        best = order[: self.tried]
        results = try_children([found[k] for k in best], self.rounds, trials)
        for k, children in zip(best, results, strict=True):
            learn(costs, found[k], children)
        n = self._rank(with_trials(features, best, results, trials))[0]
        return Chosen(found[best[n]], results[n])

    def _rank(self, features: CandidateFeatures) -> list[int]:
        """Return the numbers of the candidates by decreasing score.  Ties keep their order."""
        name, count = f"{type(self.scorer).__name__}.score()", len(features.candidates)
        given = self.scorer.score(features)
        if given is None:
            raise InputError(f"{name} returned None: expected {count} numbers, one per candidate")
        scores = as_numbers(given, name)
        if scores.shape != (count,):
            raise InputError(
                f"{name} returned an array of shape {scores.shape}: expected ({count},), one per candidate"
            )
        order: list[int] = np.argsort(-np.where(np.isnan(scores), -math.inf, scores), kind="stable").tolist()
        return order


def try_children(candidates: Sequence[Candidate], rounds: int, trials: Trials) -> list[Sequence[Trial]]:
    """Return the trials of the children of each candidate.  Candidates have none once the time is up."""
    results: list[Sequence[Trial]] = []
    for candidate in candidates:
        if trials.is_over:
            results.append(())
        elif rounds:
            results.append([trials.price(child, rounds) for child in candidate.children])
        else:
            results.append([trials.linear(child) for child in candidate.children])
    return results


def with_trials(
    features: CandidateFeatures, chosen: Sequence[int], results: Sequence[Sequence[Trial]], trials: Trials
) -> CandidateFeatures:
    """Return the features of the chosen candidates with the gains of their trials."""
    values, scale, first = features.values[list(chosen)], _scale(trials), len(FEATURES) - len(_OF_TRIALS)
    for n, children in enumerate(results):
        gains = np.array([child.gain for child in children], dtype=np.float64)
        values[n, first:] = _summarise(np.minimum(gains, scale) / scale)
    return CandidateFeatures([features.candidates[k] for k in chosen], values, tried=True)


def _scale(trials: Trials) -> float:
    """Return the gap, or without an incumbent the objective: the unit of gains and costs."""
    return trials.gap if math.isfinite(trials.gap) else max(abs(trials.objective), trials.least)


def _summarise(shares: Floats) -> tuple[float, float, float]:
    """Return the least and largest of the children's gains, as shares of the gap, and the sum of their logarithms."""
    if not len(shares):
        return 0.0, 0.0, 0.0
    return shares.min(), shares.max(), float(np.log(np.maximum(shares, _SMALLEST)).sum())


def gains_merit(gains: Sequence[float], trials: Trials) -> float:
    """Return the sum of the logarithms of gains, each at most the gap and relative to it."""
    scale = _scale(trials)
    return _summarise(np.minimum(gains, scale) / scale)[2]


def features_of(candidates: Sequence[Candidate], solution: Solution, costs: PseudoCosts, trials: Trials) -> Floats:
    """Return the features of candidates that need no linear program; those of trials are 0."""
    columns = _Used(solution, trials)
    scale = _scale(trials)
    node = (
        float(trials.depth),
        trials.gap / max(abs(trials.objective), trials.least) if math.isfinite(trials.gap) else 1.0,
        float(len(candidates)),
        float(columns.covers.shape[1]),
        float(len(solution.columns)),
    )
    counts, gains = costs.counts(candidates), costs.gains(candidates)
    values = np.zeros((len(candidates), len(FEATURES)))
    with np.errstate(all="ignore"):
        for n, candidate in enumerate(candidates):
            distances = [distance for _, distance in candidate.moves] or [0.0]
            quantity = (
                *(candidate.score, min(distances), max(distances)),
                *(*_summarise(gains[n] / scale), counts[n]),
            )
            own = (*node, *quantity, *columns.describe(candidate))
            values[n, : len(own)] = own
    return np.nan_to_num(values, nan=0.0)


class _Used:
    """The fractional columns of a node's solution, or all if none is fractional, and the rows that they cover.

    ``covers`` has shape (columns, rows); ``duals`` are the absolute dual values of the rows.
    """

    def __init__(self, solution: Solution, trials: Trials) -> None:
        used = [pair for pair in solution.columns if fractionality(pair[1])] or list(solution.columns)
        self.columns: list[Column] = [column for column, _ in used]
        self.values = np.array([value for _, value in used], dtype=np.float64)
        self.costs = np.array([column.cost for column in self.columns], dtype=np.float64)
        place: dict[Key, int] = {}
        entries = [
            (n, place.setdefault(key, len(place)))
            for n, column in enumerate(self.columns)
            for key, entry in column.coefficients.items()
            if entry
        ]
        self.covers: Mask = np.zeros((len(used), len(place)), dtype=np.bool_)
        if entries:
            self.covers[tuple(np.array(entries).T)] = True
        self.sizes = np.maximum(self.covers.sum(axis=1), 1)
        self.counts = self.covers.sum(axis=0)
        self.duals = np.abs([trials.dual_value(key) for key in place])
        self.scale = _scale(trials)

    def describe(self, candidate: Candidate) -> tuple[float, ...]:
        """Return the features of a candidate that concern columns in use."""
        displaced = [self._displaced(child) for child in candidate.children]
        smallest = min((each for each in displaced if each.any()), key=np.count_nonzero, default=None)
        if smallest is None:
            return (0.0,) * len(_OF_COLUMNS)
        common = self.covers[smallest].all(axis=0)
        near: Mask = np.any(self.covers[:, common], axis=1) | (not common.any())
        counts, near_costs = self.counts[common], self.costs[near] / self.scale
        sums: list[tuple[float, ...]] = []
        for mask in displaced:
            mine = mask & near
            overlap = ~mine * self.values * (self.covers[:, self.covers[mine].any(axis=0)].sum(axis=1) / self.sizes)
            cost = (self.values[mine] * (self.costs[mine] / self.scale)).sum()
            sums.append((self.values[mine].sum(), mine.sum(), cost, overlap.sum()))
        (*least, least_overlap), (*most, most_overlap) = np.min(sums, axis=0), np.max(sums, axis=0)
        return (
            *(value for pair in zip(least, most, strict=True) for value in pair),
            common.sum(),
            self.duals[common].sum() / self.scale,
            counts.min(initial=0 if not len(counts) else counts[0]),
            counts.mean() if len(counts) else 0.0,
            near_costs.std(),
            least_overlap,
            most_overlap,
        )

    def _displaced(self, child: Sequence[Decision]) -> Mask:
        """Return which columns a child forbids; if none, which ones are on the wrong side of its rows."""
        allowed = [all(decision.allows(column) for decision in child) for column in self.columns]
        displaced = ~np.array(allowed, dtype=np.bool_)
        if displaced.any():
            return displaced
        for row in (decision.row() for decision in child):
            if row is not None and row.coefficient is not None:
                amounts = np.array([row.coefficient_in(column) for column in self.columns])
                displaced |= amounts < row.lower if math.isfinite(row.lower) else amounts > row.upper
        return displaced

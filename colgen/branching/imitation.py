"""A linear scorer of branching candidates that imitates strong branching, and the examples that it learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.branching.learned import (
    FEATURES,
    CandidateFeatures,
    features_of,
    gains_merit,
    try_children,
    with_trials,
)
from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import BranchingRule, candidates_of
from colgen.branching.selection import Choice, Chosen, rank_by_merit
from colgen.branching.trials import Trials
from colgen.core.errors import InputError
from colgen.core.numbers import integer, real
from colgen.core.solution import Solution

Floats = NDArray[np.float64]

_MERIT = FEATURES.index("pseudo_cost_merit")

_TRIED = 8
"""Candidates of a node from which the second stage learns: the best of the first."""


class LinearScorer:
    """Scores candidates by a linear function of their features, scaled at each node to the interval [0, 1].

    Parameters
    ----------
    first, second
        Weights of the features before and after children are tried, in the order of ``FEATURES``.
    """

    def __init__(self, first: Floats, second: Floats) -> None:
        self.first, self.second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        for name, weights in (("first", self.first), ("second", self.second)):
            if weights.shape != (len(FEATURES),) or not np.isfinite(weights).all():
                raise InputError(
                    f"{name}: expected {len(FEATURES)} finite weights, one per feature, not an array of shape "
                    f"{weights.shape}"
                )

    def score(self, features: CandidateFeatures) -> Floats:
        """Return one score per candidate."""
        scores: Floats = _scaled(features.values) @ (self.second if features.tried else self.first)
        return scores


@dataclass(frozen=True)
class BranchingExample:
    """The candidates of one node: their features with trials, shape (candidates, features), and true merits."""

    values: Floats
    merits: Floats


class StrongExamples(Choice):
    """Solves the children of candidates to the end, and stores features and merits in :attr:`examples`.

    At even depths it branches by pseudo-costs, at odd depths on the candidate of the largest merit, so that the
    examples include nodes of trees that are not the smallest.  Copies share the list.  Runs in other processes do not.

    Parameters
    ----------
    most
        Number of candidates that are tried at a node: up to 8 by pseudo-costs, the others in the order of the rule.
    rounds
        Rounds of pricing of the trials among the features, as in :class:`~colgen.branching.learned.LearnedBranching`.

    Examples
    --------
    >>> examples = StrongExamples()
    >>> found = ablation(problem, {"strong": Method(choice=examples)})
    """

    def __init__(self, *, most: int = 25, rounds: int = 1) -> None:
        self.most = integer(most, "most", low=2)
        self.rounds = integer(rounds, "rounds")
        self.examples: list[BranchingExample] = []

    def __deepcopy__(self, memory: dict[int, Any]) -> StrongExamples:
        return self  # an ablation copies its methods

    def choose(self, rule: BranchingRule, solution: Solution, costs: PseudoCosts, trials: Trials) -> Chosen | None:
        found = candidates_of(rule, solution)
        if len(found) < 2:
            return Chosen(found[0]) if found else None
        ranked = rank_by_merit(found, costs.gains(found), trials)
        selected = [found[k] for k in list(dict.fromkeys([*ranked[:_TRIED], *range(len(found))]))[: self.most]]
        features = CandidateFeatures(selected, features_of(selected, solution, costs, trials))
        results = try_children(selected, self.rounds, trials)
        features = with_trials(features, range(len(selected)), results, trials)
        merits = []
        for candidate in selected:
            merits.append(gains_merit([trials.price(child).gain for child in candidate.children], trials))
            if trials.is_over:
                return Chosen(selected[0])
        self.examples.append(BranchingExample(features.values, np.array(merits)))
        by = features.values[:, _MERIT] if trials.depth % 2 == 0 else np.array(merits)
        return Chosen(selected[int(by.argmax())])


def fit_scorer(examples: Sequence[BranchingExample], *, ridge: float = 30.0) -> LinearScorer:
    """Return the linear scorer whose scores are nearest to the merits, by least squares over differences in nodes.

    Parameters
    ----------
    examples
        :attr:`StrongExamples.examples`, of several runs.
    ridge
        Factor of the squared weights in the objective; above 0.

    Raises
    ------
    InputError
        If there is no example, or ``ridge`` is not positive.
    """
    if not examples:
        raise InputError("examples: expected at least one node, such as StrongExamples().examples after a run")
    if not real(ridge, "ridge") > 0.0:
        raise InputError(f"ridge: expected a number above 0, not {ridge}")
    trials = np.array([name.startswith("trial_") for name in FEATURES])
    without = [BranchingExample(np.where(trials, 0.0, each.values), each.merits) for each in examples]
    first = _regress(without, ridge)
    best = [np.argsort(-(_scaled(each.values) @ first), kind="stable")[:_TRIED] for each in without]
    tried = [BranchingExample(each.values[k], each.merits[k]) for each, k in zip(examples, best, strict=True)]
    return LinearScorer(first, _regress(tried, ridge))


def _scaled(values: Floats) -> Floats:
    """Return features moved and scaled to [0, 1] over the candidates; features that are all equal become 0."""
    least, most = values.min(axis=0), values.max(axis=0)
    spread = np.where(most > least, most / 2 - least / 2, 1.0)  # halves, as the difference may be infinite
    scaled: Floats = (values / 2 - least / 2) / spread
    return scaled


def _regress(examples: Sequence[BranchingExample], ridge: float) -> Floats:
    """Return the weights of features that predict differences of merits at the same node."""
    inputs, outputs = [], []
    for each in examples:
        scaled = _scaled(each.values)
        inputs.append(scaled - scaled.mean(axis=0))
        outputs.append(each.merits - each.merits.mean())
    matrix, right = np.vstack(inputs), np.concatenate(outputs)
    weights: Floats = np.linalg.solve(matrix.T @ matrix + ridge * np.eye(len(FEATURES)), matrix.T @ right)
    return weights

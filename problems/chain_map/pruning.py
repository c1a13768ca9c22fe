"""Simplified instances: rule (14) forbids labels, and scores are limited so that differences are accurate."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import Budget
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernels.exchange_bounds import Exchanges
from colgen.problems.chain_map.kernels.tree_labels import best_labels, greedy_labels, score_labels
from colgen.problems.chain_map.kernels.tree_pruning import prune_by_bounds
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.solvers.chains.forest import NONE
from colgen.solvers.chains.magnitudes import find_extremes
from colgen.solvers.chains.tree_domains import sweep
from colgen.solvers.chains.tree_messages import Model

Values = NDArray[np.float64]

_UNIT, _SAMPLE = 0.1, 4096
"""The unit of a model is this quantile of the magnitudes of its scores, from a sample of at most this size."""

_SCORES_PER_CHECK = 2**20
"""Scores processed between two checks of the budget."""

_PENALTY_RANGE = 2.0**16
"""A model with larger scores than this many units may contain penalties."""

_PENALTY_LEVEL = 2.0**24
"""A best labelling this many units below zero contains a penalty: rounding would hide smaller differences."""

_RESOLUTION = 2.0**8
"""Bounds by exchanges do not resolve differences below about this many rounding errors of the largest score."""


class NormalForm(NamedTuple):
    """A model with the same best labellings, suitable for arithmetic with differences."""

    model: Model  # the best score of each node and of each table is zero
    pairwise: Pairwise  # its tables, with their maxima
    size: float  # largest magnitude of its scores
    offsets: Values  # per tree: score in the original instance minus score in the model
    best: NDArray[np.int32]  # label of best local score at each node
    feasible: NDArray[np.bool_] | None = None  # whether each tree has a labelling; None if all have
    settled: NDArray[np.bool_] | None = None  # trees solved already, because all their labellings have a penalty
    labels: NDArray[np.int32] | None = None  # best labellings of settled trees


def unchanged_form(instance: ChainInstance) -> NormalForm:
    """Return the instance itself as a model, in double precision."""
    pairwise, tops = instance.pairwise.double, np.zeros(instance.forest.num_nodes)
    best = instance.scores.argmax(axis=1).astype(np.int32)
    model = Model(instance.scores, tops, -np.inf, pairwise.rows, pairwise.transposed_rows)
    return NormalForm(model, pairwise, max(instance.size, pairwise.size), np.zeros(instance.num_trees), best)


def prune(instance: ChainInstance, budget: Budget | None = None) -> ChainInstance:
    """Return the instance in which rule (14) forbids labels that no best labelling needs."""
    budget = Budget() if budget is None else budget
    domains = prune_by_bounds(instance.forest, instance.scores, instance.pairwise.tables, require=budget.require)
    scores = np.full_like(instance.scores, -np.inf)
    step = max(1, _SCORES_PER_CHECK // instance.num_labels)
    for first in range(0, instance.forest.num_nodes, step):
        budget.require()
        starts = domains.starts[first : first + step + 1]
        labels = domains.labels[starts[0] : starts[-1]]
        nodes = np.repeat(np.arange(first, first + len(starts) - 1), np.diff(starts))
        scores[nodes, labels] = instance.scores[nodes, labels]
    return dataclasses.replace(instance, scores=scores)


def prune_normal_form(instance: ChainInstance, normal: NormalForm, budget: Budget) -> NormalForm:
    """Return a normal form without the labels that rule (14) excludes."""
    model = normal.model
    scores = np.maximum(model.scores - model.tops[:, np.newaxis], model.low)
    left = prune(ChainInstance(instance.forest, scores, normal.pairwise), budget)
    changed = model._replace(scores=left.scores, tops=np.zeros_like(model.tops), low=-math.inf)
    return normal._replace(model=changed)  # the best label of a node is never excluded


def normal_form(instance: ChainInstance, budget: Budget | None = None) -> NormalForm:
    """Return a model with the same best labellings in which very low scores do not spoil the accuracy of differences.

    Reduced costs are differences. They are undefined for -inf, and with a score of -1e12 all digits of other scores are
    lost. All scores are at most zero. So a label or pair that scores less than some labelling of its tree is in no best
    labelling, and its score may be any number below that. A tree whose labellings all contain a penalty would force
    large scores on all trees, so it is solved here. Raises OutOfBudget if the time is used up.
    """
    budget = Budget() if budget is None else budget
    forest, scores = instance.forest, instance.scores
    pairwise, highest = instance.pairwise.centred
    tops, best, lowest, finite = _extremes(scores, budget)
    offsets = tops.copy()
    inner = forest.parent != NONE
    offsets[inner] += highest[forest.table[inner]]
    sample = np.concatenate([_sample(scores, tops), _sample(pairwise.tables, np.zeros(len(pairwise.tables)))])
    sample = sample[np.isfinite(sample) & (sample != 0)]
    unit = float(np.quantile(-sample, _UNIT)) if len(sample) else 0.0
    lowest, low = min(lowest, pairwise.lowest), -math.inf
    feasible = settled = found = None
    size = -lowest if lowest > -math.inf else max(-finite, pairwise.size)
    if lowest == -math.inf or size > _PENALTY_RANGE * unit:
        values, rows = np.empty(instance.num_trees), pairwise.rows
        below = scores - tops[:, np.newaxis]
        labels = np.empty(forest.num_nodes, dtype=np.int32)
        greedy_labels(forest, below, rows, 0, instance.num_trees, labels)
        score_labels(forest, below, rows, labels, values)
        worst = float(values.min())
        if worst == -math.inf or (size > _PENALTY_RANGE * unit and worst < -min(size / 8, _PENALTY_LEVEL * unit)):
            # There is a penalty, but the best labelling may avoid it.
            known = pairwise if pairwise.is_bounded else instance.pairwise
            exchanges = known.exchanges_within(budget.require).astype(float, copy=False)
            budget.require()
            domains = sweep(forest, below, rows, exchanges)
            best_labels(forest, below, rows, domains, np.arange(instance.num_trees), labels, values)
        possible = values > -np.inf
        feasible = None if possible.all() else possible
        far = possible & (values < -_PENALTY_LEVEL * unit)
        if far.any():
            settled, found = far, labels
        low = 2.0 * float(values[possible & ~far].min(initial=0.0)) - 16.0 * unit
        low = low if low < 0 else -1.0 if size == 0 else -size
        if pairwise.lowest < low:
            pairwise = Pairwise(np.maximum(pairwise.tables, low))
        size = min(size, -low)
    model = Model(scores, tops, low, pairwise.rows, pairwise.transposed_rows)
    offsets = np.add.reduceat(offsets, forest.starts[:-1])
    return NormalForm(model, pairwise, size, offsets, best, feasible, settled, found)


def exchanges_for(instance: ChainInstance, normal: NormalForm, budget: Budget) -> Exchanges | None:
    """Return tables for bounds by exchanges; None if other bounds are better or the time is used up.

    Penalties make differences inaccurate, and single precision must be able to distinguish the labels.
    """
    model, (centred, _) = normal.model, instance.pairwise.centred
    if model.low > -math.inf or normal.pairwise is not centred:
        return None
    pairwise = instance.pairwise if instance.pairwise.tables.dtype == model.scores.dtype else centred
    size = max(instance.size, normal.size)
    if _RESOLUTION * float(np.finfo(model.scores.dtype).eps) * max(size, pairwise.size) > instance.scale:
        return None
    known = pairwise.exchanges_both_ways(budget.require)
    if known is None:
        return None
    return Exchanges(pairwise.rows, pairwise.transposed_rows, *known, size, pairwise.size)


def _extremes(scores: NDArray[Any], budget: Budget) -> tuple[Values, NDArray[np.int32], float, float]:
    """Return each node's best score and label (0 if all are forbidden), the lowest score, and the lowest finite one."""
    tops, best, lowest = np.empty(len(scores)), np.empty(len(scores), dtype=np.int32), np.zeros(2)
    step = max(1, _SCORES_PER_CHECK // scores.shape[1])
    for first in range(0, len(scores), step):
        budget.require()
        find_extremes(scores, first, min(first + step, len(scores)), tops, best, lowest)
    return tops, best, float(lowest[0]), float(lowest[1])


def _sample(array: NDArray[Any], tops: Values) -> Values:
    """Return a sample of the scores, each minus the best score of its row."""
    flat = array.reshape(-1)
    step = max(1, len(flat) // _SAMPLE)
    chosen = np.arange(0, len(flat), step)
    sample: Values = flat[chosen] - tops[chosen // (len(flat) // len(tops))]
    return sample

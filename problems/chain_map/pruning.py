"""Instances made easier: labels forbidden by rule (14), and numbers that reduced costs can be taken of."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import Budget
from problems.chain_map.instance import Instance
from problems.chain_map.kernels.tree_labels import best_labels, greedy_labels, score_labels
from problems.chain_map.kernels.tree_pruning import prune_by_bounds
from problems.chain_map.pairwise import Pairwise
from solvers.chains.forest import NONE
from solvers.chains.magnitudes import largest
from solvers.chains.tree_domains import exchange, sweep

Values = NDArray[np.float64]

_UNIT, _SAMPLE = 0.1, 4096
"""The unit of a model is this quantile of the magnitudes of so many of its scores, at most."""

_AT_ONCE = 2**20
"""Scores between two looks at the budget."""

_WIDE = 2.0**16
"""A model with larger numbers than so many units may have penalties among its scores."""


class NormalForm(NamedTuple):
    """A model with the same best labellings, for arithmetic with differences.

    Attributes
    ----------
    instance
        In double precision; the best score of each node's labels is zero, and so is that of each table.
    offsets
        What each tree's labellings score more in the instance that this is made of.
    feasible
        Which trees have a labelling; None if all have.
    """

    instance: Instance
    offsets: Values
    feasible: NDArray[np.bool_] | None


def prune(instance: Instance, budget: Budget | None = None) -> Instance:
    """The same instance with labels forbidden that no best labelling needs, by rule (14).

    Raises
    ------
    OutOfBudget
        If there is no time for it.
    """
    budget = Budget() if budget is None else budget
    domains = prune_by_bounds(instance.forest, instance.scores, instance.pairwise.tables, require=budget.require)
    scores = np.full_like(instance.scores, -np.inf)
    step = max(1, _AT_ONCE // instance.num_labels)
    for first in range(0, instance.forest.num_nodes, step):
        budget.require()
        starts = domains.starts[first : first + step + 1]
        labels = domains.labels[starts[0] : starts[-1]]
        nodes = np.repeat(np.arange(first, first + len(starts) - 1), np.diff(starts))
        scores[nodes, labels] = instance.scores[nodes, labels]
    return dataclasses.replace(instance, scores=scores)


def normal_form(instance: Instance, budget: Budget | None = None) -> NormalForm:
    """A model with the same best labellings, in which no score is so low that differences would lose the others.

    Reduced costs are differences, which -inf does not have, and of which -1e12 leaves nothing.  All scores being at
    most zero, a label or pair that scores less than some labelling of its tree is in no best one: it may score anything
    less than that labelling.

    Raises
    ------
    OutOfBudget
        If there is no time for it.
    """
    budget = Budget() if budget is None else budget
    pairwise, forest = instance.pairwise, instance.forest
    scores, offsets = _below_zero(instance.scores, (1,), budget)
    tables, more = _below_zero(pairwise.tables, (1, 2), budget)
    inner = forest.parent != NONE
    offsets[inner] += more[forest.table[inner]]
    sample = np.concatenate([_sample(scores), _sample(tables)])
    sample = sample[np.isfinite(sample) & (sample != 0)]
    unit = float(np.quantile(-sample, _UNIT)) if len(sample) else 0.0
    lowest, feasible = min(scores.min(), tables.min()), None
    size = -float(lowest) if lowest > -np.inf else max(largest(scores), largest(tables))
    if lowest == -np.inf or size > _WIDE * unit:
        values, rows = np.empty(instance.num_trees), tables.reshape(-1, instance.num_labels)
        labels = np.empty(forest.num_nodes, dtype=np.int32)
        greedy_labels(forest, scores, rows, 0, instance.num_trees, labels)
        score_labels(forest, scores, rows, labels, values)
        worst = float(values.min())
        if worst == -np.inf or (size > _WIDE * unit and worst < -size / 8):  # a penalty, which the best may not have
            exchanges = exchange(tables) if pairwise.is_bounded else pairwise.exchanges.astype(float)
            domains = sweep(forest, scores, rows, exchanges)
            best_labels(forest, scores, rows, domains, np.arange(instance.num_trees), labels, values)
        possible = values > -np.inf
        feasible = None if possible.all() else possible
        low = 2.0 * float(values[possible].min(initial=0.0)) - 16.0 * unit
        low = low if low < 0 else -1.0 if size == 0 else -size
        np.maximum(scores, low, out=scores)
        np.maximum(tables, low, out=tables)
    return NormalForm(
        Instance(forest, scores, Pairwise(tables)), np.add.reduceat(offsets, forest.starts[:-1]), feasible
    )


def _below_zero(array: NDArray[Any], axes: tuple[int, ...], budget: Budget) -> tuple[Values, Values]:
    """In double precision, less the maximum over some axes; and that maximum."""
    out, tops = np.empty(array.shape), np.empty(len(array))
    step = max(1, _AT_ONCE // (array.size // len(array)))
    for k in range(0, len(array), step):
        budget.require()
        top = array[k : k + step].max(axis=axes, keepdims=True).astype(float)
        top[np.isinf(top)] = 0.0
        np.subtract(array[k : k + step], top, out=out[k : k + step])
        tops[k : k + step] = top.reshape(-1)
    return out, tops


def _sample(array: Values) -> Values:
    """Some of the numbers."""
    flat = array.reshape(-1)
    return flat[:: max(1, len(flat) // _SAMPLE)]

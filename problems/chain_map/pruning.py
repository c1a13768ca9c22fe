"""Instances made easier: labels forbidden by rule (14), and scores of -inf replaced by finite ones."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from problems.chain_map.instance import Instance
from problems.chain_map.pairwise import Pairwise
from solvers.tree_domains import sweep
from solvers.tree_pruning import prune_by_bounds


def prune(instance: Instance) -> Instance:
    """The same instance with labels forbidden that no best labelling needs, by rule (14)."""
    domains = prune_by_bounds(instance.forest, instance.scores, instance.pairwise.tables)
    scores = np.full_like(instance.scores, -np.inf)
    nodes = np.repeat(np.arange(instance.forest.num_nodes), np.diff(domains.starts))
    scores[nodes, domains.labels] = instance.scores[nodes, domains.labels]
    return dataclasses.replace(instance, scores=scores)


def made_finite(instance: Instance) -> tuple[Instance, NDArray[np.bool_] | None]:
    """An instance without scores of -inf, in double precision, and which of its trees have a labelling.

    Reduced costs are differences, which -inf does not have.  Instead of it stands a score so low that no best labelling
    uses it where there is any other.

    Returns
    -------
    instance, feasible
        The instance itself, and None, where nothing is forbidden.
    """
    pairwise = instance.pairwise
    if instance.scores.min() > -np.inf and pairwise.tables.min() > -np.inf:
        return instance, None
    domains = sweep(instance.forest, instance.scores, pairwise.rows, pairwise.exchanges)
    roots = instance.forest.starts[1:] - 1
    feasible = domains.below[domains.starts[roots]] > -np.inf
    scores, tables = instance.scores.astype(float), pairwise.tables.astype(float)
    size = max(float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in (scores, tables))
    longest = int(np.diff(instance.forest.starts).max())
    low = -(1.0 + 4 * longest * size)  # more than all other scores of two labellings can differ by
    scores[np.isinf(scores)] = low
    tables[np.isinf(tables)] = low
    return dataclasses.replace(instance, scores=scores, pairwise=Pairwise(tables)), feasible

"""Baselines for column generation: clustering heuristics, and integer linear programs in HiGHS."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from colgen.problems.coreference.document import Cluster, as_clusters
from colgen.problems.coreference.instance import CoreferenceInstance, Floats
from colgen.problems.coreference.model import as_duals
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.linear.mip import MIPSolution, solve_mip
from colgen.solvers.linear.program import Program

# --- heuristics ------------------------------------------------------------------------------------------------------


def link_first(instance: CoreferenceInstance) -> list[Cluster]:
    """Link each mention to the closest preceding mention of positive score, if there is one (Soon et al., 2001)."""
    entity = np.arange(instance.num_mentions)
    for i in range(1, instance.num_mentions):
        candidates = np.flatnonzero(instance.scores[i, :i] > 0.0)
        if len(candidates):
            entity[i] = entity[candidates[-1]]
    return as_clusters(entity)


def link_best(instance: CoreferenceInstance) -> list[Cluster]:
    """Link each mention to the preceding mention of best score, if that is positive (Ng and Cardie, 2002).

    Ties are broken in favour of the closest mention.
    """
    entity = np.arange(instance.num_mentions)
    for i in range(1, instance.num_mentions):
        antecedent = i - 1 - int(instance.scores[i, i - 1 :: -1].argmax())
        if instance.scores[i, antecedent] > 0.0:
            entity[i] = entity[antecedent]
    return as_clusters(entity)


def closure(instance: CoreferenceInstance) -> list[Cluster]:
    """Return the transitive closure of all pairs of positive score."""
    return as_clusters(connected_components(sparse.csr_array(instance.scores > 0.0), directed=False)[1])


def greedy_joining(instance: CoreferenceInstance) -> list[Cluster]:
    """Join the two clusters of largest total score until no total is positive (Keuper et al., 2015).

    Each cluster stores its best partner, so a join costs O(n) time, and O(n²) in the worst case.
    """
    entity = np.arange(instance.num_mentions)
    between = instance.scores.copy()  # total scores between clusters, each represented by its first mention
    np.fill_diagonal(between, -np.inf)
    partner, total = between.argmax(axis=1), between.max(axis=1)
    while total.max() > 0.0:
        first = int(total.argmax())
        kept, gone = sorted((first, int(partner[first])))
        entity[entity == gone] = kept
        between[kept] += between[gone]
        between[:, kept] = between[kept]
        between[gone] = between[:, gone] = -np.inf
        better = between[kept] > total
        partner[better], total[better] = kept, between[kept][better]
        stale = (partner == kept) | (partner == gone)
        stale[kept] = True
        partner[stale], total[stale] = between[stale].argmax(axis=1), between[stale].max(axis=1)
    return as_clusters(entity)


# --- integer linear programs -----------------------------------------------------------------------------------------


def all_link_in_highs(
    instance: CoreferenceInstance, time_limit: float = math.inf, *, needed_rows_alone: bool = False
) -> MIPSolution:
    """Solve the all-link model in HiGHS with presolve, one thread and a gap of zero.

    The arrays equal those of ``compile_model(full(instance))``, without Pyomo. The values are those of the pairs in the
    order of ``np.triu_indices``, see :func:`clusters_of`.

    Parameters
    ----------
    time_limit
        Seconds. HiGHS can exceed it, see :func:`~colgen.parallel.time_limits.bounded`.
    needed_rows_alone
        Omit x_ij ≥ x_ik + x_kj - 1 if s_ik and s_kj are both negative. The optima of the program and of its relaxation
        remain the same (Miyauchi and Sukegawa, *Redundant constraints in the standard formulation for the clique
        partitioning problem*, Optimization Letters 9, 2015).
    """
    n = instance.num_mentions
    if n == 1:  # HiGHS returns no objective for a program without variables
        return MIPSolution(LPStatus.OPTIMAL, 0.0, 0.0, np.empty(0), 0)
    costs = instance.clipped[np.triu_indices(n, 1)]
    matrix = transitivity_matrix(instance, needed_rows_alone)
    rows, pairs = matrix.shape
    return solve_mip(
        Program(True, matrix, costs, np.zeros(pairs), np.ones(pairs), np.full(rows, -np.inf), np.ones(rows)),
        np.ones(pairs, dtype=bool),
        time_limit=time_limit,
    )


def transitivity_matrix(instance: CoreferenceInstance, needed_rows_alone: bool = False) -> sparse.csc_array:
    """Return the rows x_ik + x_kj - x_ij ≤ 1, by pair i < j, then by k."""
    n = instance.num_mentions
    first, second = (half[:, None] for half in np.triu_indices(n, 1))
    number = np.zeros((n, n), dtype=np.int32)
    number[first, second] = number[second, first] = np.arange(len(first))[:, None]
    third = np.arange(n - 2)[None, :] if n > 2 else np.empty((1, 0), dtype=np.int64)
    third = third + (third >= first)
    third = third + (third >= second)  # all mentions except those of the pair
    entries = np.stack(np.broadcast_arrays(number[first, third], number[second, third], number[first, second]), axis=2)
    if needed_rows_alone:
        scores = instance.scores
        rows = entries[(scores[first, third] >= 0.0) | (scores[second, third] >= 0.0)]
    else:
        rows = entries.reshape(-1, 3)
    signs = np.tile([1.0, 1.0, -1.0], len(rows))
    by_row = sparse.csr_array((signs, rows.ravel(), np.arange(len(rows) + 1) * 3), shape=(len(rows), len(first)))
    return by_row.tocsc()


def clusters_of(pairs: Floats, num_mentions: int) -> list[Cluster]:
    """Return the clustering of an integral solution of the all-link model, pairs ordered as in ``np.triu_indices``."""
    together = np.zeros((num_mentions, num_mentions), dtype=bool)
    together[np.triu_indices(num_mentions, 1)] = pairs > 0.5
    return as_clusters(connected_components(sparse.csr_array(together), directed=False)[1])


def ilp_pricing(
    instance: CoreferenceInstance, duals: ArrayLike, time_limit: float = math.inf
) -> tuple[Cluster, MIPSolution]:
    """Solve the pricing problem of the source, equation 7, in HiGHS; return the best cluster and the solution.

    The arrays equal those of ``compile_model(pricing(instance, duals))``, without Pyomo. The cluster is empty if no
    reduced cost is positive, or if none was found in time.
    """
    n = instance.num_mentions
    costs = np.append(-as_duals(duals, n), instance.scores[np.triu_indices(n, 1)])
    matrix = pricing_matrix(n)
    pairs = len(costs) - n
    solution = solve_mip(
        Program(
            True,
            matrix,
            costs,
            np.zeros(len(costs)),
            np.ones(len(costs)),
            np.repeat([0.0, 0.0, -1.0], pairs),
            np.full(3 * pairs, np.inf),
        ),
        np.ones(len(costs), dtype=bool),
        time_limit=time_limit,
    )
    members = () if solution.values is None else np.flatnonzero(solution.values[:n] > 0.5).tolist()
    return tuple(members), solution


def pricing_matrix(num_mentions: int) -> sparse.csc_array:
    """Return the rows b_k - p_kl ≥ 0, then b_l - p_kl ≥ 0, then p_kl - b_k - b_l ≥ -1, each for all pairs."""
    first, second = np.triu_indices(num_mentions, 1)
    pairs = len(first)
    both = sparse.eye_array(pairs)
    one = sparse.csr_array((np.ones(pairs), (np.arange(pairs), first)), shape=(pairs, num_mentions))
    other = sparse.csr_array((np.ones(pairs), (np.arange(pairs), second)), shape=(pairs, num_mentions))
    return sparse.csc_array(sparse.block_array([[one, -both], [other, -both], [-one - other, both]]))

r"""Contraction of items that some optimal clustering keeps together, by a sufficient condition.

Let w be scores of pairs and U a set of items.  Give its items weights μ_u ≥ 0 with Σ_u μ_u = 1.  For each item k
outside of U let

    δ_uk = w_uk - μ_u Σ_{v in U} w_vk,        Δ_u = Σ_{k not in U} |δ_uk|.

These measure how far k's scores with U are from proportional to μ.

**Theorem.**  Some optimal clustering has U in one cluster if for every non-empty A ⊂ U with |A| ≤ |U|/2

    ½ Σ_{u in A} Σ_{v in U \ A} w_uv ≥ Σ_{u in A} Δ_u.

If U has two items i and j then w_ij ≥ Δ_i = Δ_j suffices.

*Proof.*  Let an optimal clustering split U into U_1, ..., U_m, m ≥ 2, with U_1 the largest.  Let H_a be the other items
in the cluster of U_a.  Moving all of U into the cluster of U_a gains

    G_a = Σ_{b<c} w(U_b, U_c) + Σ_{b≠a} (w(U_b, H_a) - w(U_b, H_b)).

Take the average with weights λ_a = μ(U_a).  As w(U \ U_a, k) = w(U, k) - w(U_a, k), item k in H_a contributes
λ_a w(U, k) - w(U_a, k) = -Σ_{u in U_a} δ_uk to it.  Each k is in at most one H_a, and Σ_u δ_uk = 0.  So k subtracts at
most max_a |Σ_{u in U_a} δ_uk| ≤ Σ_{a≥2} Σ_{u in U_a} |δ_uk|.  Hence

    Σ_a λ_a G_a ≥ Σ_{b<c} w(U_b, U_c) - Σ_{a≥2} Σ_{u in U_a} Δ_u.

Here Σ_{b<c} w(U_b, U_c) = ½ Σ_a w(U_a, U \ U_a).  The term a = 1 is not negative (if |U_1| > |U|/2, by the condition
for its complement).  The other terms outweigh the Δ.  So some G_a ≥ 0: the clustering with U in one cluster is no
worse.  With two items m = 2 and the factor ½ is not needed.  ∎

The condition is tested item by item.  With |A| ≤ |U|/2, an item u of A has at least as many scores with U \ A as the
*lower half* of its scores with U.  So it suffices that half the sum of the lower half is at least Δ_u for each u.

Items k that no optimal clustering puts together with an item of U are not counted.  Two components of the graph of
positive scores never share a cluster.  For μ_i = 0 the test of a pair is the heavy edge test, w_ij ≥ Σ_k |w_ik|.
A contracted item gets the sums of the scores and of the weights of its items.

Sources: A. Alush and J. Goldberger, *Ensemble segmentation using efficient integer linear programming*, IEEE PAMI 34
(2012), for heavy edges.  S. Böcker, S. Briesemeister, G. W. Klau, *Exact algorithms for cluster editing: evaluation and
experiments*, Algorithmica 60 (2011), for pairs and cliques of cluster editing.  J.-H. Lange, B. Andres, P. Swoboda,
*Combinatorial persistency criteria for multicut and max-cut*, CVPR (2019).  The theorem for sets is new in this module.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices, as_integer
from colgen.solvers.clusters.connectivity import sum_between
from colgen.solvers.kernel_cache import njit
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def contract(
    scores: Floats,
    labels: Ints,
    *,
    smallest: int = 2,
    expired: Expired = never,
    rounds: list[tuple[Ints, Ints]] | None = None,
) -> Ints:
    """Contract items by the theorem until it allows no more.  Return group numbers by first item.

    Some optimal clustering keeps every group together.

    Parameters
    ----------
    scores : (n, n) array, symmetric, zero diagonal
    labels : (n,) array, cluster numbers of a good clustering
        Its clusters and their parts are tested.
    smallest : components of the graph of positive scores with fewer items are skipped
    expired : checked between tests; True skips the remaining ones
    rounds : list, output, for :func:`passes`
        Each round appends the items of a component, named by their first original items, and their group numbers.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),))
    smallest = as_integer(smallest, "smallest")
    first = np.arange(len(scores))  # first item of each item's group
    start = [np.array([i]) for i in range(len(scores))]
    work = [(scores, labels, start)]
    while work and not expired():
        scores, labels, groups = work.pop()
        component = components(scores)
        sizes = np.bincount(component)
        if len(sizes) > 1:
            for c in np.flatnonzero(sizes >= max(smallest, 2)):
                items = np.flatnonzero(component == c)
                work.append((scores[np.ix_(items, items)], labels[items], [groups[i] for i in items]))
            continue
        if len(groups) < max(smallest, 2):
            continue
        weights = np.array([len(group) for group in groups], dtype=np.float64)
        joined = _contract_once(scores, weights, labels, expired)
        if len(joined) and joined.max() == len(joined) - 1:
            continue  # nothing to contract
        if rounds is not None:
            rounds.append((np.array([group.min() for group in groups]), joined))
        fresh = [np.concatenate([groups[i] for i in np.flatnonzero(joined == k)]) for k in range(joined.max() + 1)]
        for group in fresh:
            first[group] = group.min()
        representative = np.unique(joined, return_index=True)[1]
        work.append((merge_scores(scores, joined), labels[representative], fresh))
    return np.unique(first, return_inverse=True)[1]


@njit(cache=True)
def components(scores: Floats) -> Ints:
    """Return the component of each item in the graph of positive scores, numbered by first item."""
    n = len(scores)
    component = np.full(n, -1)
    queue = np.empty(n, dtype=np.int64)
    count = 0
    for start in range(n):
        if component[start] >= 0:
            continue
        component[start] = count
        queue[0], head, tail = start, 0, 1
        while head < tail:
            row = scores[queue[head]]
            head += 1
            for k in range(n):
                if row[k] > 0.0 and component[k] < 0:
                    component[k] = count
                    queue[tail] = k
                    tail += 1
        count += 1
    return component


def merge_scores(scores: Floats, groups: Ints) -> Floats:
    """Return the scores of pairs of groups, with zero diagonal."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    groups = as_indices(groups, "groups", upper=len(scores), shape=(len(scores),))
    if len(groups) == int(groups.max(initial=-1)) + 1:
        return scores
    count = int(groups.max(initial=-1)) + 1
    return np.asarray(sum_between(np.ascontiguousarray(scores), groups.astype(np.int64), count))


def _contract_once(scores: Floats, weights: Floats, labels: Ints, expired: Expired = never) -> Ints:
    """Run one round on a connected component.  Return the group number of each item."""
    n = len(scores)
    everything = np.arange(n)
    group = everything.copy()
    for cluster in np.unique(labels):
        rest = np.flatnonzero(labels == cluster)
        while len(rest) >= 2 and not expired():
            # If the test fails for the full cluster, contract parts of it.
            part = np.sort(find_contractible(scores, weights, rest, everything))
            if not len(part) or not passes(scores, weights, np.where(np.isin(everything, part), part[0], everything)):
                break  # only a rounding error can cause this
            group[part] = part[0]
            rest = np.setdiff1d(rest, part)
    if (group == everything).all() and not expired():
        group = _pairs(np.require(scores, requirements=["C", "W"]), weights)
        for item in np.flatnonzero(group != everything):
            if not passes(scores, weights, np.where(everything == item, group, everything)):
                group[item] = item  # rejected by a rounding error
    return np.unique(group, return_inverse=True)[1]


def find_contractible(scores: Floats, weights: Floats, items: Ints, others: Ints) -> Ints:
    """Return a subset of ``items`` that passes the test, or an empty array, by removing the worst items repeatedly.

    ``others`` are the items that could share a cluster with them, and may include them.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    weights = as_floats(weights, "weights", shape=(len(scores),), low=0.0)
    items = as_indices(items, "items", upper=len(scores), shape=("items",))
    others = as_indices(others, "others", upper=len(scores), shape=("others",))
    others = np.setdiff1d(others, items)
    both = np.append(items, others)
    return items[_find_contractible(np.ascontiguousarray(scores[np.ix_(items, both)]), weights[items])]


def passes(scores: Floats, weights: Floats, groups: Ints) -> bool:
    """Return whether every group of at least two items passes the test.

    ``scores`` has all items that could share a cluster.  It is symmetric with a zero diagonal.  μ is computed from
    ``weights``.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    weights = as_floats(weights, "weights", shape=(len(scores),), low=0.0)
    groups = as_indices(groups, "groups", upper=len(scores), shape=(len(scores),))
    everything = np.arange(len(scores))
    for group in np.flatnonzero(np.bincount(groups, minlength=1) > 1):
        items = np.flatnonzero(groups == group)
        if len(items) == 2 and bool(_is_heavy(np.ascontiguousarray(scores), items[0], items[1])):
            continue
        if len(find_contractible(scores, weights, items, everything)) < len(items):
            return False
    return True


@njit(cache=True)
def _is_heavy(scores: Floats, i: int, j: int) -> bool:
    """Return whether the score of a pair is at least the sum of all other absolute scores of one of its items."""
    first, second = 0.0, 0.0
    for k in range(len(scores)):
        first += abs(scores[i, k])
        second += abs(scores[j, k])
    return bool(2.0 * scores[i, j] >= min(first, second))  # the score itself is in the sums


@njit(cache=True)
def _find_contractible(scores: Floats, weights: Floats) -> Ints:
    """Return the items that pass the test together.  The columns of ``scores`` are the items followed by the others."""
    n, width = scores.shape
    left = np.arange(n)
    inside = np.zeros(width, dtype=np.bool_)
    inside[:n] = True
    delta = np.empty(n)
    margin = np.empty(n)
    while len(left) >= 2:
        mu = weights[left] / weights[left].sum()
        delta[:] = 0.0
        for k in range(width):
            if not inside[k]:
                total = 0.0
                for i in left:
                    total += scores[i, k]
                for a in range(len(left)):
                    delta[a] += abs(scores[left[a], k] - mu[a] * total)
        half = len(left) - len(left) // 2  # |U \ A| is at least this
        fails = 0
        for a in range(len(left)):
            if len(left) == 2:
                margin[a] = scores[left[0], left[1]] - delta[a]
            else:
                own = np.empty(len(left) - 1)
                count = 0
                for b in range(len(left)):
                    if b != a:
                        own[count] = scores[left[a], left[b]]
                        count += 1
                own = np.partition(own, half - 1) if half < len(own) else own
                margin[a] = 0.5 * own[:half].sum() - delta[a]
            fails += margin[a] < 0.0
        if fails == 0:
            return left
        worst = np.argsort(margin[: len(left)], kind="mergesort")[: max(1, int(0.2 * fails))]
        inside[left[worst]] = False  # they count as others from here on
        left = left[inside[left]]
    return np.empty(0, dtype=np.int64)


@njit(cache=True)
def _pairs(scores: Floats, weights: Floats) -> Ints:
    """Find disjoint pairs that pass the test.  Return each item's partner of smaller number, or the item itself."""
    n = len(scores)
    partner = np.arange(n)
    free = np.ones(n, dtype=np.bool_)
    total = np.zeros(n)
    for i in range(n):
        for k in range(n):
            total[i] += abs(scores[i, k])
    for i in range(n):
        for j in range(i + 1, n):
            score = scores[i, j]
            if score <= 0.0 or not free[i] or not free[j]:
                continue
            passes = 2.0 * score >= min(total[i], total[j])  # heavy edge: the total includes the score
            if not passes:
                mu = weights[i] / (weights[i] + weights[j])
                delta = 0.0
                for k in range(n):
                    if k != i and k != j:
                        delta += abs((1.0 - mu) * scores[i, k] - mu * scores[j, k])
                        if delta > score:
                            break
                passes = delta <= score
            if passes:
                partner[j] = i
                free[i] = False
                free[j] = False
    return partner

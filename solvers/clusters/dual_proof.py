r"""Clusterings that dual values prove optimal, component by component, without a linear program.

    max Σ_{clusters S} w(S),        w(S) = Σ_{i<j in S} w_ij,  w symmetric, of any sign.

By linear programming duality a clustering is optimal if the items have dual values π with

    π(C) = w(C) for each of its clusters C,      π(S) ≥ w(S) for all other sets S.

Any other clustering is then worth at most Σ_i π_i, the value of this one.  Clusters never need to span two connected
components of the graph of positive scores.  So each component has its own clustering and its own proof.

The first guess of π_i is half the score of item i within its own cluster.  With it no part of an optimal cluster
violates its inequality.  An exact search (:mod:`colgen.solvers.clusters.subset`) finds the most violated set S of each
anchor.  Each S is a cut.  The relaxation method projects π on the cuts within the subspace of the equations.  With
s_C = |S ∩ C| / |C| the step has direction 1_S - Σ_C s_C 1_C.  Projections repeat over all cuts until none is violated;
then the search looks for more.  If S is a union of clusters there is no such step and the clustering is not optimal.
If the relaxation of set partitioning is fractional no such π exists, and the method gives up.

Complexity: O(n) per cut and sweep.  The searches are exponential in the worst case and have a node limit.  On
documents the first guess proves 90% of the components, and one more search proves most of the others.

Sources: S. Agmon, *The relaxation method for linear inequalities*, Canadian Journal of Mathematics 6 (1954).
A. Mehrotra and M. A. Trick, *Cliques and clustering: a combinatorial approach*, Operations Research Letters 22 (1998),
for the dual of set partitioning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices, as_integer
from colgen.solvers.clusters.clustering import descend, search
from colgen.solvers.clusters.contraction import components
from colgen.solvers.clusters.subset import anchored
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import int64, overwrite
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ZERO = 1e-11
"""Violations up to this count as zero, relative to the largest score: rounding errors break ties by this much."""

_SEARCHES = 12
"""Maximum number of searches."""

_SWEEPS = 400
"""Maximum number of sweeps of the relaxation method over the cuts."""

_BEYOND = 20
"""Sweeps that try to satisfy every cut beyond rounding errors."""

_CUTS = 12
"""Maximum number of stored cuts per item."""

_SHORT = 1e-9
"""Squared steps below this length count as zero: entries of a step are quotients of numbers of items."""

_SMALL = 40
"""Proofs of components of at most this many items take at most 0.01 s."""

_BATCH = 4 * _SMALL**3
"""Limit on the sum of cubed component sizes between two checks of the clock."""

_VISITS = 1 << 25
"""Approximate number of cut entries visited between two checks of the clock."""


def settle(
    scores: Floats,
    start: Ints,
    *,
    kicks: int = 1,
    seed: int = 0,
    largest: int = 60,
    nodes: int = 20_000,
    expired: Expired = never,
) -> tuple[Ints, Mask, Floats]:
    """Cluster each component by local search, and prove optimality by dual values where possible.

    Parameters
    ----------
    scores : (n, n) array w, symmetric, zero diagonal
    start : (n,) array of cluster numbers, 0 to n - 1
    kicks : kicks per item of the local search
    seed : seed of the local search
    largest : components with more items are not proved
    nodes : node limit of each search
    expired : checked several times per second; once True, components get no kicks and no proofs

    Returns
    -------
    labels : (n,) array of cluster numbers, by first item
    settled : (n,) array, whether the clustering of the item's component is proved optimal
    duals : (n,) array of the dual values that prove it, zero elsewhere
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    start = as_indices(start, "start", upper=len(scores), shape=(len(scores),))
    kicks, nodes = as_integer(kicks, "kicks", low=0), as_integer(nodes, "nodes", low=0)
    scores = np.require(scores, np.float64, ["C", "W"])  # one type for the kernels, which do not write to it
    start = np.asarray(start, dtype=np.int64)
    component = components(scores)
    order = np.argsort(component, kind="stable")
    ends = np.cumsum(np.bincount(component)).tolist()
    generator = np.random.default_rng(seed)
    n = len(scores)
    outcome = _Outcome(np.arange(n), np.ones(n, dtype=np.bool_), np.zeros(n))
    first, k = 0, 0
    while k < len(ends):
        if ends[k] - first > _SMALL or expired():
            items = order[first : ends[k]]
            _settle_alone(scores, items, start, kicks, generator, largest, nodes, expired, outcome)
            first, k = ends[k], k + 1
            continue
        here, work, drawn = [first], 0, 0  # the next few components
        while k < len(ends) and ends[k] - here[-1] <= _SMALL and work <= _BATCH:
            size = ends[k] - here[-1]
            work += size**3
            drawn += (kicks * size + 1) * size if size > 2 else 0
            here.append(ends[k])
            k += 1
        draws = generator.random(drawn)
        _settle(scores, order, np.array(here), start, kicks, draws, largest, nodes, outcome)
        first = here[-1]
    return _number_by_first(outcome.first_item), outcome.settled, outcome.duals


class _Outcome(NamedTuple):
    """For each item: the first item of its cluster, whether that cluster is proved optimal, and the dual value."""

    first_item: Ints
    settled: Mask
    duals: Floats


def _settle_alone(
    scores: Floats,
    items: Ints,
    start: Ints,
    kicks: int,
    generator: np.random.Generator,
    largest: int,
    nodes: int,
    expired: Expired,
    outcome: _Outcome,
) -> None:
    """Settle one component, checking the clock."""
    first_item, settled, duals = outcome
    m = len(items)
    if m <= 2:
        first_item[items] = items[0]  # joined by a positive score
        duals[items] = 0.5 * scores[items[0], items[-1]]
        return
    inner = np.ascontiguousarray(scores[np.ix_(items, items)])
    _, ahead, place = np.unique(start[items], return_index=True, return_inverse=True)
    labels = ahead[place].astype(np.int64)
    labels = search(inner, labels, generator, kicks * m, expired)
    _record_firsts(labels, items, first_item)
    proof = _begin(inner, labels)
    settled[items] = m <= largest and not expired() and _prove_in_time(inner, labels, proof, nodes, expired)
    if settled[items[0]]:
        duals[items] = proof.duals


def _prove_in_time(scores: Floats, labels: Ints, proof: _Proof, nodes: int, expired: Expired) -> bool:
    """Run :func:`_prove`; give up when ``expired`` returns True."""
    for _ in range(_SEARCHES):
        status = _add_cuts(scores, labels, proof, nodes)
        if status != _OPEN:
            return bool(status == _PROVED)
        slice_ = max(1, _VISITS // (int(proof.size[0]) * len(labels)))
        for sweeps in range(0, _SWEEPS, slice_):
            if expired():
                return False
            if _relax(proof, min(slice_, _SWEEPS - sweeps)):
                break
        else:
            return False
    return False


@njit(cache=True)
def _settle(
    scores: Floats,
    order: Ints,
    ends: Ints,
    start: Ints,
    kicks: int,
    draws: Floats,
    largest: int,
    nodes: int,
    outcome: _Outcome,
) -> None:
    """Settle several components.  Each consists of the items of ``order`` between two consecutive ``ends``."""
    first_item, settled, duals = outcome
    drawn = 0
    for c in range(len(ends) - 1):
        items = order[ends[c] : ends[c + 1]]
        m = len(items)
        if m == 2:  # joined by a positive score
            first_item[items[1]] = items[0]
            duals[items[0]] = duals[items[1]] = 0.5 * scores[items[0], items[1]]
        if m <= 2:
            continue
        inner = np.empty((m, m))
        labels = np.empty(m, dtype=np.int64)
        largest_score = 0.0
        for a in range(m):
            labels[a] = a
            for b in range(m):
                inner[a, b] = scores[items[a], items[b]]
                largest_score = max(largest_score, abs(inner[a, b]))
            for b in range(a):
                if start[items[b]] == start[items[a]]:
                    labels[a] = labels[b]
                    break
        rows = kicks * m + 1
        labels = descend(inner, labels, draws[drawn : drawn + rows * m].reshape(rows, m), largest_score)
        drawn += rows * m
        _record_firsts(labels, items, first_item)
        proof = _begin(inner, labels)
        if m <= largest and _prove(inner, labels, proof, nodes):
            for a in range(m):
                duals[items[a]] = proof.duals[a]
        else:
            for item in items:
                settled[item] = False


@njit(cache=True)
def _record_firsts(labels: Ints, items: Ints, first_item: Ints) -> None:
    """Store the first item of each item's cluster; ``items`` ascend."""
    for a in range(len(items)):
        first_item[items[a]] = items[a]
        for b in range(a):
            if labels[b] == labels[a]:
                first_item[items[a]] = items[b]
                break


@njit(cache=True)
def _number_by_first(first_item: Ints) -> Ints:
    count = 0
    labels = np.empty(len(first_item), dtype=np.int64)
    for i in range(len(first_item)):
        if first_item[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[first_item[i]]
    return labels


class _Proof(NamedTuple):
    """Dual values and the cuts that they have to satisfy."""

    duals: Floats
    # cuts, steps, worths, lengths: for each cut: its items, the step of its projection, its score, and the squared
    # length of the step
    cuts: Mask
    steps: Floats
    worths: Floats
    lengths: Floats
    size: Ints  # number of cuts
    zero: Floats  # violations up to this count as zero


_OPEN, _PROVED, _FAILED = range(3)


@njit(cache=True)
def _prove(scores: Floats, labels: Ints, proof: _Proof, nodes: int) -> bool:
    for _ in range(_SEARCHES):
        status = _add_cuts(scores, labels, proof, nodes)
        if status != _OPEN:
            return status == _PROVED
        if not _relax(proof, int64(_SWEEPS)):
            return False
    return False


@njit(cache=True)
def _begin(scores: Floats, labels: Ints) -> _Proof:
    """Return the first guess of the dual values, without cuts."""
    n = len(labels)
    duals = np.zeros(n)
    for i in range(n):
        for j in range(n):
            if labels[i] == labels[j]:
                duals[i] += 0.5 * scores[i, j]
    most = _CUTS * n
    return _Proof(
        duals,
        np.empty((most, n), dtype=np.bool_),
        np.empty((most, n)),
        np.empty(most),
        np.empty(most),
        np.zeros(1, dtype=np.int64),
        np.full(1, relative_zero(scores)),
    )


@njit(cache=True, no_cpython_wrapper=True)
def relative_zero(scores: Floats) -> float:
    """Return the violation that counts as zero for these scores."""
    largest = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            largest = max(largest, abs(scores[i, j]))
    return _ZERO * largest


@njit(cache=True)
def _add_cuts(scores: Floats, labels: Ints, proof: _Proof, nodes: int) -> int:
    """Search violated cuts.  Return whether some were added, none exists, or the proof failed."""
    n = len(labels)
    zero, count = proof.zero[0], proof.size[0]
    cuts, steps, worths, lengths = proof.cuts, proof.steps, proof.worths, proof.lengths
    values, members, open_ = anchored(scores, -proof.duals, np.full(n, zero), nodes)
    if open_.any():
        return _FAILED
    sizes, shares = np.zeros(n), np.empty(n)
    for i in range(n):
        sizes[labels[i]] += 1.0
    before = count
    for v in range(n):
        if values[v] <= zero:
            continue
        if count == len(cuts):
            return _FAILED
        overwrite(cuts[count], members[v])
        worths[count], lengths[count] = 0.0, 0.0
        shares[:] = 0.0
        for i in range(n):
            if members[v, i]:
                shares[labels[i]] += 1.0 / sizes[labels[i]]
                for j in range(i):
                    if members[v, j]:
                        worths[count] += scores[i, j]
        for i in range(n):
            step = (1.0 if members[v, i] else 0.0) - shares[labels[i]]
            steps[count, i] = step
            lengths[count] += step * step
        if lengths[count] < _SHORT:  # a union of clusters is worth more than the clusters
            return _FAILED
        count += 1
    proof.size[0] = count
    return _PROVED if count == before else _OPEN


@njit(cache=True)
def _relax(proof: _Proof, sweeps: int) -> bool:
    """Project the dual values on violated cuts until none is violated.  Return False if the sweeps do not suffice."""
    zero = 0.5 * proof.zero[0]
    for _ in range(sweeps):
        if _sweep(proof, zero, 0.0):
            before = proof.duals.copy()
            for _ in range(_BEYOND):  # try to satisfy the cuts beyond rounding errors
                if _sweep(proof, 0.0, zero):
                    return True
            overwrite(proof.duals, before)
            return True
    return False


@njit(cache=True, no_cpython_wrapper=True)
def _sweep(proof: _Proof, zero: float, beyond: float) -> bool:
    """Project beyond each cut violated by more than ``zero``.  Return whether there was none."""
    duals, cuts, worths = proof.duals, proof.cuts, proof.worths
    satisfied = True
    for k in range(proof.size[0]):
        violation = worths[k]
        for i in range(len(duals)):
            if cuts[k, i]:
                violation -= duals[i]
        if violation > zero:
            duals += (violation + beyond) / proof.lengths[k] * proof.steps[k]
            satisfied = False
    return satisfied

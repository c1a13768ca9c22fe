r"""Clusterings that dual values prove best, component by component, without a linear program.

    max Σ_{clusters S} w(S),        w(S) = Σ_{i<j in S} w_ij,  w symmetric, of any sign.

By linear programming duality a clustering with the clusters C is best if there are dual values π of the items with

    π(C) = w(C) for each of its clusters,        π(S) ≥ w(S) for all other sets S:

any other clustering is then worth at most Σ_i π_i, which is what this one is worth.  Clusters never need to span two
connected components of the graph of positive scores, so that each component has its own clustering and its own proof.

The first guess is half of what an item scores in its own cluster; then no part of a cluster that is best as a whole
violates its inequality.  An exact search (:mod:`colgen.solvers.clusters.subset`) finds for each anchor the set S that
is violated most.  Each is a cut, and the relaxation method projects π on it, along the subspace of the equations: with
s_C = |S ∩ C| / |C| the step goes along 1_S - Σ_C s_C 1_C.  It is repeated over all cuts found so far until none is
violated, and the search looks for more.  Where S is a union of clusters there is no such step, and the clustering is
not best; where the relaxation of set partitioning is fractional there is no such π, and the method gives up.

Complexity: a sweep over the cuts takes O(n) a cut; the searches are exponential in the worst case, and are given so
many nodes.  On documents nine components out of ten are proved by the first guess, and most others after one more
search.

Sources: S. Agmon, *The relaxation method for linear inequalities*, Canadian Journal of Mathematics 6 (1954);
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
from colgen.solvers.kernels import overwrite, whole
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ZERO = 1e-11
"""Violations up to this count as none, relative to the largest score: it is what rounding errors may make of ties."""

_SEARCHES = 12
"""The search is repeated so often at most."""

_SWEEPS = 400
"""The relaxation method gives up after so many sweeps over the cuts."""

_BEYOND = 20
"""So many sweeps try to leave cuts behind that rounding errors violate."""

_CUTS = 12
"""And so many cuts an item are kept."""

_SHORT = 1e-9
"""A step of this length, squared, is none: its entries are quotients of whole numbers of items."""

_SMALL = 40
"""Proofs of components of so many items take a hundredth of a second at most."""

_BATCH = 4 * _SMALL**3
"""The cubes of the numbers of items of the components that are looked at between two looks at the clock."""

_VISITS = 1 << 25
"""Entries of cuts that are looked at in between, about."""


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
    """A good clustering by local search in each component, and which components' clusterings dual values prove best.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    start
        The number of each item's cluster in the clustering to start from, 0 to n - 1.
    kicks
        Of the local search, so many an item.
    seed
        Of the local search.
    largest
        Components of more items are not tried to prove.
    nodes
        Of a search, at most.
    expired
        Asked several times a second; once the answer is yes, clusterings are improved without kicks, and not proved.

    Returns
    -------
    labels, settled, duals
        The number of each item's cluster, clusters numbered by their first items; of each item whether its component's
        clustering is proved best, and the dual values that prove it, zero elsewhere.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    start = as_indices(start, "start", upper=len(scores), shape=(len(scores),))
    kicks, nodes = as_integer(kicks, "kicks", low=0), as_integer(nodes, "nodes", low=0)
    scores = np.require(scores, np.float64, ["C", "W"])  # of one kind for the kernels, which do not write to it
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
    return _numbered(outcome.found), outcome.settled, outcome.duals


class _Outcome(NamedTuple):
    """Of each item the first one of its cluster, whether that is proved best, and the dual value."""

    found: Ints
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
    """One component, with looks at the clock."""
    found, settled, duals = outcome
    m = len(items)
    if m <= 2:
        found[items] = items[0]  # joined by a positive score
        duals[items] = 0.5 * scores[items[0], items[-1]]
        return
    inner = np.ascontiguousarray(scores[np.ix_(items, items)])
    _, ahead, place = np.unique(start[items], return_index=True, return_inverse=True)
    labels = ahead[place].astype(np.int64)
    labels = search(inner, labels, generator, kicks * m, expired)
    _note(labels, items, found)
    proof = _begin(inner, labels)
    settled[items] = m <= largest and not expired() and _prove_patiently(inner, labels, proof, nodes, expired)
    if settled[items[0]]:
        duals[items] = proof.duals


def _prove_patiently(scores: Floats, labels: Ints, proof: _Proof, nodes: int, expired: Expired) -> bool:
    """:func:`_prove`, which gives up when it is to end."""
    for _ in range(_SEARCHES):
        said = _look(scores, labels, proof, nodes)
        if said != _OPEN:
            return bool(said == _PROVED)
        slice_ = max(1, _VISITS // (int(proof.size[0]) * len(labels)))
        for sweeps in range(0, _SWEEPS, slice_):
            if expired():
                return False
            if _relax(proof, min(slice_, _SWEEPS - sweeps)):
                break
        else:
            return False
    return False


def proves(scores: Floats, labels: Ints, *, nodes: int = 20_000) -> bool:
    """Whether dual values are found that prove a clustering best; False leaves it open.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    labels
        The number of each item's cluster, 0 to n - 1.
    nodes
        Of a search, at most.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),))
    nodes = as_integer(nodes, "nodes", low=0)
    scores, labels = np.require(scores, np.float64, ["C", "W"]), np.asarray(labels, dtype=np.int64)
    return bool(_prove(scores, labels, _begin(scores, labels), nodes))


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
    """Components, each the items of ``order`` between two ``ends``."""
    found, settled, duals = outcome
    drawn = 0
    for c in range(len(ends) - 1):
        items = order[ends[c] : ends[c + 1]]
        m = len(items)
        if m == 2:  # joined by a positive score
            found[items[1]] = items[0]
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
        _note(labels, items, found)
        proof = _begin(inner, labels)
        if m <= largest and _prove(inner, labels, proof, nodes):
            for a in range(m):
                duals[items[a]] = proof.duals[a]
        else:
            for item in items:
                settled[item] = False


@njit(cache=True)
def _note(labels: Ints, items: Ints, found: Ints) -> None:
    """Of each item the first one of its cluster; ``items`` ascend."""
    for a in range(len(items)):
        found[items[a]] = items[a]
        for b in range(a):
            if labels[b] == labels[a]:
                found[items[a]] = items[b]
                break


@njit(cache=True)
def _numbered(found: Ints) -> Ints:
    """Clusters numbered by their first items."""
    count = 0
    labels = np.empty(len(found), dtype=np.int64)
    for i in range(len(found)):
        if found[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[found[i]]
    return labels


class _Proof(NamedTuple):
    """Dual values, and the cuts that they are to satisfy.

    Attributes
    ----------
    cuts, steps, worths, lengths
        Of each cut: its items, the step that projects on it, its score, and the length of the step, squared.
    size
        How many cuts there are.
    zero
        What rounding errors may make of ties.
    """

    duals: Floats
    cuts: Mask
    steps: Floats
    worths: Floats
    lengths: Floats
    size: Ints
    zero: Floats


_OPEN, _PROVED, _FAILED = range(3)


@njit(cache=True)
def _prove(scores: Floats, labels: Ints, proof: _Proof, nodes: int) -> bool:
    for _ in range(_SEARCHES):
        said = _look(scores, labels, proof, nodes)
        if said != _OPEN:
            return said == _PROVED
        if not _relax(proof, whole(_SWEEPS)):
            return False
    return False


@njit(cache=True)
def _begin(scores: Floats, labels: Ints) -> _Proof:
    """The first guess."""
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
    """Violations up to this count as none."""
    largest = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            largest = max(largest, abs(scores[i, j]))
    return _ZERO * largest


@njit(cache=True)
def _look(scores: Floats, labels: Ints, proof: _Proof, nodes: int) -> int:
    """Look for violated cuts: whether there are some, there is none, or there is no hope."""
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
        if lengths[count] < _SHORT:  # a union of clusters is worth more than they are
            return _FAILED
        count += 1
    proof.size[0] = count
    return _PROVED if count == before else _OPEN


@njit(cache=True)
def _relax(proof: _Proof, sweeps: int) -> bool:
    """Project dual values on violated cuts until none is violated; False if so many sweeps do not do it."""
    zero = 0.5 * proof.zero[0]
    for _ in range(sweeps):
        if _sweep(proof, zero, 0.0):
            before = proof.duals.copy()
            for _ in range(_BEYOND):  # where there is room, not even rounding errors are to violate a cut
                if _sweep(proof, 0.0, zero):
                    return True
            overwrite(proof.duals, before)
            return True
    return False


@njit(cache=True, no_cpython_wrapper=True)
def _sweep(proof: _Proof, zero: float, beyond: float) -> bool:
    """Project on each cut that is violated by more than ``zero``, and beyond it; whether there was none."""
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

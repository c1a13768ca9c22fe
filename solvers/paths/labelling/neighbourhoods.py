"""Neighbourhoods: the visited vertices that paths remember, as bit sets.

An ng-route may revisit a vertex only after visiting a vertex that does not remember it.  If all vertices remember all,
routes are elementary paths.  If none remember any, they are walks.

A path without cycles of up to k arcs (k-cycle elimination) remembers its last k vertices in order, as k - 1 sets: the
last k, ..., the last two.  Each set derives from the next smaller one by adding the arc's head; the smallest keeps only
the tail.  A label permits all continuations of another if each of its sets is a subset of the other's.  Two paths can
be joined over an arc if for every m the last m of one and the last k + 1 - m of the other have no vertex in common.

Two vertices may share a bit if no vertex remembers both.  A label's memory at a vertex i is then a set of bits of N_i,
in which no two vertices share one.  A bit per vertex needs one word per 64 vertices; graph colouring often finds bits
for one word.

Source: R. Baldacci, A. Mingozzi, R. Roberti, *New route relaxation and pricing strategies for the vehicle routing
problem*, Operations Research 59 (2011).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_booleans, as_floats, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.paths.labelling.layout import Floats, Ints, Words
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rules import Rules

Mask = NDArray[np.bool_]


def nearest(network: Network, weights: ArrayLike, size: int, *, finite: bool = True) -> Mask:
    """Return the neighbourhood of each vertex: itself and the heads of its arcs with the smallest weights.

    Parameters
    ----------
    weights : one per arc, for instance distances or reduced costs
    size : vertices per neighbourhood, including the vertex itself
    finite : whether to reject infinite weights, whose heads are never near
    """
    weight = as_floats(weights, "weights", shape=(network.num_arcs,), finite=finite)
    size = as_integer(size, "size", low=1)
    n = network.num_vertices
    matrix = np.full((n, n), np.inf)
    np.minimum.at(matrix, (network.tails, network.heads), weight)
    matrix[:, [network.source, network.sink]] = np.inf
    np.fill_diagonal(matrix, -np.inf)
    nearest = np.argsort(matrix, axis=1, kind="stable")[:, :size]
    found = np.zeros((n, n), dtype=bool)
    np.put_along_axis(found, nearest, True, axis=1)
    return np.asarray(found & (matrix < np.inf))


def complete(network: Network) -> Mask:
    """Return neighbourhoods in which all vertices remember all."""
    return np.ones((network.num_vertices, network.num_vertices), dtype=bool)


def as_matrix(network: Network, neighbourhoods: ArrayLike | str | None, rules: Rules) -> Mask:
    """Return neighbourhoods as a matrix: all ones for elementary paths, zeros for None."""
    if isinstance(neighbourhoods, str) and neighbourhoods != "elementary":
        raise ArrayError(f"neighbourhoods: expected 'elementary', a matrix or None, got {neighbourhoods!r}")
    if neighbourhoods is None:
        return np.zeros((network.num_vertices, network.num_vertices), dtype=bool)
    return validate(network, complete(network) if isinstance(neighbourhoods, str) else neighbourhoods, rules)


def enlarge(matrix: Mask, routes: Sequence[Ints], limit: int | None, rules: Rules) -> Mask:
    """Return neighbourhoods in which vertices of a cycle remember its start."""
    matrix = matrix.copy()
    delivered = set(rules.deliveries.tolist())
    for route in routes:
        seen: dict[int, int] = {}
        for place, vertex in enumerate(map(int, route)):
            one = int(rules.classes[vertex])
            if one in seen and vertex not in delivered:
                between = route[seen[one] : place]
                sizes = matrix[between].sum(axis=1) + ~matrix[between, vertex]
                if limit is None or sizes.max() <= limit:
                    matrix[np.ix_(between, rules.classes == one)] = True
            seen[one] = place
    return matrix


def validate(network: Network, neighbourhoods: ArrayLike, rules: Rules) -> Mask:
    """Return the validated matrix: vertices remember themselves, and none remembers the source or sink.

    A vertex remembers all or none of the vertices that count as one.  Deliveries remember all, so that paths without a
    delivery remember no more than paths with it.
    """
    n = network.num_vertices
    matrix = as_booleans(neighbourhoods, "neighbourhoods", shape=(n, n)).copy()
    np.fill_diagonal(matrix, True)
    matrix[rules.deliveries] = True
    for one in np.flatnonzero(np.bincount(rules.classes) > 1):
        members = rules.classes == one
        matrix[:, members] = matrix[:, members].any(axis=1, keepdims=True)
    ends = [network.source, network.sink]
    matrix[:, ends] = matrix[ends] = False
    return matrix


def bits(matrix: Mask, classes: Ints) -> Words:
    """Return one bit per vertex, in as few words as found: vertices remembered together have different bits.

    Vertices that count as one share a bit.
    """
    n = len(matrix)
    matrix = matrix & (classes == np.arange(n))
    counts = matrix.astype(np.float32)
    conflicts: Mask = np.asarray((counts.T @ counts) > 0)
    np.fill_diagonal(conflicts, False)
    colours = np.full(n, -1, dtype=np.int64)
    remembered: Mask = np.asarray(matrix.any(axis=0), dtype=bool)
    for vertex in np.argsort(-conflicts.sum(axis=1), kind="stable"):
        if remembered[vertex]:
            taken = np.zeros(n + 1, dtype=bool)
            taken[colours[conflicts[vertex]]] = True  # index -1, for vertices without a colour, is the last entry
            colours[vertex] = int(np.argmin(taken[:n]))
    own = np.zeros((n, max(1, -(-int(colours.max(initial=-1) + 1) // 64))), dtype=np.uint64)
    some = np.flatnonzero(colours >= 0)
    own[some, colours[some] // 64] = np.uint64(1) << (colours[some] % 64).astype(np.uint64)
    return np.asarray(own[classes])


@njit(cache=True, nogil=True)
def arc_bits(matrix: Mask, own: Words, tails: Ints, heads: Ints) -> tuple[Words, Words]:
    """Return the bits that both ends of each arc remember, and the head's bit if the tail remembers it."""
    n, words = own.shape
    common = np.zeros((len(tails), words), dtype=np.uint64)
    returning = np.zeros((len(tails), words), dtype=np.uint64)
    for arc in range(len(tails)):
        tail, head = tails[arc], heads[arc]
        for vertex in range(n):
            if matrix[tail, vertex] and matrix[head, vertex]:
                for w in range(words):
                    common[arc, w] |= own[vertex, w]
        if matrix[tail, head]:
            for w in range(words):
                returning[arc, w] = own[head, w]
    return common, returning


def cyclic_bits(own: Words, tails: Ints, heads: Ints, sets: int) -> tuple[Words, Words, Words]:
    """Return the bits of :func:`arc_bits` for paths that remember their last vertices, and those of joins.

    Words are ordered by set of last vertices, largest first.  Joined paths must not share the bits of joins.
    """
    words = own.shape[1] // sets
    common, joint = (np.full((len(tails), own.shape[1]), ~np.uint64(0)) for _ in range(2))
    ends = own[tails] | own[heads]
    common[:, -words:], joint[:, :words] = ends[:, -words:], ends[:, :words]
    returning = np.zeros_like(common)
    returning[:, :words] = own[heads][:, :words]
    return common, returning, joint


def places(words: int, sets: int) -> tuple[Ints, Ints]:
    """Return, for each word of ``sets`` sets, largest first, its source word and the word it is joined with."""
    place, each = np.arange(words), words // sets
    number = place // each
    come_from = np.where(number < sets - 1, place + each, place)
    partner = np.where(number > 0, (sets - number) * each + place % each, place)
    return come_from.astype(np.int64), partner.astype(np.int64)


@njit(cache=True, nogil=True)
def unreachable(
    matrix: Mask, own: Words, distances: Floats, upper: Floats, lowest: float, width: float, buckets: int, slack: float
) -> NDArray[np.uint64]:
    """Return, by bucket and vertex, the bits of remembered vertices none of which can be reached."""
    n, words = own.shape
    found = np.zeros((buckets, n, words), dtype=np.uint64)
    reached = np.zeros(words, dtype=np.uint64)
    for bucket in range(buckets):
        value = lowest + bucket * width - slack
        for tail in range(n):
            reached[:] = 0
            for vertex in range(n):
                if matrix[tail, vertex]:
                    late = value + distances[tail, vertex] > upper[vertex]
                    for w in range(words):
                        if late:
                            found[bucket, tail, w] |= own[vertex, w]
                        else:
                            reached[w] |= own[vertex, w]
            for w in range(words):
                found[bucket, tail, w] &= ~reached[w]
    return found


def distances(n: int, tails: Ints, heads: Ints, lengths: Floats) -> Floats:
    """Return the least consumption between all pairs of vertices, infinity without a path."""
    found = np.full((n, n), np.inf)
    np.minimum.at(found, (tails, heads), lengths)
    np.fill_diagonal(found, 0.0)
    for middle in range(n):
        np.minimum(found, found[:, middle, None] + found[middle], out=found)
    return found

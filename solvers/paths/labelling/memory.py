"""What paths remember of the vertices that they have visited: neighbourhoods, and sets of them as words of bits.

An ng-route may visit a vertex again only after a vertex that does not remember it.  With everybody remembering
everything, routes are elementary paths; with nobody remembering, any walks.

A path that never goes straight back (2-cycle elimination) remembers at j the vertex i that it came from and j itself:
over an arc it keeps its tail.  Two paths that meet over an arc (i, j) fit if the one behind has not come from j and the
other does not go on to i.

Two vertices that are never remembered by the same vertex may share a bit: what a label remembers at a vertex i is then
a set of bits of N_i, in which no two vertices share one.  A proper colouring of few colours fits into one word what
would fill one for every 64 vertices.

Source: R. Baldacci, A. Mingozzi, R. Roberti, *New route relaxation and pricing strategies for the vehicle routing
problem*, Operations Research 59 (2011).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from solvers.arrays import as_booleans, as_floats, as_integer
from solvers.paths.labelling.layout import Floats, Ints, Words
from solvers.paths.labelling.network import Network

Mask = NDArray[np.bool_]


def nearest(network: Network, weights: ArrayLike, size: int, *, finite: bool = True) -> Mask:
    """The neighbourhood of each vertex i: itself, and those heads j of its arcs whose weight is smallest.

    Parameters
    ----------
    weights
        One number an arc: distances, say, or reduced costs.
    size
        Vertices in a neighbourhood, i itself included.
    finite
        Whether infinite weights, of heads that are never near, are refused.
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
    """Everybody remembers everything."""
    return np.ones((network.num_vertices, network.num_vertices), dtype=bool)


def checked(network: Network, neighbourhoods: ArrayLike) -> Mask:
    """Neighbourhoods as a matrix in which everybody remembers himself, and nobody source or sink, left but once."""
    n = network.num_vertices
    matrix = as_booleans(neighbourhoods, "neighbourhoods", shape=(n, n)).copy()
    np.fill_diagonal(matrix, True)
    ends = [network.source, network.sink]
    matrix[:, ends] = matrix[ends] = False
    return matrix


def bits(matrix: Mask) -> Words:
    """One bit a vertex, in as many words as it takes: different ones where somebody remembers both."""
    n = len(matrix)
    counts = matrix.astype(np.float32)
    conflicts: Mask = np.asarray((counts.T @ counts) > 0)
    np.fill_diagonal(conflicts, False)
    colours = np.full(n, -1, dtype=np.int64)
    remembered: Mask = np.asarray(matrix.any(axis=0), dtype=bool)
    for vertex in np.argsort(-conflicts.sum(axis=1), kind="stable"):
        if remembered[vertex]:
            taken = np.zeros(n + 1, dtype=bool)
            taken[colours[conflicts[vertex]]] = True  # -1, of those without one, is the last entry
            colours[vertex] = int(np.argmin(taken[:n]))
    own = np.zeros((n, max(1, -(-int(colours.max(initial=-1) + 1) // 64))), dtype=np.uint64)
    some = np.flatnonzero(colours >= 0)
    own[some, colours[some] // 64] = np.uint64(1) << (colours[some] % 64).astype(np.uint64)
    return own


@njit(cache=True, nogil=True)
def arc_bits(matrix: Mask, own: Words, tails: Ints, heads: Ints) -> tuple[Words, Words]:
    """What both ends of each arc remember, and the bit of its head where the tail remembers it."""
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


@njit(cache=True, nogil=True)
def unreachable(
    matrix: Mask, own: Words, distances: Floats, upper: Floats, lowest: float, width: float, buckets: int, slack: float
) -> NDArray[np.uint64]:
    """By bucket and vertex: the bits of the remembered vertices that no path from there can visit within the limit."""
    n, words = own.shape
    found = np.zeros((buckets, n, words), dtype=np.uint64)
    for bucket in range(buckets):
        value = lowest + bucket * width - slack
        for tail in range(n):
            for vertex in range(n):
                if matrix[tail, vertex] and value + distances[tail, vertex] > upper[vertex]:
                    for w in range(words):
                        found[bucket, tail, w] |= own[vertex, w]
    return found


def distances(n: int, tails: Ints, heads: Ints, lengths: Floats) -> Floats:
    """The least consumption between any two vertices, infinite where there is no path."""
    found = np.full((n, n), np.inf)
    np.minimum.at(found, (tails, heads), lengths)
    np.fill_diagonal(found, 0.0)
    for middle in range(n):
        np.minimum(found, found[:, middle, None] + found[middle], out=found)
    return found

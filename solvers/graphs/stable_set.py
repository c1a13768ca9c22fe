r"""Stable sets of largest weight, exactly.

    max over stable sets S    Σ_{v in S} w_v        w integer

Depth-first search over vertices to include.  Cliques bound a node's candidates C, as a stable set has at most one
vertex of each.  Let cliques K have shares y_K ≥ 0 that cover each candidate's weight, Σ_{K with v} y_K ≥ w_v.  Then no
stable set within C weighs more than Σ_K y_K.  Cliques are built greedily.  Each gets the least remaining weight of its
vertices, and vertices without remaining weight leave.  In this order, the sum up to a vertex bounds all sets of
vertices that have left by then.  Vertices whose sum does not exceed the best known weight need not be included first.

Weights are integers: sums are exact, and a bound is a proof.  Multiply fractions by a power of two and round up.

Sources: L. Babel, *A fast algorithm for the maximum weight clique problem*, Computing 52 (1994), and W. Tavares, M.
Bastos Campos Neto, C. Diego Rodrigues, P. Michelon, *Um algoritmo de branch and bound para o problema da clique máxima
ponderada*, Proceedings of XLVII SBPO (2015), for the bound.  P. San Segundo, D. Rodríguez-Losada, A. Jiménez, *An exact
bit-parallel algorithm for the maximum clique problem*, Computers & Operations Research 38 (2011), for the bits.  S.
Held, W. Cook, E. C. Sewell, *Maximum-weight stable sets and safe lower bounds for graph coloring*, Mathematical
Programming Computation 4 (2012), for integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_booleans, as_integer, as_integers
from colgen.solvers.graphs.bits import Words, drop, holds, lowest, num_words, pack, put, unpack
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner
from colgen.solvers.stopping import Expired, Pace, never
from colgen.solvers.work import NODE, add_work

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

LARGEST_SUM = 2**62
"""The sum of all weights must be smaller."""

_KEPT = 256
"""Number of sets that are kept, the last ones."""

_CHUNK = 1 << 12
"""Nodes before the first check of the clock."""

_LOOK = 0.05
"""Seconds between two checks."""


@dataclass(frozen=True)
class StableSets:
    """The result of a search.

    Attributes
    ----------
    members : (sets, vertices) mask of sets above the given weight, each heavier than the previous one
    weights : their weights
    bound : upper bound on the weight of every stable set
    finished : whether the search was completed: the last set is the heaviest, or none exceeds the given weight
    """

    members: Mask
    weights: Ints
    bound: int
    finished: bool


class StableSetSearch(NamedTuple):
    """State of an interruptible search.

    * ``weights``, ``neighbours``, ``others``: weights, bit sets of neighbours and of other vertices, in search order.
    * ``candidates``: the remaining candidates of each level.
    * ``order``, ``bounds``: the order in which they left the cliques, and the sums up to them.
    * ``place``: the next candidate of each level (-1: none; -2: a new level).
    * ``value``, ``chosen``: the included weight and the vertex of each level.
    * ``state``: the level, the weight to exceed, the number of sets found, and the number of nodes.
    * ``found``, ``found_weights``: the last sets found.
    * ``rest``, ``left``, ``pool``, ``clique``: buffers of the bound: remaining weights, candidate sets, and a clique.
    """

    weights: Ints
    neighbours: Words
    others: Words
    candidates: Words
    order: Ints
    bounds: Ints
    place: Ints
    value: Ints
    chosen: Ints
    state: Ints
    found: Words
    found_weights: Ints
    rest: Ints
    left: Words
    pool: Words
    clique: Ints


def heaviest(
    adjacency: ArrayLike,
    weights: ArrayLike,
    *,
    above: int = 0,
    most: int | None = None,
    nodes: int | None = None,
    expired: Expired = never,
) -> StableSets:
    """Return the heaviest stable set above ``above``, and the improving sets found before.

    Parameters
    ----------
    adjacency : (n, n) mask, symmetric with a false diagonal
    weights : (n,) array of nonnegative integers
    above : only heavier sets are searched; ``bound`` is at least this
    most : node limit once a set is found
    nodes : node limit in any case

    Raises
    ------
    ArrayError
        If the arguments are invalid, or the weights sum to 2^62 or more.
    """
    conflict = as_graph(adjacency)
    weight = as_weights(weights, len(conflict))
    above = as_integer(above, "above", low=0)
    items = np.flatnonzero(weight)
    items = items[np.argsort(-weight[items], kind="stable")]
    search = begin(conflict[np.ix_(items, items)], weight[items], above)
    return run(search, continue_search, items, len(weight), _CHUNK, most=most, nodes=nodes, expired=expired)


def run(
    search: StableSetSearch,
    advance: Callable[[StableSetSearch, int], bool],
    items: Ints,
    n: int,
    chunk: int,
    *,
    most: int | None,
    nodes: int | None,
    expired: Expired,
) -> StableSets:
    """Advance a search over some of n vertices (``items``) until it ends or reaches a limit of :func:`heaviest`.

    ``advance`` searches a number of nodes and returns whether the search is completed.  ``chunk`` is the number of
    nodes before the first call of ``expired``.
    """
    limit = LARGEST_SUM if nodes is None else as_integer(nodes, "nodes", low=0)
    pace = Pace(min(chunk, limit), _LOOK)
    finished = advance(search, int(pace.work))
    while not finished:
        spent = int(search.state[3])
        enough = most is not None and search.state[2] > 0 and spent >= most
        if enough or spent >= limit or expired():
            break
        pace.start()
        finished = advance(search, int(pace.work))
        pace.stop()
    add_work(NODE * int(search.state[3]))
    count = int(search.state[2])
    rows = np.arange(max(count - _KEPT, 0), count) % _KEPT
    members = np.zeros((len(rows), n), dtype=np.bool_)
    members[:, items] = unpack(search.found[rows], len(items))
    bound = int(search.state[1]) if finished else max(int(open_bound(search)), int(search.state[1]))
    return StableSets(members, search.found_weights[rows].copy(), bound, bool(finished))


def as_graph(adjacency: ArrayLike) -> Mask:
    """Return a validated adjacency matrix."""
    conflict = as_booleans(adjacency, "adjacency", shape=("n", "n"))
    if not np.array_equal(conflict, conflict.T):
        raise ArrayError("adjacency: expected a symmetric mask")
    if conflict.diagonal().any():
        raise ArrayError("adjacency: expected a mask without loops (a false diagonal)")
    return conflict


def as_weights(weights: ArrayLike, n: int) -> Ints:
    """Return validated weights: nonnegative integers, one per vertex, with exact sums."""
    weight = as_integers(weights, "weights", shape=(as_integer(n, "n", low=0),), low=0)
    if sum(weight.tolist()) >= LARGEST_SUM:
        raise ArrayError("weights: expected a sum below 2^62")
    return weight


def begin(conflict: Mask, weights: Ints, above: int) -> StableSetSearch:
    """Return a search over vertices of positive weight, in this order."""
    n = len(weights)
    words, levels = max(num_words(n), 1), n + 1
    other = ~conflict
    np.fill_diagonal(other, False)
    everything = pack(np.ones((1, n), dtype=np.bool_)) if n else np.zeros((1, 1), dtype=np.uint64)
    candidates = np.zeros((levels, words), dtype=np.uint64)
    candidates[0] = everything[0]
    place = np.full(levels, -2, dtype=np.int64)
    return StableSetSearch(
        weights,
        pack(conflict) if n else np.zeros((0, words), dtype=np.uint64),
        pack(other) if n else np.zeros((0, words), dtype=np.uint64),
        candidates,
        np.zeros((levels, max(n, 1)), dtype=np.int64),
        np.zeros((levels, max(n, 1)), dtype=np.int64),
        place,
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.array([0, above, 0, 0], dtype=np.int64),
        np.zeros((_KEPT, words), dtype=np.uint64),
        np.zeros(_KEPT, dtype=np.int64),
        np.zeros(max(n, 1), dtype=np.int64),
        np.zeros(words, dtype=np.uint64),
        np.zeros(words, dtype=np.uint64),
        np.zeros(max(n, 1), dtype=np.int64),
    )


@inner
def order_by_cliques(search: StableSetSearch, level: int) -> int:
    """Bound a level's candidates by greedy cliques.  Return the number of candidates."""
    candidates, order, bounds = search.candidates[level], search.order[level], search.bounds[level]
    left, pool, rest, clique = search.left, search.pool, search.rest, search.clique
    words, count, total, first = len(candidates), 0, 0, 0
    for w in range(words):
        left[w] = candidates[w]
        word = left[w]
        while word != 0:
            v = (w << 6) + lowest(word)
            rest[v] = search.weights[v]
            if rest[v] == 0:
                drop(left, v)
                order[count], bounds[count] = v, 0
                count += 1
            word &= word - np.uint64(1)
    while True:
        while first < words and left[first] == 0:
            first += 1
        if first == words:
            return count
        for w in range(first, words):
            pool[w] = left[w]
        size, least, w = 0, LARGEST_SUM, first
        while w < words:
            if pool[w] == 0:
                w += 1
                continue
            v = (w << 6) + lowest(pool[w])
            clique[size] = v
            size += 1
            least = min(least, rest[v])
            for u in range(w, words):
                pool[u] &= search.neighbours[v, u]
        total += least
        for k in range(size):
            v = clique[k]
            rest[v] -= least
            if rest[v] == 0:
                drop(left, v)
                order[count], bounds[count] = v, total
                count += 1


@folded
def next_included(search: StableSetSearch, level: int, above: int) -> int:
    """Remove and return the next candidate of a level to include; -1 if none leads above a weight."""
    if search.place[level] == -2:
        search.place[level] = order_by_cliques(search, level) - 1
        search.state[3] += 1
    k = search.place[level]
    if k < 0 or search.value[level] + search.bounds[level, k] <= above:
        return -1
    search.place[level] = k - 1
    v = search.order[level, k]
    drop(search.candidates[level], v)
    search.chosen[level] = v
    return int(v)


@njit(cache=True)
def continue_search(search: StableSetSearch, nodes: int) -> bool:
    """Search ``nodes`` more nodes.  Return whether the search is completed."""
    state, weights, words = search.state, search.weights, search.candidates.shape[1]
    level, limit = state[0], state[3] + nodes
    while level >= 0 and state[3] < limit:
        v = next_included(search, level, state[1])
        if v < 0:
            level -= 1
            continue
        value = search.value[level] + weights[v]
        some = np.uint64(0)
        for w in range(words):
            inside = search.candidates[level, w] & search.others[v, w]
            search.candidates[level + 1, w] = inside
            some |= inside
        if some != 0:
            level += 1
            search.value[level] = value
            search.place[level] = -2
        elif value > state[1]:
            state[1] = value
            row = state[2] % len(search.found)
            search.found[row, :] = 0
            for one in range(level + 1):
                put(search.found[row], search.chosen[one])
            search.found_weights[row] = value
            state[2] += 1
    state[0] = level
    return bool(level < 0)


@njit(cache=True)
def open_bound(search: StableSetSearch) -> int:
    """Return an upper bound on the stable sets that are not searched yet."""
    best = search.state[1]
    for level in range(search.state[0] + 1):
        if search.place[level] == -2:
            rest = 0
            for v in range(len(search.weights)):
                if holds(search.candidates[level], v):
                    rest += search.weights[v]
            best = max(best, search.value[level] + rest)
        elif search.place[level] >= 0:
            best = max(best, search.value[level] + search.bounds[level, search.place[level]])
    return int(best)

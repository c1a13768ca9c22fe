"""Head automata: candidate arcs with all their parts, and the best modifiers of a head by a dynamic program.

For a fixed entering arc, the best leaving arcs of a vertex form a path on each side in the order of their modifiers.
Each step scores two consecutive siblings; each arc scores a grandparent part with the entering arc.  For the source see
:mod:`colgen.problems.grandparent_parsing.kernels.automata_dual`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Automata(NamedTuple):
    """Candidate arcs and the scores of all their parts.

    Attributes
    ----------
    heads, modifiers, scores
        Of the arcs, ordered by modifier and head; shape (arcs,).
    incoming
        Arcs into vertex p: ``incoming[p] : incoming[p + 1]``; shape (n + 2,).
    outgoing, order
        Arcs out of p: ``order[outgoing[p] : outgoing[p + 1]]``, left side first, nearest first on each side.
    split
        Start of the right side within ``order``; shape (n + 1,).
    grandparent_at, grandparents
        Scores of p's grandparent parts start at ``grandparent_at[p]``, by arc into p and arc out of p (in ``order``);
        -inf where the two arcs exclude each other.
    sibling_at, siblings
        Scores of p's sibling parts start at ``sibling_at[p, side]``: a square of size k + 1 for k candidates.  Row 0
        stands for none before, column 0 for none after.  ``sibling_at`` has shape (n + 1, 2).
    arc
        Number of each arc by head and modifier, -1 where there is none; shape (n + 1, n + 1).
    """

    heads: Ints
    modifiers: Ints
    scores: Floats
    incoming: Ints
    outgoing: Ints
    order: Ints
    split: Ints
    grandparent_at: Ints
    grandparents: Floats
    sibling_at: Ints
    siblings: Floats
    arc: Ints


@njit(cache=True, no_cpython_wrapper=True)
def _list_arcs(candidates, scores):  # type: ignore[no-untyped-def]
    """Return heads, modifiers and scores of candidate arcs, the start of the arcs into each vertex, and arc numbers."""
    n = candidates.shape[0] - 1
    total = 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            if candidates[h, m]:
                total += 1
    heads = np.empty(total, dtype=np.int64)
    modifiers = np.empty(total, dtype=np.int64)
    weights = np.empty(total)
    arc = np.full((n + 1, n + 1), -1)
    incoming = np.zeros(n + 2, dtype=np.int64)
    e = 0
    for m in range(1, n + 1):
        incoming[m] = e
        for h in range(n + 1):
            if candidates[h, m]:
                heads[e], modifiers[e], weights[e], arc[h, m] = h, m, scores[h, m], e
                e += 1
    incoming[n + 1] = e
    return heads, modifiers, weights, incoming, arc


@njit(cache=True)
def lay_out(candidates: Mask, scores: Floats) -> Automata:
    """Return the automata of candidate arcs, with all part scores 0."""
    n = candidates.shape[0] - 1
    heads, modifiers, weights, incoming, arc = _list_arcs(candidates, scores)
    outgoing = np.zeros(n + 2, dtype=np.int64)
    order = np.empty(heads.shape[0], dtype=np.int64)
    split = np.empty(n + 1, dtype=np.int64)
    grandparent_at = np.zeros(n + 2, dtype=np.int64)
    sibling_at = np.zeros((n + 1, 2), dtype=np.int64)
    k = block = square = 0
    for p in range(n + 1):
        outgoing[p] = k
        for m in range(p - 1, 0, -1):
            if arc[p, m] >= 0:
                order[k] = arc[p, m]
                k += 1
        split[p] = k
        for m in range(p + 1, n + 1):
            if arc[p, m] >= 0:
                order[k] = arc[p, m]
                k += 1
        grandparent_at[p] = block
        block += (incoming[p + 1] - incoming[p]) * (k - outgoing[p])
        left, right = split[p] - outgoing[p], k - split[p]
        sibling_at[p, 0] = square
        sibling_at[p, 1] = square + (left + 1) * (left + 1)
        square += (left + 1) * (left + 1) + (right + 1) * (right + 1)
    outgoing[n + 1] = k
    grandparent_at[n + 1] = block
    return Automata(
        heads,
        modifiers,
        weights,
        incoming,
        outgoing,
        order,
        split,
        grandparent_at,
        np.zeros(block),
        sibling_at,
        np.zeros(square),
        arc,
    )


@njit(cache=True, borrows=True)
def tree_score(a: Automata, heads: Ints) -> float:
    """Return the score of a tree (heads of all vertices, the root's is ignored); -inf if an arc is not a candidate."""
    n = a.arc.shape[0] - 1
    total = 0.0
    for m in range(1, n + 1):
        e = a.arc[heads[m], m]
        if e < 0:
            return -np.inf
        total += a.scores[e]
    for p in range(n + 1):
        start, middle, stop = a.outgoing[p], a.split[p], a.outgoing[p + 1]
        row = -1
        if p > 0:
            row = a.grandparent_at[p] + (a.arc[heads[p], p] - a.incoming[p]) * (stop - start)
        for side in range(2):
            low, high = (start, middle) if side == 0 else (middle, stop)
            width = high - low + 1
            at = a.sibling_at[p, side]
            before = 0
            for k in range(low, high):
                e = a.order[k]
                if heads[a.modifiers[e]] == p:
                    if row >= 0:
                        total += a.grandparents[row + k - start]
                    total += a.siblings[at + before * width + k - low + 1]
                    before = k - low + 1
            if before > 0:
                total += a.siblings[at + before * width]
    return total


# The most frequently called kernels take only the arrays they read: passing two dozen arrays takes longer than most
# paths.


@inner
def forward(siblings, at, width, grandparents, row, values, low, best, back):  # type: ignore[no-untyped-def]
    """Return the value of the best path of modifiers on one side of a head, and its last modifier (0: none).

    ``siblings`` from ``at`` on is the side's square of sibling scores; ``grandparents`` from ``row`` on (< 0: none) the
    parts of the side with the entering arc; ``values`` from ``low`` on the value of each arc, -inf where deleted.
    ``best`` and ``back`` receive the value of the best path that ends in modifier k, and the modifier before it.
    """
    best[0] = 0.0
    value, last = 0.0, 0
    for k in range(1, width):
        weight = values[low + k - 1]
        if row >= 0:
            weight += grandparents[row + k - 1]
        if weight == -np.inf:
            best[k] = -np.inf
            continue
        top, arg = siblings[at + k], 0
        for j in range(1, k):
            through = best[j] + siblings[at + j * width + k]
            if through > top:
                top, arg = through, j
        best[k] = top + weight
        back[k] = arg
        through = best[k] + siblings[at + k * width]
        if through > value:
            value, last = through, k
    return value, last


@inner
def backward(siblings, at, width, grandparents, row, values, low, rest):  # type: ignore[no-untyped-def]
    """Write the best value of what follows each modifier on one side of a head to ``rest``."""
    for k in range(width - 1, 0, -1):
        top = siblings[at + k * width]
        for j in range(k + 1, width):
            weight = values[low + j - 1]
            if row >= 0:
                weight += grandparents[row + j - 1]
            if weight > -np.inf:
                top = max(top, siblings[at + k * width + j] + weight + rest[j])
        rest[k] = top


@njit(cache=True)
def optimistic_multipliers(a: Automata, alive: Mask) -> Floats:
    """Return initial λ: for each arc, the maximum score of the parts whose last arc it is."""
    n = a.arc.shape[0] - 1
    result = np.zeros(a.heads.shape[0])
    for p in range(n + 1):
        start, stop = a.outgoing[p], a.outgoing[p + 1]
        for side in range(2):
            low, high = (start, a.split[p]) if side == 0 else (a.split[p], stop)
            width = high - low + 1
            at = a.sibling_at[p, side]
            for k in range(1, width):
                e = a.order[low + k - 1]
                if not alive[e]:
                    continue
                top = -np.inf
                if p == 0:
                    top = 0.0
                for i in range(a.incoming[p], a.incoming[p + 1]):
                    if alive[i]:
                        row = a.grandparent_at[p] + (i - a.incoming[p]) * (stop - start)
                        top = max(top, a.grandparents[row + low + k - 1 - start])
                if top == -np.inf:  # the only arc into p comes from the modifier itself
                    continue
                before = -np.inf
                for j in range(k):
                    if j == 0 or alive[a.order[low + j - 1]]:
                        before = max(before, a.siblings[at + j * width + k])
                result[e] = top + before + max(0.0, a.siblings[at + k * width])
    return result

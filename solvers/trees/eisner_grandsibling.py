r"""The best projective tree over candidate arcs, with all grandparent parts and all consecutive sibling parts.

Spans store the grandparent of their head, so items are indexed by arcs.  With e = (g, h) an arc into h and f = (h, m):

    C[e, x] = max_m  I[e, f] + C[f, x] + last[h, m]                     h, its modifiers up to m, and all below to x
    I[e, f] = s[h, m] + r[g, h, m] + max of  C[f, h ± 1] + first[h, m]                                   m comes first
              and over (h, s), s between h and m:  I[e, (h, s)] + q[h, s, m] + max_t C[(h, s), t] + C[f, t ± 1].

The sibling parts are first, q and last, and C[e, h] = 0.  The last maximum, between two siblings, depends on h but not
on g.  It is computed once for all e.

With a arcs, a_h of them into h and d_h out of it on one side, the time is O(Σ_h a_h d_h (n + d_h) + n Σ_h d_h²).  The
memory is O(a n + Σ_h a_h d_h).  That is O(n⁴) and O(n³) for all arcs.  If each word has few arcs it is hardly more than
the n² needed to look the arcs up.  The same parts, except those of last modifiers, are in charts of all arcs in
:mod:`colgen.solvers.trees.eisner_sibling`.

Source: T. Koo, M. Collins, *Efficient third-order dependency parsers*, ACL (2010): g-spans as in Model 1, siblings in
them as in Model 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_booleans, as_floats
from colgen.solvers.kernel_cache import njit
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_AT_ONCE = 4e6
"""Steps between two checks of the clock: a few milliseconds."""


class Chart(NamedTuple):
    """Candidate arcs, and the values of items over them.

    Arc 0 enters the root and has no head.  The others are ordered by modifier, then by head.
    """

    # heads, modifiers: ends of each arc
    heads: Ints
    modifiers: Ints
    incoming: Ints  # the arcs into p are ``incoming[p]`` to ``incoming[p + 1] - 1``
    # order, outgoing, split: the arcs out of p are ``order[outgoing[p]:outgoing[p + 1]]``: those to its left, then,
    # from ``split[p]`` on, those to its right, nearest first on either side
    order: Ints
    outgoing: Ints
    split: Ints
    place: Ints  # (N, N) array by head and modifier: position of an arc in ``order``, or -1
    pair_at: Ints  # start in ``pairs`` of the pairs of an arc into p and one out of it
    spans: Floats  # C, by arc and end
    pairs: Floats  # I, by arc into p and arc out of it


@njit(cache=True)
def lay_out(there: Mask) -> Chart:
    """Return an empty chart of the arcs in the mask ``there``, by head and modifier."""
    size = there.shape[0]
    count = 1
    for h in range(size):
        for m in range(1, size):
            if there[h, m]:
                count += 1
    heads, modifiers = np.full(count, -1), np.zeros(count, dtype=np.int64)
    incoming, outgoing = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
    order, split = np.empty(count, dtype=np.int64), np.zeros(size, dtype=np.int64)
    arc, place = np.full((size, size), -1), np.full((size, size), -1)
    e = 1
    for m in range(1, size):
        incoming[m] = e
        for h in range(size):
            if there[h, m]:
                heads[e], modifiers[e], arc[h, m] = h, m, e
                e += 1
    incoming[size] = e
    pair_at = np.zeros(size + 1, dtype=np.int64)
    k, pairs = 0, 0
    for p in range(size):
        outgoing[p] = k
        for m in range(p - 1, 0, -1):
            if arc[p, m] >= 0:
                order[k], place[p, m] = arc[p, m], k
                k += 1
        split[p] = k
        for m in range(p + 1, size):
            if arc[p, m] >= 0:
                order[k], place[p, m] = arc[p, m], k
                k += 1
        pair_at[p] = pairs
        pairs += (incoming[p + 1] - incoming[p]) * (k - outgoing[p])
    outgoing[size] = k
    pair_at[size] = pairs
    spans = np.full((count, size), -np.inf)
    for e in range(count):
        spans[e, modifiers[e]] = 0.0
    return Chart(heads, modifiers, incoming, order, outgoing, split, place, pair_at, spans, np.full(pairs, -np.inf))


@njit(cache=True, no_cpython_wrapper=True)
def _halves(chart, s, m, toward):  # type: ignore[no-untyped-def]
    """Return the best value between two siblings, arcs s and m of one head, and where the first half ends.

    ``toward`` is 1 or -1, from the head outwards.
    """
    spans, first, last = chart.spans, chart.modifiers[s], chart.modifiers[m]
    best, at = -np.inf, first
    for t in range(first, last, toward):
        value = spans[s, t] + spans[m, t + toward]
        if value > best:
            best, at = value, t
    return best, at


@njit(cache=True, no_cpython_wrapper=True)
def _is_inside(g, h, x):  # type: ignore[no-untyped-def]
    """Return whether grandparent g lies in the span from its head h to x."""
    return h < g <= x or x <= g < h


@njit(cache=True)
def fill(
    chart: Chart, arcs: Floats, grandparents: Floats, siblings: Floats, single_root: bool, first: int, end: int
) -> float:
    """Fill the chart for spans of widths first to end - 1, given all narrower ones.  Return the value of the last.

    Parameters
    ----------
    arcs : (N, N) array by head and modifier
    grandparents : (N, N, N) array by parent, grandparent and child
    siblings : (N, N, N) array by head, modifier and sibling
        Sibling = head: none comes before.  Sibling = modifier: none comes after.
    """
    size = arcs.shape[0]
    heads, modifiers, incoming, order = chart.heads, chart.modifiers, chart.incoming, chart.order
    outgoing, split, pair_at, spans, pairs = chart.outgoing, chart.split, chart.pair_at, chart.spans, chart.pairs
    between = np.empty(size)
    for width in range(first, end):
        for h in range(size):
            for toward in (-1, 1):
                x = h + toward * width
                if x < 1 or x >= size:
                    continue
                start, degree = outgoing[h], outgoing[h + 1] - outgoing[h]
                low = (start if toward < 0 else split[h]) - start
                own = chart.place[h, x] - start if chart.place[h, x] >= 0 else -1
                if own >= 0:
                    m = order[start + own]
                    alone = arcs[h, x] + siblings[h, x, h] + spans[m, h + toward]
                    many = own > low and not (single_root and h == 0)
                    if many:
                        for j in range(low, own):
                            s = order[start + j]
                            between[j] = _halves(chart, s, m, toward)[0] + arcs[h, x] + siblings[h, x, modifiers[s]]
                    for i in range(incoming[h + 1] - incoming[h]):
                        g = heads[incoming[h] + i]
                        if g >= 0 and _is_inside(g, h, x):
                            continue
                        row = pair_at[h] + i * degree
                        best = alone
                        if many:
                            for j in range(low, own):
                                best = max(best, pairs[row + j] + between[j])
                        pairs[row + own] = best + grandparents[h, g, x] if g >= 0 else best
                high = own + 1
                if own < 0:  # modifiers up to the end
                    high = low
                    stop = (split[h] if toward < 0 else outgoing[h + 1]) - start
                    while high < stop and abs(modifiers[order[start + high]] - h) <= width:
                        high += 1
                for i in range(incoming[h + 1] - incoming[h]):
                    g = heads[incoming[h] + i]
                    if g >= 0 and _is_inside(g, h, x):
                        continue
                    row = pair_at[h] + i * degree
                    best = -np.inf
                    for j in range(low, high):
                        m = order[start + j]
                        best = max(best, pairs[row + j] + (spans[m, x] + siblings[h, modifiers[m], modifiers[m]]))
                    spans[incoming[h] + i, x] = best
    return spans[0, end - 1]  # type: ignore[no-any-return]


@njit(cache=True)
def trace(chart: Chart, siblings: Floats, arcs: Floats, single_root: bool, heads: Ints) -> None:
    """Write the heads of the best tree from a full chart that has one.  The root's head is -1."""
    size = arcs.shape[0]
    heads[0] = -1
    tails, modifiers, order = chart.heads, chart.modifiers, chart.order
    spans, pairs = chart.spans, chart.pairs
    stack, top = np.empty((2 * size + 2, 2), dtype=np.int64), 1
    stack[0, 0], stack[0, 1] = 0, size - 1
    while top > 0:
        top -= 1
        e, x = stack[top]
        h = modifiers[e]
        if h == x:
            continue
        toward = 1 if x > h else -1
        start, degree = chart.outgoing[h], chart.outgoing[h + 1] - chart.outgoing[h]
        low = (start if toward < 0 else chart.split[h]) - start
        stop = (chart.split[h] if toward < 0 else chart.outgoing[h + 1]) - start
        row = chart.pair_at[h] + (e - chart.incoming[h]) * degree
        best, own = -np.inf, low
        for j in range(low, stop):
            m = order[start + j]
            if (modifiers[m] - x) * toward > 0:
                break
            value = pairs[row + j] + (spans[m, x] + siblings[h, modifiers[m], modifiers[m]])
            if value > best:
                best, own = value, j
        stack[top, 0], stack[top, 1] = order[start + own], x
        top += 1
        while own >= low:  # the modifiers from the last inwards
            m = order[start + own]
            heads[modifiers[m]] = tails[m]
            best = arcs[h, modifiers[m]] + siblings[h, modifiers[m], h] + spans[m, h + toward]
            chosen, at = low - 1, h
            if not (single_root and h == 0):
                for j in range(low, own):
                    s = order[start + j]
                    value, t = _halves(chart, s, m, toward)
                    value = pairs[row + j] + (value + arcs[h, modifiers[m]] + siblings[h, modifiers[m], modifiers[s]])
                    if value > best:
                        best, chosen, at = value, j, t
            stack[top, 0], stack[top, 1] = m, at + toward
            top += 1
            if chosen >= low:
                stack[top, 0], stack[top, 1] = order[start + chosen], at
                top += 1
            own = chosen


def best_of_parts(
    there: Mask,
    arcs: Floats,
    grandparents: Floats,
    siblings: Floats,
    *,
    single_root: bool = False,
    expired: Expired = never,
) -> tuple[float, Ints] | None:
    """Return the result of :func:`best_tree`, from arrays in the layout of :func:`fill`, without validation.

    ``expired`` is checked every few milliseconds; TimeoutError if it returns True.
    """
    size = len(there)
    chart = lay_out(there)
    value, first, steps = -np.inf, 1, 0.0
    of_width = float(len(chart.pairs)) + len(chart.heads) * len(chart.heads) / size
    for width in range(1, size):
        steps += of_width * width / size + size
        if steps > _AT_ONCE or width == size - 1:
            if expired():
                raise TimeoutError
            value = fill(chart, arcs, grandparents, siblings, single_root, first, width + 1)
            first, steps = width + 1, 0.0
    if value == -np.inf:
        return None
    heads = np.empty(size, dtype=np.int64)
    trace(chart, siblings, arcs, single_root, heads)
    return float(value), heads


def best_tree(
    arcs: ArrayLike,
    grandparents: ArrayLike | None = None,
    siblings: ArrayLike | None = None,
    *,
    allowed: ArrayLike | None = None,
    single_root: bool = False,
) -> tuple[float, Ints] | None:
    """Return score and heads of the best projective tree, -1 for the root.  None if there is no tree.

    Parameters
    ----------
    arcs : (N, N) array by head and modifier, the root first
        -inf marks a missing arc.
    grandparents : (N, N, N) array by grandparent, parent and child, by default 0
    siblings : (N, N, N) array by head, sibling and modifier, by default 0
        Consecutive modifiers on one side of the head, the sibling nearer to it.  Sibling = head: none comes before.
        Modifier = head: none comes after.
    allowed : (N, N) mask of usable arcs, by default all
    single_root : whether the root must have exactly one modifier
    """
    arcs = as_floats(arcs, "arcs", shape=("positions", "positions"), minus_infinity=True)
    size = len(arcs)
    if size < 2:
        raise ArrayError(f"arcs: expected at least two positions including the root, got {size}")
    there = arcs > -np.inf
    if allowed is not None:
        there = there & as_booleans(allowed, "allowed", shape=(size, size))
    there = there & ~np.eye(size, dtype=np.bool_)
    by_parent, by_modifier = np.zeros((2, size, size, size))
    if grandparents is not None:
        by_parent[:] = np.swapaxes(as_floats(grandparents, "grandparents", shape=(size, size, size)), 0, 1)
    if siblings is not None:
        given = as_floats(siblings, "siblings", shape=(size, size, size))
        each = np.arange(size)
        by_modifier[:] = np.swapaxes(given, 1, 2)
        by_modifier[:, each, each] = given[each, :, each]
    return best_of_parts(there, arcs, by_parent, by_modifier, single_root=bool(single_root))

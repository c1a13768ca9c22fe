"""Items with many copies in a knapsack network: the best number of consecutive pieces along chains of arcs.

The arcs of an item with width w form chains p, p + w, p + 2w, ...  A maximum over a sliding window gives the best of
the next b states in O(1) time per state, for any b.
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit


@njit(cache=True, no_cpython_wrapper=True)
def successors(first, last, tails, heads):  # type: ignore[no-untyped-def]
    """Return each arc's successor among an item's arcs, minus ``first``, or -1."""
    after = np.full(last - first, -1, np.int64)
    other = first
    for k in range(first, last):
        while other < last and tails[other] < heads[k]:
            other += 1
        if other < last and tails[other] == heads[k]:
            after[k - first] = other - first
    return after


@njit(cache=True, no_cpython_wrapper=True)
def chain(begin, first, after, tails, heads, profits, taken, states, sums):  # type: ignore[no-untyped-def]
    """Write the states and profits along the chain from an arc.  Return the number of arcs."""
    length, k = 0, begin
    states[0], sums[0] = tails[first + begin], 0.0
    while k >= 0:
        taken[k] = True
        states[length + 1] = heads[first + k]
        sums[length + 1] = sums[length] + profits[first + k]
        length += 1
        k = after[k]
    return length


@njit(cache=True, no_cpython_wrapper=True)
def slide(ends, states, sums, most, window, best):  # type: ignore[no-untyped-def]
    """Improve ``best``, the values of the states, by the best of the last ``most + 1`` states of a sweep.

    ``states`` is the chain in sweep order.  ``ends`` is the value of each state at which the pieces, at most ``most``,
    end or begin.  ``sums`` is the profit up to each state; differences are the profits of the pieces between.
    ``window`` is a buffer with one entry per state.
    """
    # The window has candidate ends by decreasing value, nearest last.
    front, back = 0, 0
    for j in range(len(states)):
        v = ends[states[j]] + sums[j]
        while back > front and ends[states[window[back - 1]]] + sums[window[back - 1]] <= v:
            back -= 1
        window[back] = j
        back += 1
        if window[front] < j - most:
            front += 1
        if window[front] != j:
            best[states[j]] = ends[states[window[front]]] + (sums[window[front]] - sums[j])

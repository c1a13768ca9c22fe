"""Items of many copies: chains of arcs, and the best end of at most so many pieces along them.

The arcs of an item of width w form chains p, p + w, p + 2w, ...  Along a chain a maximum over a sliding window finds in
O(1) time a state which of the next b states is best to end at, whatever b is.
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit


@njit(cache=True, no_cpython_wrapper=True)
def successors(first, last, tails, heads):  # type: ignore[no-untyped-def]
    """For each of an item's arcs ``first`` to ``last`` the one that continues it, less ``first``; -1 if none does."""
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
    """Write the states along the chain that begins with an arc, and the profit up to each; returns how many arcs."""
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
    """Improve ``best`` by the best of the last ``most`` states of a sweep, those at hand included.

    Parameters
    ----------
    ends
        What each state is worth where the pieces end, or begin.
    states, sums
        Of the chain, in the order of the sweep, and the profit up to each: from one to another they differ by what the
        pieces between earn.
    most
        Pieces between the two.
    window
        Room for as many numbers as there are states.
    best
        Of each state; it is changed where pieces improve it.
    """
    # Ends in the window by decreasing value, nearest last.
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

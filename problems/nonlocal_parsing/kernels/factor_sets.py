"""Sets of arcs that occur together in some projective tree of the allowed arcs: chains, siblings, combs.

Every function takes the allowed arcs, shape (N, N) by head and modifier, and returns the words of the sets, one row per
set. If only the arcs of one tree are allowed, these are the sets in that tree. All words inside the span of an arc
descend from its head. So no word is the head of a word whose arc spans it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@njit(cache=True, no_cpython_wrapper=True)
def _lists(allowed: Bools) -> tuple[Ints, Ints]:
    """Return the modifiers of each head in order: ``modifiers[first[h]:first[h + 1]]``."""
    size = len(allowed)
    first = np.zeros(size + 1, np.int64)
    for h in range(size):
        first[h + 1] = first[h]
        for m in range(1, size):
            if allowed[h, m]:
                first[h + 1] += 1
    modifiers = np.empty(first[size], np.int64)
    for h in range(size):
        k = first[h]
        for m in range(1, size):
            if allowed[h, m]:
                modifiers[k] = m
                k += 1
    return first, modifiers


@njit(cache=True, no_cpython_wrapper=True)
def _between(word: int, a: int, b: int) -> bool:
    return min(a, b) < word < max(a, b)


@njit(cache=True, no_cpython_wrapper=True)
def _grow(rows: Ints, count: int) -> Ints:
    if count < len(rows):
        return rows
    grown = np.empty((2 * len(rows), rows.shape[1]), np.int64)
    for k in range(count):
        overwrite(grown[k], rows[k])
    return grown


@njit(cache=True)
def grandchildren(allowed: Bools) -> Ints:
    """Return chains of two arcs: grandparent, head, modifier."""
    first, modifiers = _lists(allowed)
    rows, count = np.empty((64, 3), np.int64), 0
    for g in range(len(allowed)):
        for i in range(first[g], first[g + 1]):
            h = modifiers[i]
            for j in range(first[h], first[h + 1]):
                m = modifiers[j]
                if m != g and not _between(g, h, m):
                    rows = _grow(rows, count)
                    rows[count, 0], rows[count, 1], rows[count, 2] = g, h, m
                    count += 1
    return rows[:count]


@njit(cache=True)
def great_grandchildren(allowed: Bools) -> Ints:
    """Return chains of three arcs: great-grandparent, grandparent, head, modifier."""
    first, modifiers = _lists(allowed)
    rows, count = np.empty((64, 4), np.int64), 0
    for f in range(len(allowed)):
        for i in range(first[f], first[f + 1]):
            g = modifiers[i]
            for j in range(first[g], first[g + 1]):
                h = modifiers[j]
                if h == f or _between(f, g, h):
                    continue
                for k in range(first[h], first[h + 1]):
                    m = modifiers[k]
                    if m not in (f, g) and not _between(g, h, m) and not _between(f, h, m):
                        rows = _grow(rows, count)
                        rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = f, g, h, m
                        count += 1
    return rows[:count]


@njit(cache=True)
def siblings(allowed: Bools) -> Ints:
    """Return two arcs of one head, adjacent or not, on one side or both: the head, and its modifiers in order."""
    first, modifiers = _lists(allowed)
    rows, count = np.empty((64, 3), np.int64), 0
    for h in range(len(allowed)):
        for i in range(first[h], first[h + 1]):
            for j in range(i + 1, first[h + 1]):
                rows = _grow(rows, count)
                rows[count, 0], rows[count, 1], rows[count, 2] = h, modifiers[i], modifiers[j]
                count += 1
    return rows[:count]


@njit(cache=True)
def tri_siblings(allowed: Bools) -> Ints:
    """Return three arcs of one head: the head, and its modifiers in order."""
    first, modifiers = _lists(allowed)
    rows, count = np.empty((64, 4), np.int64), 0
    for h in range(len(allowed)):
        for i in range(first[h], first[h + 1]):
            for j in range(i + 1, first[h + 1]):
                for k in range(j + 1, first[h + 1]):
                    rows = _grow(rows, count)
                    rows[count, 0] = h
                    rows[count, 1], rows[count, 2], rows[count, 3] = modifiers[i], modifiers[j], modifiers[k]
                    count += 1
    return rows[:count]


@njit(cache=True)
def combs(allowed: Bools, length: int) -> Ints:
    """Return ``length`` consecutive words with one head outside of them: the head, and the words in order."""
    size = len(allowed)
    rows, count = np.empty((64, length + 1), np.int64), 0
    for h in range(size):
        run = 0
        for m in range(1, size):
            run = run + 1 if allowed[h, m] else 0
            if run >= length:
                rows = _grow(rows, count)
                rows[count, 0] = h
                for k in range(length):
                    rows[count, 1 + k] = m - length + 1 + k
                count += 1
    return rows[:count]


@njit(cache=True)
def adjacent_siblings(allowed: Bools) -> Ints:
    """Return local parts: head, modifier, and the possible next sibling nearer to the head (the head for none)."""
    size = len(allowed)
    rows, count = np.empty((64, 3), np.int64), 0
    for h in range(size):
        for m in range(1, size):
            if not allowed[h, m]:
                continue
            rows = _grow(rows, count)
            rows[count, 0], rows[count, 1], rows[count, 2] = h, m, h
            count += 1
            for s in range(min(h, m) + 1, max(h, m)):
                if allowed[h, s]:
                    rows = _grow(rows, count)
                    rows[count, 0], rows[count, 1], rows[count, 2] = h, m, s
                    count += 1
    return rows[:count]


@njit(cache=True)
def outermost_grandchildren(allowed: Bools) -> Ints:
    """Return local parts: head, modifier, and each possible outermost modifier of the modifier on either side.

    The modifier itself means none inside the arc's span, the head means none outside.
    """
    first, modifiers = _lists(allowed)
    size = len(allowed)
    rows, count = np.empty((64, 3), np.int64), 0
    for h in range(size):
        for m in range(1, size):
            if not allowed[h, m]:
                continue
            for k in range(first[m] - 2, first[m + 1]):
                c = h if k == first[m] - 2 else m if k == first[m] - 1 else modifiers[k]
                if k >= first[m] and (c == h or _between(h, m, c)):
                    continue
                rows = _grow(rows, count)
                rows[count, 0], rows[count, 1], rows[count, 2] = h, m, c
                count += 1
    return rows[:count]


@njit(cache=True)
def tree_adjacent_siblings(heads: Ints) -> Ints:
    """Return the sibling parts of a tree: head, modifier, and its sibling nearer to the head, or the head for none."""
    rows = np.empty((len(heads) - 1, 3), np.int64)
    for m in range(1, len(heads)):
        h = heads[m]
        step = 1 if h > m else -1
        s = m + step
        while s != h and heads[s] != h:
            s += step
        rows[m - 1, 0], rows[m - 1, 1], rows[m - 1, 2] = h, m, s
    return rows


@njit(cache=True)
def tree_outermost_grandchildren(heads: Ints) -> Ints:
    """Return the grandchild parts of a tree: two per arc, as in :func:`outermost_grandchildren`."""
    size = len(heads)
    left, right = np.arange(size), np.arange(size)
    for m in range(1, size):
        left[heads[m]] = min(left[heads[m]], m)
        right[heads[m]] = max(right[heads[m]], m)
    rows = np.empty((2 * (size - 1), 3), np.int64)
    for m in range(1, size):
        h = heads[m]
        within, beyond = (left[m], right[m]) if h < m else (right[m], left[m])
        for k in range(2):
            rows[2 * m - 2 + k, 0], rows[2 * m - 2 + k, 1] = h, m
        rows[2 * m - 2, 2] = within
        rows[2 * m - 1, 2] = beyond if beyond != m else h
    return rows

"""Shares p found without decoding: bounds of products are made tight at likely arcs or at a tree, or extended."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colgen.problems.nonlocal_parsing.kernels.products import members
from colgen.solvers.arrays import as_floats
from colgen.solvers.kernel_cache import njit
from colgen.solvers.trees.eisner_items import Floats, Ints

Bytes = NDArray[np.int8]


def margins(arc: Floats) -> Floats:
    """Return an arc's score minus that of the best arc to its modifier, shape (N, N)."""
    arc = as_floats(arc, "arc", shape=("n", "n"))
    margin: Floats = arc - arc.max(axis=0)
    return margin


@njit(cache=True)
def likely_start(start: Ints, arcs: Ints, score: Floats, p: Floats, margin: Floats) -> None:
    """Write shares for which products are tight at the best head of each word.

    A positive score goes to the arc of lowest margin, or in equal shares to all arcs if all are best. A negative score
    gets p_1 = 1 if all of its arcs are best, otherwise 0.
    """
    of = margin.reshape(-1)
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        least = first
        for k in range(first, end):
            if of[arcs[k]] < of[arcs[least]]:
                least = k
        all_best = of[arcs[least]] >= 0.0
        if score[c] < 0.0:
            p[first:end] = 0.0
            p[first] = 1.0 if all_best else 0.0
        elif all_best:
            p[first:end] = 1.0 / (end - first)
        else:
            p[first:end] = 0.0
            p[least] = 1.0


@njit(cache=True)
def snap(start: Ints, arcs: Ints, score: Floats, p: Floats, margin: Floats, heads: Ints) -> None:
    """Make every product tight at a tree.

    A positive score goes to the missing arc of lowest margin. A negative score gets p_1 = 1 if the tree has all of its
    arcs, and 0 if it lacks at least two.
    """
    of, has = margin.reshape(-1), members(heads)
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        held, least = 0, -1
        for k in range(first, end):
            if has[arcs[k]]:
                held += 1
            elif least < 0 or of[arcs[k]] < of[arcs[least]]:
                least = k
        if score[c] >= 0.0:
            if 0 < held < end - first:
                p[first:end] = 0.0
                p[least] = 1.0
        elif held == end - first:
            p[first] = 1.0
        elif held < end - first - 1:
            p[first] = 0.0


# --- from few arcs to all --------------------------------------------------------------------------------------------

ONLY, KEPT, EXCLUDED = 2, 1, 0
"""Status of arcs after a search among few of them: a word's only arc, one of several, or excluded."""


@njit(cache=True)
def widen_shares(
    start: Ints,
    arcs: Ints,
    score: Floats,
    p: Floats,
    status: Bytes,
    number: Ints,
    few_start: Ints,
    few_arcs: Ints,
    few_p: Floats,
) -> None:
    """Extend shares among the few remaining arcs to all arcs; products with excluded arcs get no share.

    The positive scores of these products are then not bounded: see :func:`assign_shares`. ``status`` has the status of
    each arc, shape (N²,). ``number`` has the numbers of the remaining products, ascending; the arrays of their arcs and
    shares follow.
    """
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        several, others, last = 0, 0, first
        for k in range(first, end):
            others += status[arcs[k]] == EXCLUDED
            if status[arcs[k]] == KEPT:
                several, last = several + 1, k
        p[first:end] = 0.0
        if others == 0 and several <= 1:  # equivalent to a score of one arc, or of none
            p[first if score[c] < 0.0 else last] = 1.0
    for c in range(len(number)):
        first, end = start[number[c]], start[number[c] + 1]
        p[first:end] = 0.0
        if score[number[c]] < 0.0:
            p[first] = few_p[few_start[c]]
            continue
        at = first
        for k in range(few_start[c], few_start[c + 1]):
            while arcs[at] != few_arcs[k]:
                at += 1
            p[at] = few_p[k]


@njit(cache=True)
def clear_excluded(start: Ints, arcs: Ints, score: Floats, p: Floats, status: Bytes) -> None:
    """Set the shares of positive products with excluded arcs to zero, as in :func:`widen_shares`."""
    for c in range(len(score)):
        if score[c] > 0.0:
            for k in range(start[c], start[c + 1]):
                if status[arcs[k]] == EXCLUDED:
                    p[start[c] : start[c + 1]] = 0.0
                    break


@njit(cache=True)
def assign_shares(start: Ints, arcs: Ints, score: Floats, p: Floats, status: Bytes, slack: Floats) -> None:
    """Assign each positive product with excluded arcs to the one of its arcs with the smallest relative load.

    The load of an arc is its assigned scores divided by its slack. For products of two arcs, an arc needs only the
    largest score among those whose other arcs lead to the same word
    (:func:`colgen.problems.nonlocal_parsing.kernels.products.grouped_tilt`). ``slack`` is the slack of each arc, shape
    (N²,), positive: the amount that its best tree lacks.
    """
    size = int(math.sqrt(len(slack)))
    given = np.zeros(len(slack))
    largest = np.zeros(size * len(slack))
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        if score[c] < 0.0:
            continue
        others = False
        for k in range(first, end):
            others |= status[arcs[k]] == EXCLUDED
        if not others:
            continue
        chosen, least, more, place = first, math.inf, 0.0, -1
        for k in range(first, end):
            arc = arcs[k]
            needs, at = score[c], -1
            if end - first == 2:
                at = arc * size + arcs[2 * first + 1 - k] % size
                needs = max(needs - largest[at], 0.0)
            part = (given[arc] + needs) / slack[arc] if needs > 0.0 else -1.0
            if part < least:
                chosen, least, more, place = k, part, needs, at
        p[first:end] = 0.0
        p[chosen] = 1.0
        given[arcs[chosen]] += more
        if place >= 0:
            largest[place] += more

"""Shares p that cost no call of a backbone: products made tight where they are likely to be, or at a tree."""

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
    """How much less an arc scores than the best arc to its modifier, shape (N, N); zero for that one."""
    arc = as_floats(arc, "arc", shape=("n", "n"))
    margin: Floats = arc - arc.max(axis=0)
    return margin


@njit(cache=True)
def likely_start(start: Ints, arcs: Ints, score: Floats, p: Floats, margin: Floats) -> None:
    """A start that costs no call: products are taken to be tight at the best head of each word.

    A positive score goes to the arc of least margin, or to equal shares if all of its arcs are best; a negative score
    is counted if all are.
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
    """Make every product tight at a tree: a positive score goes to the missing arc of least margin."""
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

ALONE, LEFT, OUT = 2, 1, 0
"""Arcs as a search among few of them leaves them: a word's only one, one of several, and one that is not left."""


@njit(cache=True)
def widen(
    start: Ints,
    arcs: Ints,
    score: Floats,
    p: Floats,
    standing: Bytes,
    number: Ints,
    few_start: Ints,
    few_arcs: Ints,
    few_p: Floats,
) -> None:
    """Shares among the few arcs that are left become shares among all; products with other arcs are given to none.

    With these p positive scores of products with others are not bounded at all: see :func:`share_out`.

    Parameters
    ----------
    standing
        Shape (N²,): ``ALONE``, ``LEFT`` or ``OUT``.
    number, few_start, few_arcs, few_p
        The products that are left, by their numbers among all, ascending; their arcs in order, and their shares.
    """
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        several, others, last = 0, 0, first
        for k in range(first, end):
            others += standing[arcs[k]] == OUT
            if standing[arcs[k]] == LEFT:
                several, last = several + 1, k
        p[first:end] = 0.0
        if others == 0 and several <= 1:  # as good as a score of one arc, or of none
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
def leave_out(start: Ints, arcs: Ints, score: Floats, p: Floats, standing: Bytes) -> None:
    """Give positive scores of products with arcs that are not left to none, as :func:`widen` does."""
    for c in range(len(score)):
        if score[c] > 0.0:
            for k in range(start[c], start[c + 1]):
                if standing[arcs[k]] == OUT:
                    p[start[c] : start[c + 1]] = 0.0
                    break


@njit(cache=True)
def share_out(start: Ints, arcs: Ints, score: Floats, p: Floats, standing: Bytes, room: Floats) -> None:
    """Give each positive score of a product with arcs that are not left to one of its arcs: where there is most room.

    An arc is given what is least of its room, with what it has been given before; of products of two arcs, it needs no
    more than the largest among those whose other arc leads to one word
    (:func:`colgen.problems.nonlocal_parsing.kernels.products.grouped_tilt`).

    Parameters
    ----------
    room
        Of each arc, shape (N²,): what its best tree lacks for being a best one, above zero.
    """
    size = int(math.sqrt(len(room)))
    given = np.zeros(len(room))
    largest = np.zeros(size * len(room))
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        if score[c] < 0.0:
            continue
        others = False
        for k in range(first, end):
            others |= standing[arcs[k]] == OUT
        if not others:
            continue
        chosen, least, more, place = first, math.inf, 0.0, -1
        for k in range(first, end):
            arc = arcs[k]
            needs, at = score[c], -1
            if end - first == 2:
                at = arc * size + arcs[2 * first + 1 - k] % size
                needs = max(needs - largest[at], 0.0)
            part = (given[arc] + needs) / room[arc] if needs > 0.0 else -1.0
            if part < least:
                chosen, least, more, place = k, part, needs, at
        p[first:end] = 0.0
        p[chosen] = 1.0
        given[arcs[chosen]] += more
        if place >= 0:
            largest[place] += more

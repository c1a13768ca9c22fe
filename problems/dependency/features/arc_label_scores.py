"""Scores of relations of all arcs of a sentence while they are learned, for the best to count in each arc's own score.

Weights that no longer change are looked up in another order
(:mod:`colgen.problems.dependency.features.relation_scores`).

The features are those of :mod:`colgen.problems.dependency.features.label_scores` that look at head and modifier alone.
A feature that occurs often has a row, with a weight for each relation; what others say is a list, of the relations that
they say something of, and what they come to say while they learn is put at its end.

Time O(n² (t + r)) for n tokens, t templates of two tokens and r relations; templates of one token count O(n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.hashed_keys import EMPTY, find, hash_of
from colgen.problems.dependency.features.label_scores import (
    PLACES,
    SIDES,
    Codes,
    Ints,
    Rows,
    Singles,
    Templates,
    key_of_pair,
    place_of,
)
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Floats = NDArray[np.float64]
Shorts = NDArray[np.int32]

NOTHING = np.int32(-1)


class LabelLists(NamedTuple):
    """Weights of relations by feature.

    Attributes
    ----------
    sizes
        How many rows and how many entries there are, shape (2,).
    first
        Of each feature the first entry, :data:`NOTHING` if there is none; or its row, as -2 - row.
    after, relations
        Of each entry: the next one of its feature, :data:`NOTHING` after the last, and the relation.
    weights
        Of all rows, then of the entries.
    """

    sizes: Ints
    first: Shorts
    after: Shorts
    relations: Shorts
    weights: Singles


@njit(cache=True, no_cpython_wrapper=True)
def _add(into, key, rows, lists):  # type: ignore[no-untyped-def]
    """Add a feature's weights to those of all relations."""
    slot = np.int64(-1) if key < 0 else find(rows.slots, key)
    if slot < 0:
        return
    num, entry = len(into), lists.first[rows.rows[slot]]
    if entry < NOTHING:
        row = lists.weights[-(entry + 2) * num : -(entry + 1) * num]
        for y in range(num):
            into[y] += row[y]
        return
    behind = lists.sizes[0] * num
    while entry >= 0:
        into[lists.relations[entry]] += lists.weights[behind + entry]
        entry = lists.after[entry]


@njit(cache=True, no_cpython_wrapper=True)
def _add_alone(codes, templates, rows, lists, by_head, by_modifier):  # type: ignore[no-untyped-def]
    """Add what templates of one token say, by token, whether the head stands after the modifier, and relation.

    The other templates.
    """
    both, pairs = np.empty(len(templates.starts), dtype=np.int64), 0
    for t in range(len(templates.starts)):
        constant_head, constant_modifier = templates.joined[t, 0] == 0, templates.joined[t, 1] == 0
        if templates.joined[t, 2] == PLACES or constant_head == constant_modifier:
            both[pairs] = t
            pairs += 1
            continue
        first, second = templates.joined[t, 0], templates.joined[t, 1]
        for token in range(by_head.shape[0]):
            # The conjunction that is constant has the same code in all tokens.
            head, modifier = (token, 0) if constant_modifier else (0, token)
            a, b = np.int64(codes[first, head]), np.int64(codes[second, modifier])
            if a >= 0 and b >= 0:
                for side in range(2):
                    into = by_head[token, side] if constant_modifier else by_modifier[token, side]
                    _add(into, templates.starts[t] + (a * templates.sizes[t] + b) * SIDES + side, rows, lists)
    return both[:pairs]


@inner
def _add_arcs(codes, templates, t, h, rows, lists, places, work, totals):  # type: ignore[no-untyped-def]
    """Add what a template says of all arcs of a head, by modifier and relation."""
    code, modifiers = np.int64(codes[templates.joined[t, 0], h]), codes[templates.joined[t, 1]]
    if code < 0:
        return
    slots, numbers, weights = rows.slots, rows.rows, lists.weights
    first, after, named = lists.first, lists.after, lists.relations
    size, num = totals.shape
    mask, behind = len(slots) - 1, lists.sizes[0] * num
    asked, at, held = work[0], work[1], work[2]
    width, several = templates.joined[t, 2], np.int64(templates.joined[t, 2] == PLACES)
    begin = templates.starts[t] + code * templates.sizes[t] * width
    for m in range(1, size):
        asked[m] = begin + modifiers[m] * width + places[several, m]
        at[m] = hash_of(asked[m], mask)
        held[m] = slots[at[m]]
    for m in range(1, size):
        if modifiers[m] < 0 or held[m] == EMPTY:
            continue
        slot = at[m]
        if held[m] != asked[m]:
            slot = find(slots, asked[m])
            if slot < 0:
                continue
        entry = first[numbers[slot]]
        if entry < NOTHING:
            row = -(entry + 2) * num
            for y in range(num):
                totals[m, y] += weights[row + y]
        while entry >= 0:
            totals[m, named[entry]] += weights[behind + entry]
            entry = after[entry]


@inner
def _choose(h, totals, heads, right, losses, best, which, of_right):  # type: ignore[no-untyped-def]
    """Write the best relation of each arc of a head, losses added."""
    wrong, missed, num = np.float32(losses[0]), np.float32(losses[1]), totals.shape[1]
    for m in range(1, totals.shape[0]):
        if h == m:
            continue
        total = totals[m]
        if len(heads):
            if heads[m] == h:
                of_right[m] = total[right[m]]
                for y in range(num):
                    total[y] += wrong
                total[right[m]] = np.float32(of_right[m])
            else:
                for y in range(num):
                    total[y] += missed
        arg = 0
        for y in range(1, num):
            if total[y] > total[arg]:
                arg = y
        best[h, m], which[h, m] = total[arg], arg


@njit(cache=True, nogil=True)
def best_of_arcs(
    codes: Codes,
    templates: Templates,
    rows: Rows,
    lists: LabelLists,
    num: int,
    heads: Ints,
    right: Ints,
    losses: Floats,
) -> tuple[Floats, Shorts, Floats]:
    """The best relation of each arc, by head and modifier.

    Parameters
    ----------
    num
        How many relations there are.
    heads, right
        Heads and relations that are right, by modifier, shape (n + 1,); of no tokens where none are known.
    losses
        What is added to a wrong relation of a right head, and to all of a wrong head.

    Returns
    -------
    tuple[Floats, Shorts, Floats]
        What the best relations score, shape (n + 1, n + 1), 0 where there is no arc; which these are; and what the
        right relations of the right heads score, by modifier.
    """
    size = codes.shape[1] - 2
    best, which = np.zeros((size, size)), np.zeros((size, size), dtype=np.int32)
    of_right = np.zeros(len(heads))
    by_head = np.zeros((size, 2, num), dtype=np.float32)
    by_modifier = np.zeros((size, 2, num), dtype=np.float32)
    both = _add_alone(codes, templates, rows, lists, by_head, by_modifier)
    totals = np.empty((size, num), dtype=np.float32)
    places, work = np.empty((2, size), dtype=np.int64), np.empty((3, size), dtype=np.int64)
    for h in range(size):
        for m in range(1, size):
            places[0, m], places[1, m] = np.int64(h > m), place_of(h, m)
            for y in range(num):
                totals[m, y] = by_head[h, places[0, m], y] + by_modifier[m, places[0, m], y]
        for t in both:
            _add_arcs(codes, templates, t, h, rows, lists, places, work, totals)
        _choose(h, totals, heads, right, losses, best, which, of_right)
    return best, which, of_right


@njit(cache=True, nogil=True)
def mark_relations(
    codes: Codes,
    templates: Templates,
    rows: Rows,
    lists: LabelLists,
    num: int,
    trees: tuple[Ints, Ints],
    others: tuple[Ints, Ints],
    plus: bool,
    marks: Ints,
    count: int,
) -> int:
    """Write a mark for each feature and relation of an arc that the other tree has not; how many marks there are.

    Trees are heads and relations by modifier.  A relation that a feature said nothing of gets an entry, for which there
    must be room; a mark's place (:func:`~colgen.solvers.averaging.settle_marks`) is a
    weight's.
    """
    heads, relations = trees
    for m in range(1, len(heads)):
        if heads[m] == others[0][m] and relations[m] == others[1][m]:
            continue
        for t in range(len(templates.starts)):
            key = key_of_pair(codes, templates, t, heads[m], m)
            slot = np.int64(-1) if key < 0 else find(rows.slots, key)
            if slot < 0:
                continue
            feature = rows.rows[slot]
            entry, last = lists.first[feature], NOTHING
            if entry < NOTHING:
                place = np.int64(-(entry + 2)) * num + relations[m]
            else:
                while entry >= 0 and lists.relations[entry] != relations[m]:
                    last = entry
                    entry = lists.after[entry]
                if entry < 0:
                    entry = np.int32(lists.sizes[1])
                    lists.sizes[1] += 1
                    lists.relations[entry], lists.after[entry] = relations[m], NOTHING
                    if last < 0:
                        lists.first[feature] = entry
                    else:
                        lists.after[last] = entry
                place = lists.sizes[0] * num + entry
            marks[count] = 2 * place + np.int64(plus)
            count += 1
    return count

"""Relation scores of all arcs of a sentence during training; the best relation counts in each arc's score.

After training, weights are stored in another order (:mod:`colgen.problems.dependency.features.relation_scores`).

The features are those of :mod:`colgen.problems.dependency.features.label_scores` that use head and modifier only.  A
frequent feature has a dense row with a weight per relation.  Other features have a list of relations with weights,
which grows at its end during training.

Time O(n² (t + r)) for n tokens, t templates of two tokens and r relations; templates of one token add O(n).
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
    """Relation weights by feature.

    Attributes
    ----------
    sizes
        Number of rows and of list entries, shape (2,).
    first
        First entry of each feature, or :data:`NOTHING`; or its row, encoded as -2 - row.
    after, relations
        Next entry of the same feature (:data:`NOTHING` at the end) and relation, by entry.
    weights
        Weights of all rows, then of the entries.
    """

    sizes: Ints
    first: Shorts
    after: Shorts
    relations: Shorts
    weights: Singles


@njit(cache=True, no_cpython_wrapper=True)
def _add(into, key, rows, lists):  # type: ignore[no-untyped-def]
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
    """Add the weights of one-token templates by side (1: head after modifier); return the two-token templates."""
    both, pairs = np.empty(len(templates.starts), dtype=np.int64), 0
    for t in range(len(templates.starts)):
        constant_head, constant_modifier = templates.joined[t, 0] == 0, templates.joined[t, 1] == 0
        if templates.joined[t, 2] == PLACES or constant_head == constant_modifier:
            both[pairs] = t
            pairs += 1
            continue
        first, second = templates.joined[t, 0], templates.joined[t, 1]
        for token in range(by_head.shape[0]):
            # The constant conjunction has the same code in all tokens.
            head, modifier = (token, 0) if constant_modifier else (0, token)
            a, b = np.int64(codes[first, head]), np.int64(codes[second, modifier])
            if a >= 0 and b >= 0:
                for side in range(2):
                    into = by_head[token, side] if constant_modifier else by_modifier[token, side]
                    _add(into, templates.starts[t] + (a * templates.sizes[t] + b) * SIDES + side, rows, lists)
    return both[:pairs]


@inner
def _add_arcs(codes, templates, t, h, rows, lists, places, work, totals):  # type: ignore[no-untyped-def]
    """Add a template's weights to all arcs of a head, by modifier and relation."""
    code, modifiers = np.int64(codes[templates.joined[t, 0], h]), codes[templates.joined[t, 1]]
    if code < 0:
        return
    slots, numbers, weights = rows.slots, rows.rows, lists.weights
    first, after, named = lists.first, lists.after, lists.relations
    size, num = totals.shape
    mask, behind = len(slots) - 1, lists.sizes[0] * num
    queries, at, held = work[0], work[1], work[2]
    width, several = templates.joined[t, 2], np.int64(templates.joined[t, 2] == PLACES)
    begin = templates.starts[t] + code * templates.sizes[t] * width
    for m in range(1, size):
        queries[m] = begin + modifiers[m] * width + places[several, m]
        at[m] = hash_of(queries[m], mask)
        held[m] = slots[at[m]]
    for m in range(1, size):
        if modifiers[m] < 0 or held[m] == EMPTY:
            continue
        slot = at[m]
        if held[m] != queries[m]:
            slot = find(slots, queries[m])
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
def _choose(h, totals, heads, right, losses, best, which, right_scores):  # type: ignore[no-untyped-def]
    """Write the best relation of each arc of a head, losses included."""
    wrong, missed, num = np.float32(losses[0]), np.float32(losses[1]), totals.shape[1]
    for m in range(1, totals.shape[0]):
        if h == m:
            continue
        total = totals[m]
        if len(heads):
            if heads[m] == h:
                right_scores[m] = total[right[m]]
                for y in range(num):
                    total[y] += wrong
                total[right[m]] = np.float32(right_scores[m])
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
    """Return the best relation of each arc, by head and modifier.

    ``heads`` and ``right`` are gold heads and relations by modifier, shape (n + 1,), or empty.  ``losses`` are those of
    a wrong relation with the correct head, and of any relation with a wrong head.

    Returns
    -------
    tuple[Floats, Shorts, Floats]
        Scores of the best relations, shape (n + 1, n + 1), 0 where there is no arc; their numbers; and scores of the
        gold relations of the gold heads, by modifier.
    """
    size = codes.shape[1] - 2
    best, which = np.zeros((size, size)), np.zeros((size, size), dtype=np.int32)
    right_scores = np.zeros(len(heads))
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
        _choose(h, totals, heads, right, losses, best, which, right_scores)
    return best, which, right_scores


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
    """Mark each feature and relation of an arc that the other tree does not have; return the number of marks.

    Trees are heads and relations by modifier.  New pairs of feature and relation get an entry, for which memory must be
    reserved.  A mark's place (:func:`~colgen.solvers.averaging.settle_marks`) is that of a weight.
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

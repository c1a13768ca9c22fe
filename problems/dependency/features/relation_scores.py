"""The best relation of each arc of a sentence, by weights that no longer change.

What :mod:`colgen.problems.dependency.features.arc_label_scores` finds while weights are learned, in the order of
:mod:`colgen.problems.dependency.features.blocks`; what tokens of the same kinds
(:mod:`colgen.problems.dependency.features.kinds`) say to each other is summed up once.

Time O(n² (t + r)) for n tokens, t templates of two tokens and r relations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.learning.weights import FeatureWeights
from colgen.problems.dependency.features.blocks import SPREAD, Blocks, blocks_of, element_of, find, find_rest
from colgen.problems.dependency.features.kinds import Kinds, no_kinds, number_kinds, number_pairs
from colgen.problems.dependency.features.label_scores import PLACES, Codes, Ints, Singles, Templates, place_of
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, int64

Floats = NDArray[np.float64]
Shorts = NDArray[np.int32]
Bools = NDArray[np.bool_]

DENSE = 0.25
"""A feature that says something of more than this share of the relations has a row."""


class RelationIndex(NamedTuple):
    """Weights of relations, as they are looked up.

    Attributes
    ----------
    templates
        What features join.
    blocks
        Where features are.
    entries
        By number of the feature: the first entry and how many it has; or its row and -1.  Shape (features, 2).
    rows
        Of features that say something of many relations, shape (rows, relations).
    relations, weights
        Of each entry.
    of_kinds
        Which templates look at kinds alone.
    kinds
        Kinds that have been met, and pairs of them.
    sums
        What these templates say, by number of the pair, shape (pairs, relations).
    """

    templates: Templates
    blocks: Blocks
    entries: Shorts
    rows: Singles
    relations: Shorts
    weights: Singles
    of_kinds: Bools
    kinds: Kinds
    sums: Singles


def relation_index(
    templates: Templates,
    sizes: Ints,
    features: FeatureWeights,
    conjunctions: Sequence[int] = (),
    *,
    kinds: int = 1 << 12,
    pairs: int = 1 << 16,
) -> RelationIndex:
    """The index of features of arcs.

    Parameters
    ----------
    sizes
        How many codes each conjunction has.
    features
        The weights of features and relations.
    conjunctions
        Those whose codes make the kind of a token.
    kinds, pairs
        How many kinds of tokens, and how many pairs of them at some place, are remembered at most.
    """
    starts, which, weights, num = features.starts, features.labels, features.weights, features.num_labels
    joined = templates.joined[:, :2]
    blocks, order = blocks_of(features.keys, templates.starts, sizes[joined], templates.joined[:, 2])
    counts = np.diff(starts)[order]
    often = counts > DENSE * num
    row, many = np.cumsum(often) - 1, np.where(often, 0, counts)
    entries = np.stack([np.where(often, row, np.cumsum(many) - many), np.where(often, -1, counts)], axis=1)
    # Weights in the order of the features' numbers: those of a block are near.
    number = np.repeat(np.arange(len(order)), counts)
    own = np.arange(len(number)) + np.repeat(starts[order] - (np.cumsum(counts) - counts), counts)
    in_rows = often[number]
    rows = np.zeros((int(often.sum()), num), dtype=np.float32)
    rows[row[number[in_rows]], which[own[in_rows]]] = weights[own[in_rows]]
    seldom = own[~in_rows]
    return RelationIndex(
        templates,
        blocks,
        entries.astype(np.int32),
        rows,
        which[seldom],
        weights[seldom],
        np.asarray(np.isin(joined, [0, *conjunctions]).all(axis=1)),
        no_kinds(np.array(conjunctions, dtype=np.int64), kinds, pairs),
        np.zeros((pairs, num), dtype=np.float32),
    )


class _Tokens(NamedTuple):
    """What is looked up of a sentence's tokens.

    Attributes
    ----------
    by_head, by_modifier
        What one token says by itself, by token, and whether the head stands after the modifier.
    both
        Templates of two tokens.
    owned
        By these and token, where the token's block begins, its mask and its members; 0 members if there is none.
    others
        By these and token, what the token adds to a key in another one's block; negative if nothing.
    """

    by_head: Singles
    by_modifier: Singles
    both: Ints
    owned: Ints
    others: Ints


@folded
def _add(index: RelationIndex, feature: int, into: Singles) -> None:
    """Add what a feature says, by relation."""
    first, many = index.entries[feature, 0], index.entries[feature, 1]
    if many < 0:
        for y in range(len(into)):
            into[y] += index.rows[first, y]
    for e in range(first, first + many):
        into[index.relations[e]] += index.weights[e]


@njit(cache=True, no_cpython_wrapper=True)
def _sum_kinds(index, codes, h, m, sums):  # type: ignore[no-untyped-def]
    """Write what templates say that look at kinds alone, by relation."""
    sums[:] = 0.0
    joined = index.templates.joined
    for t in range(len(joined)):
        if not index.of_kinds[t]:
            continue
        place = place_of(h, m) if joined[t, 2] == PLACES else np.int64(h > m)
        head, modifier = np.int64(codes[joined[t, 0], h]), np.int64(codes[joined[t, 1], m])
        owner, other = (head, modifier) if index.blocks.owners[t] == 0 else (modifier, head)
        feature = find(index.blocks, t, owner, other, place)
        if feature >= 0:
            _add(index, feature, sums)


@njit(cache=True, no_cpython_wrapper=True, fastmath={"nnan", "nsz", "reassoc"})
def _largest(row):  # type: ignore[no-untyped-def]
    """The largest number, by several at a time."""
    largest = row[0]
    for y in range(1, len(row)):
        largest = max(largest, row[y])
    return largest


@inner
def _look_up(index, codes, tokens):  # type: ignore[no-untyped-def]
    """Look up blocks of all tokens, and what they say by themselves; how many templates look at two tokens."""
    joined, begins, blocks, owned = index.templates.joined, index.blocks.begins, index.blocks.blocks, tokens.owned
    width, met = owned.shape[1], 0
    for t in range(len(joined)):
        if index.of_kinds[t]:
            continue
        owner, many = index.blocks.owners[t], begins[t + 1] - begins[t]
        mine, not_mine = codes[joined[t, owner]], codes[joined[t, 1 - owner]]
        for token in range(width):
            code = mine[token]
            if code >= 0 and code < many:
                for k in range(3):
                    owned[met, token, k] = blocks[begins[t] + code, k]
            else:
                owned[met, token, 2] = 0
            tokens.others[met, token] = np.int64(not_mine[token]) * joined[t, 2]
        if joined[t, 0] != 0 and joined[t, 1] != 0:
            tokens.both[met] = t
            met += 1
            continue
        for token in range(width):
            if owned[met, token, 2] == 0:
                continue
            for side in range(2):
                feature = find_rest(index.blocks.slots, owned[met, token, 0], owned[met, token, 1], side, side * SPREAD)
                if feature >= 0:
                    _add(index, feature, tokens.by_head[token, side] if owner == 0 else tokens.by_modifier[token, side])
    return met


@inner
def _begin_totals(index, codes, tokens, h, sides, pairs, afresh, totals):  # type: ignore[no-untyped-def]
    """Write what kinds say of a head's arcs, and head and modifier by themselves, by modifier and relation."""
    for m in range(1, totals.shape[0]):
        if h == m:
            continue
        side = sides[m]
        number = pairs[m] if pairs[m] >= -1 else -2 - pairs[m]
        sums = afresh if number < 0 else index.sums[number]
        if pairs[m] < 0:
            _sum_kinds(index, codes, h, m, sums)
        for y in range(totals.shape[1]):
            totals[m, y] = sums[y] + tokens.by_head[h, side, y] + tokens.by_modifier[m, side, y]


@inner
def _find_features(index, tokens, met, h, places, asked):  # type: ignore[no-untyped-def]
    """Write the features of a head's arcs by templates of two tokens, and the modifiers; how many these are."""
    joined, owned, others = index.templates.joined, tokens.owned, tokens.others
    count = np.int64(0)
    for k in range(met):
        t = tokens.both[k]
        several = np.int64(joined[t, 2] == PLACES)
        of_head = index.blocks.owners[t] == 0
        if owned[k, h, 2] == 0 if of_head else others[k, h] < 0:
            continue
        for m in range(1, owned.shape[1]):
            mine, other = (h, m) if of_head else (m, h)
            rest = others[k, other] + places[several, m]
            spread = rest * SPREAD
            asked[0, count], asked[1, count], asked[2, count] = rest, owned[k, mine, 0], owned[k, mine, 1]
            asked[3, count] = m
            there = (owned[k, mine, 2] >> element_of(spread)) & np.int64(others[k, other] >= 0)
            count += there & np.int64(m != h)
    found = np.int64(0)
    for k in range(count):
        feature = find_rest(index.blocks.slots, asked[1, k], asked[2, k], asked[0, k], asked[0, k] * SPREAD)
        asked[4, found], asked[3, found] = feature, asked[3, k]
        found += np.int64(feature >= 0)
    return found


@njit(cache=True)
def best_relations(codes: Codes, index: RelationIndex) -> tuple[Floats, Shorts]:
    """What the best relation of each arc scores, and which it is, by head and modifier."""
    width = codes.shape[1] - 2
    templates, num = len(index.templates.joined), index.sums.shape[1]
    best, which = np.zeros((width, width)), np.zeros((width, width), dtype=np.int32)
    tokens = _Tokens(
        np.zeros((width, 2, num), dtype=np.float32),
        np.zeros((width, 2, num), dtype=np.float32),
        np.empty(templates, dtype=np.int64),
        np.zeros((templates, width, 3), dtype=np.int64),
        np.empty((templates, width), dtype=np.int64),
    )
    met = _look_up(index, codes, tokens)
    totals, afresh = np.empty((width, num), dtype=np.float32), np.empty(num, dtype=np.float32)
    places = np.empty((2, width), dtype=np.int64)
    kinds, pairs = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    asked = np.empty((5, met * width), dtype=np.int64)
    number_kinds(index.kinds, codes, kinds)
    for h in range(width):
        for m in range(1, width):
            places[0, m], places[1, m] = np.int64(h > m), place_of(h, m)
        places[1, h] = -1
        number_pairs(index.kinds, kinds[h], kinds, places[1], int64(PLACES), pairs)
        _begin_totals(index, codes, tokens, h, places[0], pairs, afresh, totals)
        for k in range(_find_features(index, tokens, met, h, places, asked)):
            _add(index, asked[4, k], totals[asked[3, k]])
        for m in range(1, width):
            if h == m:
                continue
            largest, arg = _largest(totals[m]), 0
            while arg < num - 1 and totals[m, arg] != largest:
                arg += 1
            best[h, m], which[h, m] = largest, arg
    return best, which

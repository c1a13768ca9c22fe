"""The best relation of each arc of a sentence at fixed weights.

The results are those of :mod:`colgen.problems.dependency.features.arc_label_scores`.  Weights are stored in
:mod:`colgen.problems.dependency.features.blocks`, and weights that depend only on token types are summed once
(:mod:`colgen.problems.dependency.features.kinds`).

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
"""A feature with weights for more than this share of the relations has a dense row."""


class RelationIndex(NamedTuple):
    """Relation weights in look-up order.

    Attributes
    ----------
    entries
        By feature number: first entry and number of entries; or its row and -1.  Shape (features, 2).
    rows
        Dense rows, shape (rows, relations).
    relations, weights
        Relation and weight of each entry.
    of_kinds
        Templates that depend only on kinds.
    kinds, sums
        Known kinds and pairs; cached sums of these templates by pair number, shape (pairs, relations).
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
    """Return the index of arc features.

    ``sizes`` is the number of codes of each conjunction; ``conjunctions`` define the kind of a token.  At most
    ``kinds`` kinds, and ``pairs`` pairs of them at some position, are cached.
    """
    starts, which, weights, num = features.starts, features.labels, features.weights, features.num_labels
    joined = templates.joined[:, :2]
    blocks, order = blocks_of(features.keys, templates.starts, sizes[joined], templates.joined[:, 2])
    counts = np.diff(starts)[order]
    often = counts > DENSE * num
    row, many = np.cumsum(often) - 1, np.where(often, 0, counts)
    entries = np.stack([np.where(often, row, np.cumsum(many) - many), np.where(often, -1, counts)], axis=1)
    # Sort weights by feature number, so that those of a block are close in memory.
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
    """Data looked up per token of a sentence.

    Attributes
    ----------
    by_head, by_modifier
        Weights of one-token templates, by token and side (1: head after modifier).
    both
        Two-token templates.
    owned
        Start, mask and members of the token's block, by template and token; members 0: none.
    others
        The token's contribution to a key in another token's block, by template and token; negative: none.
    """

    by_head: Singles
    by_modifier: Singles
    both: Ints
    owned: Ints
    others: Ints


@folded
def _add(index: RelationIndex, feature: int, into: Singles) -> None:
    first, many = index.entries[feature, 0], index.entries[feature, 1]
    if many < 0:
        for y in range(len(into)):
            into[y] += index.rows[first, y]
    for e in range(first, first + many):
        into[index.relations[e]] += index.weights[e]


@njit(cache=True, no_cpython_wrapper=True)
def _sum_kinds(index, codes, h, m, sums):  # type: ignore[no-untyped-def]
    """Write the sums of an arc's weights that depend only on the kinds of its tokens, by relation."""
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
    largest = row[0]
    for y in range(1, len(row)):
        largest = max(largest, row[y])
    return largest


@inner
def _look_up(index, codes, tokens):  # type: ignore[no-untyped-def]
    """Look up the blocks and one-token weights of all tokens; return the number of two-token templates."""
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
def _begin_totals(index, codes, tokens, h, sides, pairs, scratch, totals):  # type: ignore[no-untyped-def]
    """Write the weights of kinds and of one-token templates for a head's arcs, by modifier and relation."""
    for m in range(1, totals.shape[0]):
        if h == m:
            continue
        side = sides[m]
        number = pairs[m] if pairs[m] >= -1 else -2 - pairs[m]
        sums = scratch if number < 0 else index.sums[number]
        if pairs[m] < 0:
            _sum_kinds(index, codes, h, m, sums)
        for y in range(totals.shape[1]):
            totals[m, y] = sums[y] + tokens.by_head[h, side, y] + tokens.by_modifier[m, side, y]


@inner
def _find_features(index, tokens, met, h, places, queries):  # type: ignore[no-untyped-def]
    """Write the two-token features of a head's arcs, and their modifiers; return the number of features."""
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
            queries[0, count], queries[1, count], queries[2, count] = rest, owned[k, mine, 0], owned[k, mine, 1]
            queries[3, count] = m
            there = (owned[k, mine, 2] >> element_of(spread)) & np.int64(others[k, other] >= 0)
            count += there & np.int64(m != h)
    found = np.int64(0)
    for k in range(count):
        feature = find_rest(index.blocks.slots, queries[1, k], queries[2, k], queries[0, k], queries[0, k] * SPREAD)
        queries[4, found], queries[3, found] = feature, queries[3, k]
        found += np.int64(feature >= 0)
    return found


@njit(cache=True)
def best_relations(codes: Codes, index: RelationIndex) -> tuple[Floats, Shorts]:
    """Return the score and the number of the best relation of each arc, by head and modifier."""
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
    totals, scratch = np.empty((width, num), dtype=np.float32), np.empty(num, dtype=np.float32)
    places = np.empty((2, width), dtype=np.int64)
    kinds, pairs = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    queries = np.empty((5, met * width), dtype=np.int64)
    number_kinds(index.kinds, codes, kinds)
    for h in range(width):
        for m in range(1, width):
            places[0, m], places[1, m] = np.int64(h > m), place_of(h, m)
        places[1, h] = -1
        number_pairs(index.kinds, kinds[h], kinds, places[1], int64(PLACES), pairs)
        _begin_totals(index, codes, tokens, h, places[0], pairs, scratch, totals)
        for k in range(_find_features(index, tokens, met, h, places, queries)):
            _add(index, queries[4, k], totals[queries[3, k]])
        for m in range(1, width):
            if h == m:
                continue
            largest, arg = _largest(totals[m]), 0
            while arg < num - 1 and totals[m, arg] != largest:
                arg += 1
            best[h, m], which[h, m] = largest, arg
    return best, which

"""Scores of all arcs of a sentence: sums of weights of conjunctions of head and modifier.

The weights are those of a table of :mod:`colgen.problems.dependency.features.factored_scores`, reordered by
:mod:`colgen.problems.dependency.features.blocks`.  Weights that depend only on the token types
(:mod:`colgen.problems.dependency.features.kinds`) are summed first and separately, so that scores are bitwise equal
with and without cached sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.blocks import SPREAD, Blocks, blocks_of, element_of, find, find_rest
from colgen.problems.dependency.features.factored_scores import (
    NUM_DISTANCES,
    Codes,
    Floats,
    Ints,
    Singles,
    WeightTable,
    distance_bin,
)
from colgen.problems.dependency.features.kinds import Kinds, no_kinds, number_kinds, number_pairs
from colgen.problems.dependency.features.tags_between import score_all_between
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64

Bools = NDArray[np.bool_]


class ArcIndex(NamedTuple):
    """Arc weights in look-up order.

    Attributes
    ----------
    templates
        Conjunctions of head and modifier, shape (templates, 2).
    weights
        Sum of the weights of direction and distance, by key number and distance bin.
    of_kinds
        Templates that depend only on token types.
    kinds
        Numbers of the known types, and of the known pairs of types with the head on each side.
    sums
        Cached sums of the weights of these templates, by number of the pair and distance bin.
    """

    templates: Ints
    blocks: Blocks
    weights: Singles
    of_kinds: Bools
    kinds: Kinds
    sums: Floats


def arc_index(
    table: WeightTable, conjunctions: Sequence[int] = (), *, kinds: int = 1 << 12, pairs: int = 1 << 16
) -> ArcIndex:
    """Return the index of a table of arcs.

    ``conjunctions`` define the type of a token.  At most ``kinds`` types, and ``pairs`` pairs of types on each side,
    are cached.
    """
    widths = table.strides[:, 1]
    # The stride of the head's code is the modifier's times the number of the modifier's codes.
    seconds = table.strides[:, 0] // widths
    ends = np.append(table.offsets[1:], np.iinfo(np.int64).max)
    firsts = (ends - table.offsets) // table.strides[:, 0]
    blocks, order = blocks_of(table.keys, table.offsets, np.stack([firsts, seconds], axis=1), widths)
    weights = np.empty((len(order), NUM_DISTANCES), dtype=np.float32)
    _add_directions(table.values, order, weights)
    of_kinds = np.asarray(np.isin(table.templates, [0, *conjunctions]).all(axis=1))
    known = no_kinds(np.array(conjunctions, dtype=np.int64), kinds, pairs)
    return ArcIndex(table.templates, blocks, weights, of_kinds, known, np.zeros((pairs, NUM_DISTANCES)))


@njit(cache=True)
def _add_directions(values, order, weights):  # type: ignore[no-untyped-def]
    """Write the sums of direction and distance weights."""
    for number in range(len(order)):
        for distance in range(NUM_DISTANCES):
            weights[number, distance] = values[order[number], 0] + values[order[number], 1 + distance]


@njit(cache=True, no_cpython_wrapper=True)
def _sum_kinds(index, codes, h, m, sums):  # type: ignore[no-untyped-def]
    """Write the sums of an arc's weights that depend only on token types, by distance."""
    blocks = index.blocks
    side = np.int64(h > m)
    sums[:] = 0.0
    for t in range(len(index.templates)):
        if not index.of_kinds[t]:
            continue
        head, modifier = np.int64(codes[index.templates[t, 0], h]), np.int64(codes[index.templates[t, 1], m])
        owner, other = (head, modifier) if blocks.owners[t] == 0 else (modifier, head)
        number = find(blocks, t, owner, other, side)
        if number >= 0:
            for distance in range(NUM_DISTANCES):
                sums[distance] += index.weights[number, distance]


@inner
def _add_alone(index, t, tokens, into):  # type: ignore[no-untyped-def]
    """Add the weights of a one-token template by token, side (1: head after modifier) and distance."""
    blocks, begin = index.blocks.blocks, index.blocks.begins[t]
    many = index.blocks.begins[t + 1] - begin
    for token in range(into.shape[0]):
        code = tokens[token]
        if code < 0 or code >= many or blocks[begin + code, 2] == 0:
            continue
        first, mask = blocks[begin + code, 0], blocks[begin + code, 1]
        for back in range(2):
            number = find_rest(index.blocks.slots, first, mask, back, back * SPREAD)
            if number >= 0:
                for distance in range(NUM_DISTANCES):
                    into[token, back, distance] += index.weights[number, distance]


@inner
def _add_arcs(index, t, heads, modifiers, bins, work, scores):  # type: ignore[no-untyped-def]
    """Add the weights of a two-token template to all arcs; ``scores`` is flattened by head and modifier."""
    width = bins.shape[0]
    blocks, slots, weights = index.blocks.blocks, index.blocks.slots, index.weights
    those, queries, spreads, places = work[0], work[1], work[2], work[3]
    begin, many = index.blocks.begins[t], index.blocks.begins[t + 1] - index.blocks.begins[t]
    owned_by_head = index.blocks.owners[t] == 0
    # The owner is at one end of an arc, each other token at the other end.
    if owned_by_head:
        owners, others, first_owner, first_other, along, across = heads, modifiers, 0, 1, 1, width
    else:
        owners, others, first_owner, first_other, along, across = modifiers, heads, 1, 0, width, 1
    met = 0
    for other in range(first_other, width):
        if others[other] >= 0:
            those[met] = other
            met += 1
    for owner in range(first_owner, width):
        code = owners[owner]
        if code < 0 or code >= many:
            continue
        members = blocks[begin + code, 2]
        if members == 0:
            continue
        first, mask = blocks[begin + code, 0], blocks[begin + code, 1]
        count = np.int64(0)
        for k in range(met):
            other = those[k]
            # The head stands after the modifier.
            side = np.int64((owner > other) == owned_by_head)
            rest = 2 * np.int64(others[other]) + side
            spread = rest * SPREAD
            queries[count], spreads[count], places[count] = rest, spread, other
            count += (members >> element_of(spread)) & np.int64(other != owner)  # a branch would be unpredictable
        for k in range(count):
            number = find_rest(slots, first, mask, queries[k], spreads[k])
            if number >= 0:
                other = places[k]
                scores[owner * across + other * along] += weights[number, bins[abs(owner - other)]]


@njit(cache=True, no_cpython_wrapper=True)
def _add_kinds(index, codes, bins, by_head, by_modifier, work, table):  # type: ignore[no-untyped-def]
    """Add the weights that depend on types, and the weights of head and modifier alone."""
    width = bins.shape[0]
    kinds, pairs, sides, scratch = work[0], work[1], work[2], np.empty(NUM_DISTANCES)
    number_kinds(index.kinds, codes, kinds)
    for h in range(width):
        for m in range(1, width):
            sides[m] = np.int64(h > m) if h != m else np.int64(-1)
        number_pairs(index.kinds, kinds[h], kinds, sides, int64(2), pairs)
        for m in range(1, width):
            if h == m:
                continue
            sums = scratch if pairs[m] == -1 else index.sums[pairs[m] if pairs[m] >= 0 else -2 - pairs[m]]
            if pairs[m] < 0:
                _sum_kinds(index, codes, h, m, sums)
            distance = bins[abs(h - m)]
            table[h, m] += sums[distance] + by_head[h, sides[m], distance] + by_modifier[m, sides[m], distance]


@njit(cache=True)
def score_arcs(codes: Codes, index: ArcIndex, tags: Ints, between: Singles) -> Floats:
    """Return the scores of all arcs of a sentence, shape (n + 1, n + 1), by head and modifier.

    They are -inf in column 0 and on the diagonal.

    Parameters
    ----------
    codes
        Shape (conjunctions, n + 3): the root, the tokens, and two tokens that stand for no sibling.  Conjunction 0 is
        constant.
    tags
        A small code of each token, shape (n + 3,), never -1.
    between
        Weights by tag of the head, of the modifier, side, and tag between them: shape (tags, tags, 2, tags).
    """
    width = codes.shape[1] - 2
    scores = np.zeros(width * width)
    by_head, by_modifier = np.zeros((width, 2, NUM_DISTANCES)), np.zeros((width, 2, NUM_DISTANCES))
    bins = np.empty(width, dtype=np.int64)
    for apart in range(1, width):
        bins[apart] = distance_bin(int64(0), apart)
    work = np.empty((4, width), dtype=np.int64)
    for t in range(len(index.templates)):
        if index.of_kinds[t]:
            continue
        heads, modifiers = codes[index.templates[t, 0]], codes[index.templates[t, 1]]
        if index.templates[t, 1] == 0:  # a one-token template; the other's code is 0
            _add_alone(index, t, heads, by_head)
        elif index.templates[t, 0] == 0:
            _add_alone(index, t, modifiers, by_modifier)
        else:
            _add_arcs(index, t, heads, modifiers, bins, work, scores)
    table = scores.reshape((width, width))
    _add_kinds(index, codes, bins, by_head, by_modifier, work, table)
    score_all_between(tags, between, table)
    return table

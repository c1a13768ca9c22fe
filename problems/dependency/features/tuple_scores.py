"""Scores of tuples of tokens as sums of feature weights, and marks for training.

The features are those of an index (:mod:`colgen.problems.dependency.features.tuple_index`).  Each has a row of weights:
one for the tuple and, in longer rows, one for each bin, such as the distance bin of an arc.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.mixed_radix import Radix
from colgen.problems.dependency.features.tuple_index import Index, below, index_of, num_varied, prefix_node
from colgen.solvers.arrays import as_floats, as_integers
from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]
Bools = NDArray[np.bool_]


class TupleTable(NamedTuple):
    """Features (their keys ascend) with an index and weights of shape (features, weights per feature)."""

    radix: Radix
    keys: Ints
    features: Index
    weights: Singles


def table_of(radix: Radix, keys: Ints, weights: Singles) -> TupleTable:
    """Return a table of features whose keys ascend."""
    keys = as_integers(keys, "keys", shape=("features",))
    weights = as_floats(weights, "weights", shape=(None, None), dtype=np.float32)
    if len(weights) != len(keys):
        raise ValueError(f"expected weights of {len(keys)} features, got {len(weights)}")
    return TupleTable(radix, keys, index_of(radix, keys), weights)


@njit(cache=True)
def score_tuples(codes: Shorts, index: Index, weights: Singles, columns: Ints, relation: Ints, bins: Ints) -> Floats:
    """Return the scores of tuples, shape (tuples,); fast if tuples that share all tokens but the last are adjacent.

    ``codes`` has shape (conjunctions, columns), -1 if unknown; ``columns`` contains the tokens of each tuple, shape
    (tuples, tokens).  ``relation`` and ``bins``, the position of the second weight if there is one, have shape
    (tuples,).
    """
    scores = np.zeros(len(columns))
    wide = weights.shape[1] > 1
    groups, slots = _groups(columns), index.slots
    for t in range(len(index.templates)):
        depth = num_varied(index, t)
        last = index.varied[t, max(depth - 1, 0)] if depth > 0 else 0
        own, base = codes[index.templates[t, last]], index.first_start[t]
        if depth <= 1:
            for k in range(len(columns)):
                code = np.int64(own[columns[k, last]])
                if code >= 0:
                    feature = np.int64(index.first[base + code * index.relations + relation[k]])
                    if feature >= 0:
                        scores[k] += weights[feature, 0]
                        if wide:
                            scores[k] += weights[feature, bins[k]]
            continue
        front, middle = index.varied[t, 0], index.varied[t, 1]
        of_front, of_middle = codes[index.templates[t, front]], codes[index.templates[t, middle]]
        for g in range(len(groups) - 1):
            begin = groups[g]
            if depth <= 3:  # prefix_node inlined: most templates have at most three tokens, and most time is spent here
                code = np.int64(of_front[columns[begin, front]])
                if code < 0:
                    continue
                node = np.int64(index.first[base + code])
                if depth == 3 and node >= 0:
                    code = np.int64(of_middle[columns[begin, middle]])
                    node = below(slots, node, code) if code >= 0 else np.int64(-1)
            else:
                node = prefix_node(index, codes, t, columns[begin], depth)
            if node < 0:
                continue
            for k in range(begin, groups[g + 1]):
                code = np.int64(own[columns[k, last]])
                if code >= 0:
                    feature = below(slots, node, code * index.relations + relation[k])
                    if feature >= 0:
                        scores[k] += weights[feature, 0]
                        if wide:
                            scores[k] += weights[feature, bins[k]]
    return scores


@njit(cache=True, no_cpython_wrapper=True)
def _groups(columns: Ints) -> Ints:
    """Return the starts of groups of tuples that share all tokens but the last, and the number of tuples."""
    count, width = columns.shape
    starts = np.empty(count + 1, np.int64)
    groups = 0
    for k in range(count):
        same = k > 0
        for position in range(width - 1):
            same = same and columns[k, position] == columns[k - 1, position]
        if not same:
            starts[groups] = k
            groups += 1
    starts[groups] = count
    return starts[: groups + 1]


@njit(cache=True)
def mark_tuples(
    codes: Shorts,
    index: Index,
    width: int,
    columns: Ints,
    relation: Ints,
    bins: Ints,
    plus: bool,
    marks: Ints,
    count: int,
) -> int:
    """Write a mark for each weight of tuples, and return the number of marks.

    Marks (:mod:`colgen.solvers.averaging`) refer to places in the flattened weights, ``width`` per feature: the first
    and, if there are more, that of the tuple's bin.
    """
    slots = index.slots
    for t in range(len(index.templates)):
        depth = num_varied(index, t)
        last = index.varied[t, depth - 1] if depth > 0 else 0
        for k in range(len(columns)):
            code = np.int64(codes[index.templates[t, last], columns[k, last]])
            if code < 0:
                continue
            label = code * index.relations + relation[k]
            if depth > 1:
                node = prefix_node(index, codes, t, columns[k], depth)
                feature = below(slots, node, label) if node >= 0 else np.int64(-1)
            else:
                feature = np.int64(index.first[index.first_start[t] + label])
            if feature >= 0:
                marks[count] = 2 * feature * width + np.int64(plus)
                count += 1
                if width > 1:
                    marks[count] = 2 * (feature * width + bins[k]) + np.int64(plus)
                    count += 1
    return count

"""Index of a fixed set of features of tuples, searched code by code, so that most searches end at the first token.

A *conjunction* has a code, a small integer, in each token: ``codes[k, i]`` for conjunction k and token i, -1 if
unknown.  Conjunction 0 is constant with code 0.  A template names a conjunction for each token of a tuple, and a
feature is

    (template, code, ..., code, relation)

where the relation describes the relative position of the tokens.  Keys number all possible features
(:mod:`colgen.problems.dependency.features.mixed_radix`).  An index contains the existing ones, numbered by their rank
among the keys.

It is a forest of prefixes.  The first varying code is looked up in an array.  Each node below has a small hash table
with open addressing: from the next code to the next node, and from the last code with the relation to the feature.
Tuples that share all tokens but the last are looked up consecutively: they share a node, whose table usually fits one
cache line.

Time O(1) per code; building takes O(features).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.mixed_radix import Radix
from colgen.solvers.arrays import as_integers
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, overwrite

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

_NONE = -1

_BITS = 5
"""Bits of a node for the logarithm of its table's length; the others store the table's first slot."""

_MOST_SLOTS = 1 << (31 - _BITS)


class Index(NamedTuple):
    """The existing features.

    Attributes
    ----------
    templates
        Conjunction of each token, shape (templates, tokens).
    varied
        Tokens whose conjunctions are not constant, in order, then -1; shape (templates, tokens).
    first_start, first
        The array of the first code of template t begins at ``first[first_start[t]]``.  It contains nodes by code or, if
        no other code follows, features by code · relations + relation; -1: none.
    slots
        The nodes' tables, shape (slots, 2): label (the next code, or the last code · relations + relation; -1 if empty)
        and node or feature.  A node is encoded as its table's first slot · 32 + the logarithm of the table's length.
    """

    templates: Ints
    varied: Ints
    relations: int
    first_start: Ints
    first: Shorts
    slots: Shorts


def index_of(radix: Radix, keys: Ints) -> Index:
    """Return the index of features; feature f has the key ``keys[f]``, and the keys strictly ascend."""
    keys = as_integers(keys, "keys", shape=("features",))
    if int(np.max(radix.sizes)) * radix.relations >= 2**31:
        raise OverflowError("too many attribute values: a code with a relation does not fit into 31 bits")
    if len(keys) and (keys[0] < 0 or (np.diff(keys) <= 0).any()):
        raise ValueError("keys must be non-negative and strictly ascending")
    end = int(radix.offsets[-1]) + radix.relations * math.prod(radix.sizes[-1].tolist())
    if len(keys) and keys[-1] >= end:
        raise ValueError(f"expected keys below {end}, not {keys[-1]}")
    varied = np.full(radix.templates.shape, _NONE, dtype=np.int64)
    lengths = np.empty(len(radix.templates), dtype=np.int64)
    for t, template in enumerate(radix.templates):
        positions = np.flatnonzero(template)
        varied[t, : len(positions)] = positions
        codes = radix.sizes[t, positions[0]] if len(positions) else 1
        lengths[t] = codes if len(positions) > 1 else codes * radix.relations
    first_start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    first = np.full(first_start[-1], _NONE, dtype=np.int32)
    parents, labels, targets, nodes = _edges(radix, varied, first_start, keys, first)
    children = np.bincount(parents, minlength=nodes)
    bits = np.ceil(np.log2(np.maximum(2.0 * children, 1.0))).astype(np.int64)
    ends = np.cumsum(1 << bits)
    if nodes and ends[-1] >= _MOST_SLOTS:
        raise OverflowError(f"too many features: their tables take {ends[-1]} slots, the maximum is {_MOST_SLOTS}")
    place = ((ends - (1 << bits)) << _BITS) | bits
    slots = np.full((int(ends[-1]) if nodes else 1, 2), _NONE, dtype=np.int32)
    _fill(place, first, slots, parents, labels, targets)
    return Index(radix.templates, varied, radix.relations, first_start, first, slots)


@njit(cache=True)
def _edges(
    radix: Radix, varied: Ints, first_start: Ints, keys: Ints, first: Shorts
) -> tuple[Ints, Shorts, Shorts, int]:
    """Fill ``first``; return parent, label and target of all edges below it, and the number of nodes.

    Node k is encoded as -2 - k, because the position of its table is not known yet.
    """
    width = radix.templates.shape[1]
    most = len(keys) * max(width - 1, 1)
    parents, labels, targets = np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most, np.int32)
    digits, before, path = np.empty(width + 1, np.int64), np.full(width + 1, -1), np.empty(width + 1, np.int64)
    nodes, edges, t, last = 0, 0, 0, -1
    for feature in range(len(keys)):
        while t + 1 < len(radix.offsets) and keys[feature] >= radix.offsets[t + 1]:
            t += 1
        rest = keys[feature] - radix.offsets[t]
        depth = 0
        for k in range(width):
            digit = rest // radix.strides[t, k]
            rest -= digit * radix.strides[t, k]
            if depth < width and varied[t, depth] == k:
                digits[depth] = digit
                depth += 1
        if depth == 0:
            first[first_start[t] + rest] = feature
        elif depth == 1:
            first[first_start[t] + digits[0] * radix.relations + rest] = feature
        else:
            same = 0  # number of codes shared with the previous key
            while t == last and same < depth - 1 and digits[same] == before[same]:
                same += 1
            for level in range(same, depth - 1):
                path[level] = nodes
                if level == 0:
                    first[first_start[t] + digits[0]] = -2 - nodes
                else:
                    parents[edges], labels[edges], targets[edges] = path[level - 1], digits[level], -2 - nodes
                    edges += 1
                nodes += 1
            parents[edges], targets[edges] = path[depth - 2], feature
            labels[edges] = digits[depth - 1] * radix.relations + rest
            edges += 1
        overwrite(before, digits)
        last = t
    return parents[:edges], labels[:edges], targets[:edges], nodes


@njit(cache=True, no_cpython_wrapper=True)
def _slot(label, mask):  # type: ignore[no-untyped-def]
    return ((label * 40503) ^ (label >> 7)) & mask


@njit(cache=True, borrows=True)
def _fill(place: Ints, first: Shorts, slots: Shorts, parents: Ints, labels: Shorts, targets: Shorts) -> None:
    for k in range(len(first)):
        if first[k] < _NONE:
            first[k] = place[-2 - first[k]]
    for edge in range(len(parents)):
        node, label = place[parents[edge]], np.int64(labels[edge])
        start, mask = node >> _BITS, (1 << (node & ((1 << _BITS) - 1))) - 1
        at = _slot(label, mask)
        while slots[start + at, 0] != _NONE:
            at = (at + 1) & mask
        slots[start + at, 0] = label
        slots[start + at, 1] = targets[edge] if targets[edge] >= 0 else place[-2 - targets[edge]]


@inner
def below(slots, node, label):  # type: ignore[no-untyped-def]
    """Return the entry of a node under a label, or -1; for kernels.  No table is full, so the search ends."""
    start, mask = node >> _BITS, (np.int64(1) << (node & ((1 << _BITS) - 1))) - 1
    at = _slot(label, mask)
    held = slots[start + at, 0]
    while held != label:
        if held == _NONE:
            return np.int64(_NONE)
        at = (at + 1) & mask
        held = slots[start + at, 0]
    return np.int64(slots[start + at, 1])


@inner
def prefix_node(index, codes, t, tokens, depth):  # type: ignore[no-untyped-def]
    """Return the node of all varied tokens of a tuple but the last, or -1; for kernels, ``depth`` above 1."""
    code = np.int64(codes[index.templates[t, index.varied[t, 0]], tokens[index.varied[t, 0]]])
    node = np.int64(index.first[index.first_start[t] + code]) if code >= 0 else np.int64(_NONE)
    for level in range(1, depth - 1):
        if node < 0:
            break
        code = np.int64(codes[index.templates[t, index.varied[t, level]], tokens[index.varied[t, level]]])
        node = below(index.slots, node, code) if code >= 0 else np.int64(_NONE)
    return node


@inner
def num_varied(index, t):  # type: ignore[no-untyped-def]
    """Return the number of varying tokens of a template; for kernels."""
    depth = 0
    while depth < index.varied.shape[1] and index.varied[t, depth] >= 0:
        depth += 1
    return depth

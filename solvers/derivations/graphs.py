"""Hypergraphs of segmentations, constituents, projective trees, alignments, chains and matchings, cached by size.

Places of scores refer to the arrays given in each docstring, flattened and in sequence.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import ArrayError, as_integer
from colgen.solvers.derivations.hypergraph import Hypergraph
from colgen.solvers.kernel_cache import njit

Ints = NDArray[np.int64]

_CACHED = 128
"""Hypergraphs kept per kind; sentences of a corpus have fewer lengths."""

_STEPS = 2_500_000
"""Maximum number of edges of a hypergraph of matchings: 18 rows and columns have 2,359,296 edges (80 MB)."""


def segmentations(tokens: int, longest: int, labels: int) -> Hypergraph:
    """Return labelled segmentations; scores of segments (tokens, longest, labels) and transitions (labels, labels).

    The score of a segment is at its first token, its length minus 1, and its label.
    """
    return _segmentations(
        as_integer(tokens, "tokens", low=1), as_integer(longest, "longest", low=1), as_integer(labels, "labels", low=1)
    )


def constituents(words: int, labels: int) -> Hypergraph:
    """Return binary trees over the words with a label per span; scores (words, words, labels), by first and last."""
    return _constituents(as_integer(words, "words", low=1), as_integer(labels, "labels", low=1))


def alignments(rows: int, columns: int) -> Hypergraph:
    """Return monotone paths from (0, 0) to (rows, columns); scores of steps (rows + 1, columns + 1, 3) by their end.

    The steps come from (i - 1, j - 1), (i - 1, j) and (i, j - 1).
    """
    return _alignments(as_integer(rows, "rows", low=0), as_integer(columns, "columns", low=0))


def projective_trees(words: int, single_root: bool = False) -> Hypergraph:
    """Return projective dependency trees; scores of arcs (words + 1, words + 1), by head and modifier, root 0."""
    return _projective_trees(as_integer(words, "words", low=1), bool(single_root))


def monotone_chains(frames: int, states: int) -> Hypergraph:
    """Return chains whose state stays, advances by one or by two; scores (frames, states) and (states + 1, 3) by state.

    They start from the state -1 and end in the state ``states``, which have no frames.
    """
    return _monotone_chains(as_integer(frames, "frames", low=1), as_integer(states, "states", low=1))


def labellings(tokens: int, labels: int, stepwise: bool = False) -> Hypergraph:
    """Return labellings; scores (tokens, labels), transitions (labels, labels), or one per token if stepwise."""
    return _labellings(as_integer(tokens, "tokens", low=1), as_integer(labels, "labels", low=1), bool(stepwise))


def matchings(rows: int, columns: int) -> Hypergraph:
    """Return matchings of each row to a column of its own, at least as many columns as rows; scores (rows, columns).

    A vertex is the set of columns of the first rows, so that the number of edges grows as columns · 2^(columns - 1) for
    as many rows.  An ArrayError is raised above 2,500,000 edges.
    """
    rows = as_integer(rows, "rows", low=1)
    columns = as_integer(columns, "columns", low=rows)
    steps = sum(i * comb(columns, i) for i in range(1, rows + 1)) + comb(columns, rows)
    if steps > _STEPS:
        raise ArrayError(
            f"sums over matchings of {rows} rows and {columns} columns take {steps:,} steps, expected at most "
            f"{_STEPS:,}, such as 18 rows and columns; best, k_best and sparsemap have no such limit"
        )
    return _matchings(rows, columns)


@lru_cache(_CACHED)
def _segmentations(tokens: int, longest: int, labels: int) -> Hypergraph:
    return Hypergraph.from_edges(
        _build_segmentations(tokens, longest, labels), tokens * longest * labels + labels * labels
    )


@lru_cache(_CACHED)
def _constituents(words: int, labels: int) -> Hypergraph:
    return Hypergraph.from_edges(_build_constituents(words, labels), words * words * labels)


@lru_cache(_CACHED)
def _alignments(rows: int, columns: int) -> Hypergraph:
    return Hypergraph.from_edges(_build_alignments(rows, columns), (rows + 1) * (columns + 1) * 3)


@lru_cache(_CACHED)
def _projective_trees(words: int, single_root: bool) -> Hypergraph:
    return Hypergraph.from_edges(_build_projective(words, single_root), (words + 1) ** 2)


@lru_cache(_CACHED)
def _monotone_chains(frames: int, states: int) -> Hypergraph:
    return Hypergraph.from_edges(_build_monotone(frames, states), frames * states + (states + 1) * 3)


@lru_cache(_CACHED)
def _labellings(tokens: int, labels: int, stepwise: bool) -> Hypergraph:
    parts = tokens * labels + (tokens if stepwise else 1) * labels * labels
    return Hypergraph.from_edges(_build_labellings(tokens, labels, stepwise), parts)


@lru_cache(4)  # the others are small
def _matchings(rows: int, columns: int) -> Hypergraph:
    """Vertices by size of the set, then by the number whose bits are its members; the goal joins the last sets."""
    sets, bits, edges, offset = np.zeros(1, np.int64), np.int64(1) << np.arange(columns), [], 0
    for i in range(rows):
        grown = np.unique(sets[:, np.newaxis] | bits)
        grown = grown[np.isin(grown, sets, assume_unique=True, invert=True)]
        member, column = np.nonzero(grown[:, np.newaxis] & bits)
        tails = offset + np.searchsorted(sets, grown[member] ^ bits[column]) if i else np.full(len(member), -1)
        edges.append((np.full(len(grown), i + 1), tails, i * columns + column))
        offset, sets = offset + len(sets) if i else 0, grown
    ends = offset + np.arange(len(sets))
    edges.append((np.array([len(ends)]), ends, np.full(len(ends), -1)))
    counts, first, place = (np.concatenate(column) for column in zip(*edges, strict=True))
    start = np.concatenate([[0], np.cumsum(counts)])
    return Hypergraph.from_edges((start, first, np.full(len(first), -1), place), rows * columns)


@njit(cache=True, no_cpython_wrapper=True)
def _empty(vertices: int, edges: int) -> tuple[Ints, Ints, Ints, Ints]:
    return (
        np.zeros(vertices + 1, np.int64),
        np.full(edges, -1, np.int64),
        np.full(edges, -1, np.int64),
        np.full(edges, -1, np.int64),
    )


@njit(cache=True)
def _build_segmentations(tokens: int, longest: int, labels: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Vertex (2 i + 1) labels + y begins label y at token i; (2 i) labels + y ends it before i, unused for i = 0."""
    segments = 0
    for i in range(1, tokens + 1):
        segments += min(i, longest)
    vertices = (2 * tokens + 1) * labels + 1
    start, first, second, place = _empty(vertices, labels + segments * labels + (tokens - 1) * labels**2 + labels)
    e, v, steps = 0, labels, tokens * longest * labels
    for i in range(tokens + 1):
        for y in range(labels if i > 0 else 0):
            for d in range(min(i, longest)):
                first[e] = (2 * (i - d - 1) + 1) * labels + y
                place[e] = ((i - d - 1) * longest + d) * labels + y
                e += 1
            v += 1
            start[v] = e
        for y in range(labels if i < tokens else 0):
            for x in range(labels if i > 0 else 1):
                if i > 0:
                    first[e], place[e] = 2 * i * labels + x, steps + x * labels + y
                e += 1
            v += 1
            start[v] = e
    for y in range(labels):
        first[e] = 2 * tokens * labels + y
        e += 1
    start[v + 1] = e
    return start, first, second, place


@njit(cache=True)
def _build_constituents(words: int, labels: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Spans by descending first and ascending last word, so that the left parts of a span follow each other.

    With one label a span has an edge per split.  Otherwise a vertex without score has them, and the span one per label.
    """
    splits, spans = words * (words - 1) * (words + 1) // 6, words * (words + 1) // 2
    if labels == 1:
        start, first, second, place = _empty(spans, splits + words)
    else:
        start, first, second, place = _empty(2 * spans - words, splits + spans * labels)
    span = np.empty((words, words), np.int64)
    e, v = 0, 0
    for i in range(words - 1, -1, -1):
        for j in range(i, words):
            own = (i * words + j) * labels
            for k in range(i, j):
                first[e], second[e] = span[i, k], span[k + 1, j]
                if labels == 1:
                    place[e] = own
                e += 1
            if labels > 1 or i == j:
                if j > i:
                    v += 1
                    start[v] = e
                for y in range(labels):
                    first[e] = v - 1 if j > i else -1
                    place[e] = own + y
                    e += 1
            span[i, j] = v
            v += 1
            start[v] = e
    return start, first, second, place


@njit(cache=True)
def _build_alignments(rows: int, columns: int) -> tuple[Ints, Ints, Ints, Ints]:
    start, first, second, place = _empty((rows + 1) * (columns + 1), 1 + 3 * rows * columns + rows + columns)
    e, width = 1, columns + 1
    start[1] = e
    for v in range(1, (rows + 1) * width):
        i, j = v // width, v % width
        if i > 0 and j > 0:
            first[e], place[e] = v - width - 1, 3 * v
            e += 1
        if i > 0:
            first[e], place[e] = v - width, 3 * v + 1
            e += 1
        if j > 0:
            first[e], place[e] = v - 1, 3 * v + 2
            e += 1
        start[v + 1] = e
    return start, first, second, place


@njit(cache=True)
def _build_projective(words: int, single_root: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """The items of Eisner's algorithm, where both directions of an arc share the sum over splits.

    ``right`` and ``left`` are complete items with the head at the first and at the last position, ``arc`` incomplete
    ones with the arc from the first to the last position (0) and back (1).
    """
    size = words + 1
    spans, splits = size * (size + 1) // 2, (size - 1) * size * (size + 1) // 6
    start, first, second, place = _empty(5 * spans + 1, 3 * splits + 4 * spans + words)
    right, left = np.full((size, size), -1), np.full((size, size), -1)
    arc = np.full((2, size, size), -1)
    e, v = 0, 0
    for i in range(words, 0 if single_root else -1, -1):
        right[i, i], left[i, i] = v, v + 1
        start[v + 1], start[v + 2] = e + 1, e + 2
        e, v = e + 2, v + 2
        for j in range(i + 1, size):
            for k in range(i, j):
                first[e], second[e] = right[i, k], left[k + 1, j]
                e += 1
            split, v = v, v + 1
            start[v] = e
            for way in range(2 if i > 0 else 1):
                first[e], place[e] = split, i * size + j if way == 0 else j * size + i
                arc[way, i, j] = v
                e, v = e + 1, v + 1
                start[v] = e
            for k in range(i + 1, j + 1):
                first[e], second[e] = arc[0, i, k], right[k, j]
                e += 1
            right[i, j], v = v, v + 1
            start[v] = e
            if i > 0:
                for k in range(i, j):
                    first[e], second[e] = left[i, k], arc[1, k, j]
                    e += 1
                left[i, j], v = v, v + 1
                start[v] = e
    if single_root:
        for m in range(1, size):
            first[e], second[e], place[e] = left[1, m], right[m, words], m
            e += 1
        v += 1
        start[v] = e
    return start[: v + 1].copy(), first[:e].copy(), second[:e].copy(), place[:e].copy()


@njit(cache=True)
def _build_monotone(frames: int, states: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Vertex 2 t states + s enters state s before frame t; states later, the frame is scored."""
    moves = frames * states
    start, first, second, place = _empty(2 * frames * states + 1, 4 * frames * states + 2)
    e, v = 0, 0
    for t in range(frames):
        for s in range(states):
            for step in range(3):
                if t == 0 and step == s + 1:
                    place[e] = moves + 3 * s + step
                    e += 1
                elif t > 0 and s >= step:
                    first[e], place[e] = (2 * t - 1) * states + s - step, moves + 3 * s + step
                    e += 1
            v += 1
            start[v] = e
        for s in range(states):
            first[e], place[e] = 2 * t * states + s, t * states + s
            e += 1
            v += 1
            start[v] = e
    for step in range(1, min(states, 2) + 1):
        first[e], place[e] = (2 * frames - 1) * states + states - step, moves + 3 * states + step
        e += 1
    start[v + 1] = e
    return start, first[:e].copy(), second[:e].copy(), place[:e].copy()


@njit(cache=True)
def _build_labellings(tokens: int, labels: int, stepwise: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """Vertex 2 i labels + y enters label y before token i; labels later, the token is scored."""
    start, first, second, place = _empty(2 * tokens * labels + 1, 3 * labels + (tokens - 1) * labels * (labels + 1))
    e, v = 0, 0
    for i in range(tokens):
        steps = tokens * labels + (labels * labels * (i - 1) if stepwise else 0)
        for y in range(labels):
            for x in range(labels if i > 0 else 1):
                if i > 0:
                    first[e], place[e] = (2 * i - 1) * labels + x, steps + x * labels + y
                e += 1
            v += 1
            start[v] = e
        for y in range(labels):
            first[e], place[e] = 2 * i * labels + y, i * labels + y
            e += 1
            v += 1
            start[v] = e
    for y in range(labels):
        first[e] = (2 * tokens - 1) * labels + y
        e += 1
    start[v + 1] = e
    return start, first, second, place

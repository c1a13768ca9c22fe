"""Memory layout of labels, and the data of a search in one direction.

A label is a row of 64-bit words: cost, number, values of the resources, user components, remembered vertices (bit
sets), and states of the rank-1 cuts.  One kernel serves both directions.  The backward search runs in the reversed
network.  A resource's value is minus the latest value at which the rest of the path is feasible.  Limits are negated,
consumption is unchanged.  A label at i joins one at j over the arc (i, j) if value + consumption + value' ≤ 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.paths.labelling.boxes import BoxFields
from colgen.solvers.paths.labelling.rank_one import Fields

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

COST, NUMBER, VALUES = 0, 1, 2
"""Columns of a label's row; resource values start at the last."""

EDGE = 1e-9
"""Added before rounding down to buckets, for integers on their edges."""

BUCKET, PHASE, VERTEX, SETTLED, EXTENDED, FREE, MADE, POOLED, WANTED = range(9)
"""Entries of ``Labels.at``, the progress of a search."""

DONE, PAUSED, MORE_LABELS, MORE_OPEN, MORE_POOL = range(5)
"""Why a search returns: finished, effort used up, or more memory needed."""


class Rows(NamedTuple):
    """Rows of labels: two views of the same memory."""

    words: Words
    numbers: Floats


class Rule(NamedTuple):
    """The dominance rule.

    * ``compared``: number of resources to compare.
    * ``custom``: start of the user's components, 0 if they are not compared.
    * ``memory``, ``memory_words``: start and length of the memory.
    * ``words``: number of words that must be a subset of the other's (equal for ``same_set``).
    * ``states``, ``state_words``: start and number of the words with cut states.
    * ``plain``: whether only one resource and one word are compared.
    """

    compared: int
    custom: int
    memory: int
    memory_words: int
    words: int
    same_set: bool
    states: int
    state_words: int
    plain: bool


class Side(NamedTuple):
    """A direction of a search, as arrays for the kernels.

    * ``origin``: the source, or the sink for the backward direction.
    * ``first``, ``end``, ``heads``, ``costs``: the arcs by tail, in the reversed network if backward.  Labels at i are
      extended over ``first[i]:end[i]``; arcs to the other direction's origin follow.
    * ``numbers``: their numbers in the network.
    * ``consumption``, ``lower``, ``upper``, ``start``: resource data by arc and vertex.
    * ``slack``: how far the sum of two joined labels may exceed zero: 0 for integer data, else a rounding error.
    * ``threshold``, ``rate``: penalties of resources by vertex, without rows if there are none.
    * ``critical``: the nondecreasing resource; labels are settled in buckets of its values.
    * ``rule``: the dominance rule.
    * ``lowest``, ``width``, ``buckets``: bucket k starts at ``lowest + k width``.
    * ``opens``: number of words of open requests, the first of the memory.
    * ``ignored``: bits of the memory that dominance ignores.
    * ``own``: bit set of each vertex.
    * ``common``: bit set of the vertices that both ends of an arc remember.
    * ``returning``: bit set of an arc's head, empty unless the tail remembers it.
    * ``come_from``: the previous label's word from which each word of the memory derives.
    * ``partner``, ``joint``: the joined label's word to compare with, and for each arc a mask of the bits that the two
      must not share.
    * ``unreachable``: remembered vertices that no path can still reach, by bucket and vertex; no buckets: not computed.
    * ``late``: the same for open requests that no path can still close.
    * ``cuts``, ``boxes``: rank-1 cuts and boxes.
    * ``bounds``: lower bounds on completions by bucket and vertex, without buckets if unknown.
    * ``cutoff``: paths that cannot cost less are dropped.
    * ``custom``, ``custom_start``: number of user components, and their start values.
    * ``arc_data``, ``vertex_data``: data of the user functions.
    """

    origin: int
    first: Ints
    end: Ints
    heads: Ints
    costs: Floats
    numbers: Ints
    consumption: Floats
    lower: Floats
    upper: Floats
    start: Floats
    slack: Floats
    threshold: Floats
    rate: Floats
    critical: int
    rule: Rule
    lowest: float
    width: float
    buckets: int
    opens: int
    ignored: Words
    own: Words
    common: Words
    returning: Words
    come_from: Ints
    partner: Ints
    joint: Words
    unreachable: NDArray[np.uint64]
    late: NDArray[np.uint64]
    cuts: Fields
    boxes: BoxFields
    bounds: Floats
    cutoff: float
    custom: int
    order: int
    arc_data: Floats
    vertex_data: Floats
    custom_start: Floats


class Labels(NamedTuple):
    """The labels of a search.  Arrays are replaced by longer ones as needed.

    * ``at``: progress of the search.
    * ``words``, ``numbers``: the settled labels: two views of the same rows.
    * ``previous``, ``arcs``: predecessor of each label and the arc to it; -1 at the origin.
    * ``vertices``: the last vertex of each label.
    * ``open_words``, ``open_numbers``, ``open_previous``, ``open_arcs``, ``open_next``: labels that are not settled
      yet, in linked lists by bucket and vertex.
    * ``chains``: first label of each list; -1 if empty.
    * ``slots``, ``next_in_slot``: hash table of the settled labels by memory: the last label of each slot, and the
      previous one in its slot, or -1.  ``same_set`` uses it instead of the pool.
    * ``pool_words``, ``pool_numbers``: copies of the settled labels, grouped by vertex and sorted by cost.
    * ``pool_first``, ``pool_size``, ``pool_room``: start, number and capacity of each vertex's labels in the pool.
    * ``together``, ``order``, ``costs``: buffers for labels that are settled together.
    * ``no_vertices``, ``ahead``: bit sets that dominance ignores, of any label and of a bucket and vertex.
    """

    at: Ints
    words: Words
    numbers: Floats
    previous: NDArray[np.int32]
    arcs: NDArray[np.int32]
    vertices: NDArray[np.int32]
    open_words: Words
    open_numbers: Floats
    open_previous: NDArray[np.int32]
    open_arcs: NDArray[np.int32]
    open_next: NDArray[np.int32]
    chains: NDArray[np.int32]
    slots: NDArray[np.int32]
    next_in_slot: NDArray[np.int32]
    pool_words: Words
    pool_numbers: Floats
    pool_first: Ints
    pool_size: Ints
    pool_room: Ints
    together: Ints
    order: Ints
    costs: Floats
    no_vertices: Words
    ahead: Words


SLOTS = 1 << 18
"""Size of the hash table, a power of two."""

TOGETHER = 8192
"""Maximum number of labels of a vertex that are settled together."""


def columns(side: Side) -> int:
    """Return the length of a label's row."""
    return side.rule.states + int(side.cuts.keep.shape[1])


def start_labels(side: Side, labels: int) -> Labels:
    """Return the empty path as the only label, with memory for ``labels``."""
    width, n = columns(side), len(side.own)
    words, waiting, pool = (np.empty((labels, width), dtype=np.uint64) for _ in range(3))
    previous, arcs, vertices, next_in_slot, before, over, then = (np.empty(labels, dtype=np.int32) for _ in range(7))
    waiting[0], before[0], over[0], then[0] = 0, -1, -1, -1  # other entries are written before they are read
    at = np.zeros(9, dtype=np.int64)
    at[FREE] = -1
    held = Labels(
        at=at,
        words=words,
        numbers=words.view(np.float64),
        previous=previous,
        arcs=arcs,
        vertices=vertices,
        open_words=waiting,
        open_numbers=waiting.view(np.float64),
        open_previous=before,
        open_arcs=over,
        open_next=then,
        chains=np.full((side.buckets, n), -1, dtype=np.int32),
        slots=np.full(SLOTS if side.rule.same_set else 1, -1, dtype=np.int32),
        next_in_slot=next_in_slot,
        pool_words=pool,
        pool_numbers=pool.view(np.float64),
        pool_first=np.zeros(n, dtype=np.int64),
        pool_size=np.zeros(n, dtype=np.int64),
        pool_room=np.zeros(n, dtype=np.int64),
        together=np.empty(TOGETHER, dtype=np.int64),
        order=np.empty(TOGETHER, dtype=np.int64),
        costs=np.empty(TOGETHER),
        no_vertices=side.ignored.copy(),
        ahead=side.ignored.copy(),
    )
    resources = side.consumption.shape[1]
    held.open_numbers[0, VALUES : VALUES + resources] = side.start
    held.open_numbers[0, VALUES + resources : VALUES + resources + side.custom] = side.custom_start
    first_word = VALUES + resources + side.custom
    held.open_words[0, first_word : first_word + side.own.shape[1]] = side.own[side.origin]
    at[MADE] = 1
    bucket = 0
    if side.order < 0:
        bucket = int(np.clip((side.start[side.critical] - side.lowest) / side.width + EDGE, 0, side.buckets - 1))
    else:
        bucket = int(np.clip((side.custom_start[side.order] - side.lowest) / side.width + EDGE, 0, side.buckets - 1))
    held.chains[bucket, side.origin] = 0
    return held


def enlarge(held: Labels, which: int, wanted: int) -> Labels:
    """Return labels with more memory for settled ones (0), open ones (1), or the pool (2)."""
    names = (
        ("words", "previous", "arcs", "vertices", "next_in_slot"),
        ("open_words", "open_previous", "open_arcs", "open_next"),
        ("pool_words",),
    )[which]
    longer: dict[str, Any] = {}
    for name in names:
        array = getattr(held, name)
        size = max(wanted, 2 * len(array))
        longer[name] = np.empty((size, *array.shape[1:]), dtype=array.dtype)
        longer[name][: len(array)] = array
    first = names[0]
    longer[first.replace("words", "numbers")] = longer[first].view(np.float64)
    return held._replace(**longer)

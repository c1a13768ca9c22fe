"""How labels lie in memory, and what a search in one direction knows and holds.

A label is a row of words of 64 bits: its cost, its number, the values of the resources, the user's own components, the
vertices that it remembers (sets of bits), and the states of the rank-1 cuts.  One search serves both directions: that
backwards is the search in the reversed network, where a resource's value is minus the latest one at which the rest of
the path can still be travelled.  Limits become their negatives, consumption stays, and a label at i is joined with one
at j, over the arc (i, j), if value + consumption + value' ≤ 0.
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
"""Columns of a label's row; the values of the resources begin at the last."""

EDGE = 1e-9
"""Added to quotients before they are rounded down to buckets, so that whole numbers on the edge of one lie in it."""

BUCKET, PHASE, VERTEX, SETTLED, EXTENDED, FREE, MADE, POOLED, WANTED = range(9)
"""Entries of ``Labels.at``: how far a search has come."""

DONE, PAUSED, MORE_LABELS, MORE_OPEN, MORE_POOL = range(5)
"""Why a search comes back: its buckets are done, its effort is used up, or it needs room for more labels."""


class Rows(NamedTuple):
    """Rows of labels: two views of the same memory."""

    words: Words
    numbers: Floats


class Rule(NamedTuple):
    """What dominance looks at.

    Attributes
    ----------
    compared
        The first resources, so many.
    custom
        Whether the user's components count, and where they begin.
    memory, memory_words, words
        Where the memory begins, its words, and so many of them, which must be contained in the other's; or equal, for
        ``same_set``.
    states, state_words
        Where the states of cuts begin, and so many words of them.
    plain
        One resource and one word, and nothing else.
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
    """A direction of a search: arrays for the kernels.

    Attributes
    ----------
    origin
        Where its paths begin: the source, or the sink.
    first, end, heads, costs, numbers
        The arcs by tail (of the reversed network in the direction backwards), and their numbers in the network;
        labels at vertex i are extended over ``first[i]:end[i]``; behind are arcs to where the other direction begins.
    consumption, lower, upper, start, slack
        Of the resources, by arc and vertex; and by how much two labels that are joined may exceed zero together:
        nothing where all data are whole, else what rounding may have added.
    critical
        The resource that never decreases: labels are settled in buckets of its values.
    rule
        What dominance looks at.
    lowest, width, buckets
        Bucket k holds the values of the critical resource from ``lowest + k width`` on.
    own, common, returning
        Sets of bits: of a vertex; of the vertices that both ends of an arc remember; and of an arc's head, empty if
        the tail does not remember it.
    come_from, partner, joint
        By word of what labels remember: the word of the label before that it comes from, and that of the label which it
        is joined with; and what two labels that are joined over an arc must not both remember.
    unreachable
        By bucket and vertex the remembered vertices that no path can reach any more; no buckets: not computed.
    cuts
        The rank-1 cuts.
    boxes
        Charges for whom routes visit and whom they do not.
    bounds, cutoff
        By bucket and vertex: no completion of a path there costs less; paths that cannot become cheaper than the cutoff
        are dropped.  No buckets: nothing is known.
    custom, arc_data, vertex_data, custom_start
        The number of the user's components, and the rows that his functions see.
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
    critical: int
    rule: Rule
    lowest: float
    width: float
    buckets: int
    own: Words
    common: Words
    returning: Words
    come_from: Ints
    partner: Ints
    joint: Words
    unreachable: NDArray[np.uint64]
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
    """What a search holds: arrays, the longer ones replaced by longer ones as it goes on.

    Attributes
    ----------
    at
        How far it has come.
    words, numbers
        The settled labels: two views of the same rows, as words and as floats.
    previous, arcs
        The label that each extends, and over which arc of the network; -1 at the origin.
    vertices
        Where each ends.
    open_words, open_numbers, open_previous, open_arcs, open_next
        Labels that wait for being settled, in chains by bucket and vertex.
    chains
        First of each chain, by bucket and vertex; -1 where it is empty.
    slots, alike
        The settled labels by what they remember: the last of each slot, and for each the one before it in its slot; -1
        behind the first.  Kept for ``same_set`` alone, and then instead of the pool.
    pool_words, pool_numbers
        The settled labels again, those of a vertex together and by increasing cost.
    pool_first, pool_size, pool_room
        Where the labels of each vertex are in the pool, how many they are, and how many there is room for.
    together, order, costs, nobody, ahead
        Room for the labels that are settled together, and for two sets of bits, the first of them empty.
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
    alike: NDArray[np.int32]
    pool_words: Words
    pool_numbers: Floats
    pool_first: Ints
    pool_size: Ints
    pool_room: Ints
    together: Ints
    order: Ints
    costs: Floats
    nobody: Words
    ahead: Words


SLOTS = 1 << 18
"""For labels that are compared with those of the same memory alone; a power of two."""

TOGETHER = 8192
"""Labels of a vertex that are settled together, at most."""


def columns(side: Side) -> int:
    """Length of a label's row."""
    return side.rule.states + int(side.cuts.keep.shape[1])


def begun(side: Side, labels: int) -> Labels:
    """The empty path alone, waiting for being settled, with room for so many labels at first."""
    width, n = columns(side), len(side.own)
    words, waiting, pool = (np.empty((labels, width), dtype=np.uint64) for _ in range(3))
    previous, arcs, vertices, alike, before, over, then = (np.empty(labels, dtype=np.int32) for _ in range(7))
    waiting[0], before[0], over[0], then[0] = 0, -1, -1, -1  # all else is written before it is read
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
        alike=alike,
        pool_words=pool,
        pool_numbers=pool.view(np.float64),
        pool_first=np.zeros(n, dtype=np.int64),
        pool_size=np.zeros(n, dtype=np.int64),
        pool_room=np.zeros(n, dtype=np.int64),
        together=np.empty(TOGETHER, dtype=np.int64),
        order=np.empty(TOGETHER, dtype=np.int64),
        costs=np.empty(TOGETHER),
        nobody=np.zeros(side.rule.memory_words, dtype=np.uint64),
        ahead=np.zeros(side.rule.memory_words, dtype=np.uint64),
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


def grown(held: Labels, which: int, wanted: int) -> Labels:
    """The same with room for more: of settled labels (0), open ones (1), or in the pool (2)."""
    names = (
        ("words", "previous", "arcs", "vertices", "alike"),
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

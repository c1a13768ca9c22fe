"""Arc weights during training: :mod:`colgen.problems.dependency.features.factored_scores` in less memory.

Three of four features only occur at one distance.  Their weights of direction and distance are one number with the
combined change; a feature gets a row of weights when it occurs at a second distance.  Features are stored in order of
occurrence, so that arrays grow at their ends; the sums for averaging are stored next to the weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.problems.dependency.features.factored_scores import (
    NUM_DISTANCES,
    ROW,
    Codes,
    Floats,
    Ints,
    WeightTable,
    distance_bin,
)
from colgen.problems.dependency.features.hashed_keys import hash_of
from colgen.problems.dependency.features.tags_between import score_all_between
from colgen.solvers.averaging import settle_marks
from colgen.solvers.kernel_cache import njit

Singles = NDArray[np.float32]
Shorts = NDArray[np.int32]

_FREE = np.int32(-1)

_GROWTH = 1.05
"""Growth factor of arrays; small, because unused space costs memory too."""


def owned(values: ArrayLike, dtype: type, *shape: int) -> NDArray[Any]:
    """Return a copy that owns its memory and can be resized."""
    array: NDArray[Any] = np.empty(shape, dtype=dtype)
    array[:] = np.reshape(values, shape)
    return array


def lengthen(needed: int, *arrays: NDArray[Any], behind: int = 0) -> None:
    """Resize arrays to at least ``needed`` rows after the first ``behind`` rows."""
    for array in arrays:
        array.resize((behind + int(_GROWTH * needed), *array.shape[1:]), refcheck=False)


def least_kept(sizes: NDArray[Any], cutoff: float) -> float:
    """Return the threshold for averaged weights: the share ``cutoff`` of their 99th percentile."""
    return cutoff * float(np.quantile(sizes, 0.99)) if len(sizes) else 0.0


class Features(NamedTuple):
    """Features and their weights, in kernel form.

    Attributes
    ----------
    counts
        Number of features, and of features with rows; shape (2,).
    slots
        A hash table of feature numbers, length a power of two; -1 where empty.
    keys
        Key of each feature.
    bins
        The only distance bin of the feature, or its row as -1 - row.
    alone
        Weight and averaging sum of a feature with one distance, shape (features, 2).
    rows
        Weights of the direction and of each distance, and their sums; shape (rows, 2, :data:`ROW`).
    """

    counts: Ints
    slots: Shorts
    keys: Ints
    bins: Shorts
    alone: Singles
    rows: Singles


@njit(cache=True, no_cpython_wrapper=True)
def _slot(slots, keys, key):  # type: ignore[no-untyped-def]
    """Return the slot of a key, or the empty slot where it belongs."""
    mask = slots.shape[0] - 1
    slot = hash_of(key, mask)
    while slots[slot] >= 0 and keys[slots[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True)
def _fill(slots: Shorts, keys: Ints, count: int) -> None:
    for k in range(count):
        slots[_slot(slots, keys, keys[k])] = k


@njit(cache=True)
def score_growing(codes: Codes, table: WeightTable, features: Features, tags: Ints, between: Singles) -> Floats:
    """Return the result of :func:`~colgen.problems.dependency.features.arc_scores.score_arcs` at current weights."""
    n = codes.shape[1] - 3
    scores = np.zeros((n + 1, n + 1))
    slots, keys, bins, alone, rows = features.slots, features.keys, features.bins, features.alone, features.rows
    for t in range(table.templates.shape[0]):
        heads, modifiers = codes[table.templates[t, 0]], codes[table.templates[t, 1]]
        for h in range(n + 1):
            if heads[h] < 0:
                continue
            first = table.offsets[t] + heads[h] * table.strides[t, 0]
            for m in range(1, n + 1):
                if modifiers[m] < 0 or h == m:
                    continue
                key = first + modifiers[m] * table.strides[t, 1] + (h > m)
                feature = slots[_slot(slots, keys, key)]
                if feature < 0:
                    continue
                distance, own = distance_bin(h, m), bins[feature]
                if own < 0:
                    scores[h, m] += rows[-1 - own, 0, 0] + rows[-1 - own, 0, 1 + distance]
                elif own == distance:
                    scores[h, m] += alone[feature, 0] + alone[feature, 0]
                else:
                    scores[h, m] += alone[feature, 0]
    score_all_between(tags, between, scores)
    return scores


@njit(cache=True)
def mark_growing(
    codes: Codes, table: WeightTable, features: Features, heads: Ints, other: Ints, plus: bool, marks: Ints, count: int
) -> int:
    """Mark each feature of the arcs of ``heads`` that ``other`` does not have; return the number of marks.

    New features get a number, for which memory must be reserved.  The place of a mark
    (:func:`~colgen.solvers.averaging.settle_marks`) is the feature times :data:`NUM_DISTANCES`, plus the distance.
    """
    slots, keys, bins, counts = features.slots, features.keys, features.bins, features.counts
    for m in range(1, heads.shape[0]):
        h = heads[m]
        if h == other[m]:
            continue
        distance = distance_bin(h, m)
        for t in range(table.templates.shape[0]):
            first, second = codes[table.templates[t, 0], h], codes[table.templates[t, 1], m]
            if first >= 0 and second >= 0:
                key = table.offsets[t] + first * table.strides[t, 0] + second * table.strides[t, 1] + (h > m)
                slot = _slot(slots, keys, key)
                if slots[slot] < 0:
                    feature = counts[0]
                    slots[slot], keys[feature], bins[feature] = feature, key, distance
                    counts[0] += 1
                marks[count] = 2 * (NUM_DISTANCES * np.int64(slots[slot]) + distance) + np.int64(plus)
                count += 1
    return count


@njit(cache=True)
def norm_of_arcs(marks: Ints, kept: int) -> float:
    """Return the squared norm of a step of length 1, over direction and distance weights."""
    norm, direction, before = 0.0, 0.0, np.int64(-1)
    for k in range(kept):
        feature, total = marks[2 * k] // NUM_DISTANCES, float(marks[2 * k + 1])
        if feature != before:
            norm += direction * direction
            direction, before = 0.0, feature
        direction += total
        norm += total * total
    return norm + direction * direction


@njit(cache=True)
def step_growing(features: Features, marks: Ints, kept: int, step: float, number: float) -> None:
    """Add marks times a step to the weights, and the same times the step number to the sums."""
    bins, alone, rows, counts = features.bins, features.alone, features.rows, features.counts
    k = 0
    while k < kept:
        feature, last = marks[2 * k] // NUM_DISTANCES, k
        direction = 0.0
        while last < kept and marks[2 * last] // NUM_DISTANCES == feature:
            direction += float(marks[2 * last + 1])
            last += 1
        if bins[feature] >= 0 and (last > k + 1 or marks[2 * k] % NUM_DISTANCES != bins[feature]):
            row = counts[1]
            counts[1] += 1
            for side in range(2):
                rows[row, side, :] = 0.0
                rows[row, side, 0] = rows[row, side, 1 + bins[feature]] = alone[feature, side]
            bins[feature] = -1 - row
        change = step * direction
        if bins[feature] >= 0:
            alone[feature, 0] += change
            alone[feature, 1] += number * change
        else:
            row = -1 - bins[feature]
            rows[row, 0, 0] += change
            rows[row, 1, 0] += number * change
            for place in range(k, last):
                change, column = step * marks[2 * place + 1], 1 + marks[2 * place] % NUM_DISTANCES
                rows[row, 0, column] += change
                rows[row, 1, column] += number * change
        k = last


@njit(cache=True)
def _largest(features: Features, steps: float) -> Singles:
    """Return the largest absolute averaged weight of each feature."""
    count = features.counts[0]
    found = np.zeros(count, dtype=np.float32)
    for feature in range(count):
        own = features.bins[feature]
        if own >= 0:
            found[feature] = abs(np.float32(features.alone[feature, 0] - features.alone[feature, 1] / steps))
        else:
            for column in range(ROW):
                both = features.rows[-1 - own, :, column]
                found[feature] = max(found[feature], abs(np.float32(both[0] - both[1] / steps)))
    return found


@njit(cache=True)
def _write_averages(features: Features, those: Ints, steps: float, rows: Singles) -> None:
    """Write the averaged weights of some features, one row each."""
    for k in range(len(those)):
        own, row = features.bins[those[k]], rows[k]
        if own >= 0:
            both = features.alone[those[k]]
            row[0] = row[1 + own] = both[0] - both[1] / steps
        else:
            for column in range(ROW):
                row[column] = features.rows[-1 - own, 0, column] - features.rows[-1 - own, 1, column] / steps


class GrowingArcs:
    """Arc weights during training; ``table`` is an empty table with the templates."""

    KEPT = "keys", "bins", "alone", "rows"
    """Names of the arrays in :meth:`state`."""

    features: Features

    def __init__(self, table: WeightTable) -> None:
        self.table = table
        none = np.zeros(0, dtype=np.int64)
        self.restore(dict.fromkeys(self.KEPT, none))
        self._marks = np.empty(0, dtype=np.int64)
        self._kept = 0

    def scores(self, codes: Codes, tags: Ints, between: Singles) -> Floats:
        return score_growing(codes, self.table, self.features, tags, between)

    def mark(self, codes: Codes, right: Ints, found: Ints) -> float:
        """Mark the features in which the gold and the predicted tree differ; return their squared norm."""
        most = 2 * (len(right) - 1) * len(self.table.templates)
        if len(self._marks) < 2 * most:
            self._marks = np.empty(3 * most, dtype=np.int64)
        self._reserve(most)
        count = mark_growing(codes, self.table, self.features, right, found, True, self._marks, 0)
        count = mark_growing(codes, self.table, self.features, found, right, False, self._marks, count)
        self._kept = settle_marks(self._marks, count)
        return norm_of_arcs(self._marks, self._kept)

    def step(self, step: float, number: float) -> None:
        step_growing(self.features, self._marks, self._kept, step, number)

    def least(self, steps: float, cutoff: float) -> float:
        """Return the threshold for averaged weights, based on the largest weight of each feature."""
        return least_kept(_largest(self.features, steps), cutoff)

    def averaged(self, steps: float, least: float) -> WeightTable:
        """Return the averaged weights, keys ascending, without rows that have no weight above ``least``."""
        keys = self.features.keys
        those = np.flatnonzero(_largest(self.features, steps) > least)
        those = those[np.argsort(keys[those])]
        rows = np.zeros((len(those), ROW), dtype=np.float32)
        _write_averages(self.features, those, steps, rows)
        return self.table._replace(keys=keys[those], values=rows)

    def _reserve(self, more: int) -> None:
        f, (features, rows) = self.features, self.features.counts.tolist()
        if features + more > len(f.keys):
            lengthen(features + more, f.keys, f.bins, f.alone)
        if rows + more > len(f.rows):
            lengthen(rows + more, f.rows)
        if 3 * (features + more) > 2 * len(f.slots):
            self._hash(features + more)

    def _hash(self, room: int) -> None:
        slots = np.full(1 << max(4, (3 * room // 2).bit_length()), _FREE)
        self.features = self.features._replace(slots=slots)
        _fill(slots, self.features.keys, int(self.features.counts[0]))

    # --- saving and restoring ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[np.generic]]:
        f, (features, rows) = self.features, self.features.counts.tolist()
        of_all = f.keys[:features], f.bins[:features], f.alone[:features]
        return dict(zip(self.KEPT, (*of_all, f.rows[:rows]), strict=True))

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        features, rows = arrays["keys"].size, len(arrays["rows"])
        self.features = Features(
            np.array([features, rows]),
            np.full(16, _FREE),
            owned(arrays["keys"], np.int64, features),
            owned(arrays["bins"], np.int32, features),
            owned(arrays["alone"], np.float32, features, 2),
            owned(arrays["rows"], np.float32, rows, 2, ROW),
        )
        self._hash(features)

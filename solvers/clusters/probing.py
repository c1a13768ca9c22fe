r"""Probing: find pairs that are together in every clustering at least as good as a given one.

Dual values λ of stars (:mod:`colgen.solvers.clusters.star_dual`) often give a bound close to the optimum but decide no
pair.  If many λ are positive, the reduced score of every pair is near zero.  Probing gives one pair a score so low
that separating it loses nothing.  A few sweeps from λ then bound all clusterings that separate the pair.  The pair is
merged into one item if a clustering that joins it scores more than the bound.  With fewer items, bounds are faster and
better, so the first pairs take longest.  The time of a sweep is linear in the number of rows.

The candidates are pairs with a positive score inside a cluster of the given clustering.  Among those of largest score,
the pair with the lowest bound after a few sweeps is probed.  An undecided pair is probed again once there are fewer
items.  The search ends when several pairs in a row stay undecided.

Source: M. W. P. Savelsbergh, *Preprocessing and probing techniques for mixed integer programming problems*, ORSA
Journal on Computing 6 (1994).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices
from colgen.solvers.clusters.clustering import clustering_score
from colgen.solvers.clusters.contraction import merge_scores
from colgen.solvers.clusters.star_dual import add_violated, evaluate, sweep
from colgen.solvers.clusters.triangle_dual import Rows, TriangleBound, keep_apart
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BELOW = 1e-9
"""Margin by which a bound must be below a score, relative to the sum of positive scores: above rounding errors."""

_FAILED = 4
"""Maximum number of undecided pairs in a row."""

_FAILED_ENTRIES = 20_000
"""Limit on that number times the entries of the scores: the cost of a pair grows faster than the entries."""

_FEW = 20
"""Fewer items than this are not probed: column generation solves them at once."""

_AGAIN = 3
"""The dual values without a parted pair are updated after this many joins."""

_CHOICE, _GLANCE = 6, 20
"""Number of candidate pairs, and of sweeps that compare them."""

_LEVELS = (8, 9, 10, 11)
"""Numbers of halvings of ε."""

_POINTS = 8
"""Maximum number of separation rounds per ε."""

_SWEEPS = 40
"""Sweeps per separation round."""

_TAIL = 0.05
"""The last separation round at an ε closes less than this fraction of the remaining distance."""

_HOPE = 0.6
"""A pair is given up if an ε closes less than this fraction: most decided pairs are decided at once."""


class Join(NamedTuple):
    """Two items that are together, with the dual values that bound all clusterings that part them."""

    # first, second: the items, as numbered after the earlier joins
    first: int
    second: int
    # stars, duals: as for :func:`colgen.solvers.clusters.star_dual.recompute_bound`
    stars: Rows
    duals: Floats


def find_joins(scores: Floats, labels: Ints, stars: Rows, duals: Floats, *, expired: Expired = never) -> list[Join]:
    """Return pairs that are together in every clustering at least as good as ``labels``, in the order of merging.

    ``labels`` are the cluster numbers, 0 to n - 1, of a good clustering.  The sweeps start at ``stars`` and ``duals``.
    ``expired`` is checked several times per second; once True, the pairs found so far are returned.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),)).astype(np.int64)
    found: list[Join] = []
    failed, since = 0, 0
    last_tried = dict[tuple[int, int], int]()  # pair of names -> number of items when it was last probed
    names = np.arange(len(scores))
    while len(scores) > _FEW and failed < _patience(len(scores)) and not expired():
        if since % _AGAIN == 0 and not failed:
            better = _bound(scores, stars, duals, required_bound(scores, labels), expired, hope=0.0)
            stars, duals = better.rows, better.duals
        pair = _choose_pair(scores, labels, names, last_tried, stars, duals)
        if pair is None:
            break
        i, j = pair
        tried = _bound(part_pair(scores, i, j), stars, duals, required_bound(scores, labels), expired)
        if tried.bound >= required_bound(scores, labels):
            last_tried[int(names[i]), int(names[j])] = len(scores)
            failed += 1
            continue
        failed, since = 0, since + 1
        found.append(Join(i, j, tried.rows, tried.duals))
        scores, labels, names, stars, duals = _join_items(scores, labels, names, stars, duals, i, j)
    return found


def _patience(count: int) -> int:
    """Return the maximum number of undecided pairs in a row for ``count`` items."""
    return min(_FAILED, max(1, _FAILED_ENTRIES // (count * count)))


def required_bound(scores: Floats, labels: Ints) -> float:
    """Return a value such that any smaller bound is below the score of the clustering."""
    own = clustering_score(scores, labels)
    return own - _BELOW * max(abs(own), 0.5 * float(np.maximum(scores, 0.0).sum()))


def part_pair(scores: Floats, i: int, j: int) -> Floats:
    """Return the scores with the score of one pair so low that a clustering loses nothing by parting it."""
    apart = np.zeros(scores.shape, dtype=np.bool_)
    apart[i, j] = apart[j, i] = True
    return np.ascontiguousarray(keep_apart(scores, apart))


def join_numbers(count: int, i: int, j: int) -> Ints:
    """Return the item numbers after ``j`` is merged into ``i`` < ``j``.  Items after ``j`` move up."""
    numbers = np.arange(count)
    numbers[j:] -= 1
    numbers[j] = i
    return numbers


def _choose_pair(
    scores: Floats, labels: Ints, names: Ints, last_tried: dict[tuple[int, int], int], stars: Rows, duals: Floats
) -> tuple[int, int] | None:
    """Return the pair, among those of largest score, whose parting has the lowest bound after a few sweeps."""
    first, second = np.nonzero(np.triu((labels[:, None] == labels[None, :]) & (scores > 0.0), 1))
    best, pair, tried = np.inf, None, 0
    for k in np.argsort(-scores[first, second], kind="stable").tolist():
        i, j = int(first[k]), int(second[k])
        if last_tried.get((int(names[i]), int(names[j])), len(scores) + 1) <= len(scores):
            continue
        apart = part_pair(scores, i, j)
        steepness, values = 2.0 ** _LEVELS[0] / _size(apart), duals.copy()
        reduced = evaluate(apart, stars, duals, labels).reduced.copy()
        sweep(reduced, steepness, stars, values, _GLANCE)
        bound = evaluate(apart, stars, values, labels).bound
        if bound < best:
            best, pair = bound, (i, j)
        tried += 1
        if tried == _CHOICE:
            break
    return pair


def _bound(
    scores: Floats, stars: Rows, duals: Floats, below: float, expired: Expired, hope: float = _HOPE
) -> TriangleBound:
    """Sweep until the bound is below ``below`` or gains little."""
    n = len(scores)
    size = _size(scores)
    singletons = np.arange(n)
    best = last = evaluate(scores, stars, duals, singletons)
    for level in _LEVELS:
        steepness, before = 2.0**level / size, last.bound
        for point in range(_POINTS):
            if best.bound < below or expired():
                return best
            x = np.clip(0.5 + last.reduced * steepness, 0.0, 1.0)
            former = last.bound
            rows, values = add_violated(x, last.rows, last.duals, expired)
            reduced = last.reduced.copy()
            sweep(reduced, steepness, rows, values, _SWEEPS)
            last = evaluate(scores, rows[values > 0.0], values[values > 0.0], singletons)
            gained = former - last.bound
            best = last if last.bound < best.bound else best
            if point and gained <= _TAIL * (last.bound - below):
                break
        if before - last.bound < hope * (before - below):
            break
    return best


def _size(scores: Floats) -> Floats:
    """Return the step sizes of the pairs; small scores get the median size."""
    size = np.abs(scores)
    return np.maximum(size, float(np.median(size[np.triu_indices(len(scores), 1)])) or float(size.max()) or 1.0)


def _join_items(
    scores: Floats, labels: Ints, names: Ints, stars: Rows, duals: Floats, i: int, j: int
) -> tuple[Floats, Ints, Ints, Rows, Floats]:
    """Merge two items; stars that would contain an item twice are dropped."""
    numbers = join_numbers(len(scores), i, j)
    kept = np.delete(np.arange(len(scores)), j)
    moved = np.where(stars >= 0, numbers[np.maximum(stars, 0)], len(scores))
    members = np.sort(moved[:, 1:], axis=1)
    twice = ((members[:, 1:] == members[:, :-1]) & (members[:, 1:] < len(scores))).any(axis=1)
    good = ~twice & ~(members == moved[:, :1]).any(axis=1)
    rows = np.column_stack([moved[good, 0], np.where(members[good] < len(scores), members[good], -1)])
    return (
        np.ascontiguousarray(merge_scores(scores, numbers)),
        np.unique(labels[kept], return_inverse=True)[1].astype(np.int64),
        names[kept],
        np.ascontiguousarray(rows, dtype=np.int32),
        duals[good],
    )

r"""Pairs that every clustering as good as a given one has together, for stars bound the others below it.

    max Σ_{i<j} w_ij x_ij        over clusterings, w symmetric, of any sign.

Dual values λ of stars (:mod:`colgen.solvers.clusters.star_dual`) often come close to the optimum, and yet decide no
pair: where many of them are positive the reduced score of every pair is near zero.  What parting a pair costs has to be
asked.  With a score so low that nothing is lost by parting it, a few sweeps from λ on bound all clusterings that part
it; if that is less than the score of a clustering that has it together, then the pair is one item from there on.  Fewer
items are bounded sooner and better, so that the first pairs take longest, and the last ones next to nothing.

The pairs are those of a positive score within a cluster of the given clustering: of the largest scores the one that a
few sweeps speak for.  A pair that cannot be decided is asked about again once there are fewer items; the search ends
where several in a row are not.

Complexity: that of a few sweeps over the rows a pair.

Source: M. W. P. Savelsbergh, *Preprocessing and probing techniques for mixed integer programming problems*, ORSA
Journal on Computing 6 (1994).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_indices
from colgen.solvers.clusters.contraction import merged
from colgen.solvers.clusters.star_dual import evaluated, sweep, with_violated
from colgen.solvers.clusters.triangle_dual import Rows, TriangleBound, kept_apart
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BELOW = 1e-9
"""A bound is less than a score by this much at least, relative to what positive scores are worth: beyond rounding."""

_FAILED = 4
"""Pairs in a row that are not decided, at most."""

_FAILED_ENTRIES = 20_000
"""And so many, times the entries of the scores: what such a pair costs grows faster than these."""

_FEW = 20
"""Fewer items are left as they are: whoever comes next is done with them at once."""

_AGAIN = 3
"""After so many pairs the dual values of all clusterings are brought up to date."""

_CHOICE, _GLANCE = 6, 20
"""Of so many pairs one is taken that so many sweeps speak for."""

_LEVELS = (8, 9, 10, 11)
"""How often ε has been halved."""

_POINTS = 8
"""So often at most rows are looked for at one ε."""

_SWEEPS = 40
"""After each look."""

_TAIL = 0.05
"""A look that closes less than this share of what is left is the last one at its ε."""

_HOPE = 0.6
"""A pair is given up if an ε closes less than this share of what is left: most that are decided are at once."""


class Join(NamedTuple):
    """Two items that are together, and what bounds the clusterings that part them.

    Attributes
    ----------
    first, second
        The items, numbered as they are after the joins before.
    stars, duals
        As :func:`colgen.solvers.clusters.star_dual.proved_by` takes them.
    """

    first: int
    second: int
    stars: Rows
    duals: Floats


def joins(scores: Floats, labels: Ints, stars: Rows, duals: Floats, *, expired: Expired = never) -> list[Join]:
    """Pairs that are together, one after the other.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    labels
        The number of each item's cluster in a good clustering, 0 to n - 1.
    stars, duals
        Where the sweeps begin.
    expired
        Asked several times a second; the search ends, with what it has, when the answer is yes.
    """
    scores = np.ascontiguousarray(as_floats(scores, "scores", shape=("n", "n")), dtype=np.float64)
    labels = as_indices(labels, "labels", upper=len(scores), shape=(len(scores),)).astype(np.int64)
    found: list[Join] = []
    failed, since = 0, 0
    asked = dict[tuple[int, int], int]()  # by what the items are called, how many there were
    names = np.arange(len(scores))
    while len(scores) > _FEW and failed < _patience(len(scores)) and not expired():
        if since % _AGAIN == 0 and not failed:
            better = _bounded(scores, stars, duals, enough(scores, labels), expired, hope=0.0)
            stars, duals = better.rows, better.duals
        pair = _next_pair(scores, labels, names, asked, stars, duals)
        if pair is None:
            break
        i, j = pair
        tried = _bounded(parted(scores, i, j), stars, duals, enough(scores, labels), expired)
        if tried.bound >= enough(scores, labels):
            asked[int(names[i]), int(names[j])] = len(scores)
            failed += 1
            continue
        failed, since = 0, since + 1
        found.append(Join(i, j, tried.rows, tried.duals))
        scores, labels, names, stars, duals = _one_less(scores, labels, names, stars, duals, i, j)
    return found


def _patience(count: int) -> int:
    """How many pairs in a row may be left open, of so many items."""
    return min(_FAILED, max(1, _FAILED_ENTRIES // (count * count)))


def enough(scores: Floats, labels: Ints) -> float:
    """A bound that is less than this is less than the score of the clustering."""
    own = float(scores[labels[:, None] == labels[None, :]].sum()) / 2.0
    return own - _BELOW * max(abs(own), 0.5 * float(np.maximum(scores, 0.0).sum()))


def parted(scores: Floats, i: int, j: int) -> Floats:
    """The scores with one so low that a clustering loses nothing by parting the pair."""
    apart = np.zeros(scores.shape, dtype=np.bool_)
    apart[i, j] = apart[j, i] = True
    return np.ascontiguousarray(kept_apart(scores, apart))


def in_one(count: int, i: int, j: int) -> Ints:
    """The number of each item, once two are one: ``i`` < ``j``, and those behind ``j`` move up."""
    numbers = np.arange(count)
    numbers[j:] -= 1
    numbers[j] = i
    return numbers


def _next_pair(
    scores: Floats, labels: Ints, names: Ints, asked: dict[tuple[int, int], int], stars: Rows, duals: Floats
) -> tuple[int, int] | None:
    """Of the pairs of largest scores the one whose parting a few sweeps bound lowest."""
    first, second = np.nonzero(np.triu((labels[:, None] == labels[None, :]) & (scores > 0.0), 1))
    best, pair, tried = np.inf, None, 0
    for k in np.argsort(-scores[first, second], kind="stable").tolist():
        i, j = int(first[k]), int(second[k])
        if asked.get((int(names[i]), int(names[j])), len(scores) + 1) <= len(scores):
            continue
        apart = parted(scores, i, j)
        steepness, values = 2.0 ** _LEVELS[0] / _size(apart), duals.copy()
        reduced = evaluated(apart, stars, duals, labels).reduced.copy()
        sweep(reduced, steepness, stars, values, _GLANCE)
        bound = evaluated(apart, stars, values, labels).bound
        if bound < best:
            best, pair = bound, (i, j)
        tried += 1
        if tried == _CHOICE:
            break
    return pair


def _bounded(
    scores: Floats, stars: Rows, duals: Floats, below: float, expired: Expired, hope: float = _HOPE
) -> TriangleBound:
    """Sweeps until the bound is low enough, or gains little."""
    n = len(scores)
    size = _size(scores)
    nobody = np.arange(n)
    best = last = evaluated(scores, stars, duals, nobody)
    for level in _LEVELS:
        steepness, before = 2.0**level / size, last.bound
        for point in range(_POINTS):
            if best.bound < below or expired():
                return best
            x = np.clip(0.5 + last.reduced * steepness, 0.0, 1.0)
            former = last.bound
            rows, values = with_violated(x, last.rows, last.duals, expired)
            reduced = last.reduced.copy()
            sweep(reduced, steepness, rows, values, _SWEEPS)
            last = evaluated(scores, rows[values > 0.0], values[values > 0.0], nobody)
            gained = former - last.bound
            best = last if last.bound < best.bound else best
            if point and gained <= _TAIL * (last.bound - below):
                break
        if before - last.bound < hope * (before - below):
            break
    return best


def _size(scores: Floats) -> Floats:
    """Of each pair; small scores move as fast as one of the middle."""
    size = np.abs(scores)
    return np.maximum(size, float(np.median(size[np.triu_indices(len(scores), 1)])) or float(size.max()) or 1.0)


def _one_less(
    scores: Floats, labels: Ints, names: Ints, stars: Rows, duals: Floats, i: int, j: int
) -> tuple[Floats, Ints, Ints, Rows, Floats]:
    """Two items as one; stars that would hold one item twice are let go."""
    numbers = in_one(len(scores), i, j)
    kept = np.delete(np.arange(len(scores)), j)
    moved = np.where(stars >= 0, numbers[np.maximum(stars, 0)], len(scores))
    members = np.sort(moved[:, 1:], axis=1)
    twice = ((members[:, 1:] == members[:, :-1]) & (members[:, 1:] < len(scores))).any(axis=1)
    good = ~twice & ~(members == moved[:, :1]).any(axis=1)
    rows = np.column_stack([moved[good, 0], np.where(members[good] < len(scores), members[good], -1)])
    return (
        np.ascontiguousarray(merged(scores, numbers)),
        np.unique(labels[kept], return_inverse=True)[1].astype(np.int64),
        names[kept],
        np.ascontiguousarray(rows, dtype=np.int32),
        duals[good],
    )

r"""Sums over all dependency trees, projective or not: the matrix-tree theorem without cancellation.

    Z = Σ_trees Π_{arcs h → m} w_hm,        w = exp(scores),        μ_hm = P(arc h → m)

Z is the determinant of a Laplacian.  Words are eliminated one by one.  With D_k = Σ_h w_hk over the remaining heads,
eliminating word k replaces w_hm by w_hm + w_hk w_km / D_k, and Z is the product of the D_k.  Only sums, products and
quotients of positive numbers occur.  So Z is accurate to the last digits for any scores, unlike a determinant.  If
exactly one arc leaves the root, D_k excludes the root except for the last word.  This gives the coefficient of Z that
is linear in the root's weights.

Marginals are derivatives, ∂ log Z / ∂ log w_hm, by the chain rule through the eliminations in reverse.  It has one
difference, of numbers at most as large as a word's expected number of modifiers.  Derivatives of marginals in a
direction use the same kernels on complex numbers.  Their imaginary part is so small that its square vanishes (Squire
and Trapp, 1998).  They are accurate to the last digits as well.

If the scores are too far apart for one scale of floating-point numbers, the elimination uses logarithms.

Sources: W. T. Tutte, *The dissection of equilateral triangles into equilateral triangles*, 1948.  T. Koo, A. Globerson,
X. Carreras, M. Collins, *Structured prediction models via the matrix-tree theorem*, EMNLP-CoNLL 2007.  W. Squire,
G. Trapp, *Using complex variables to estimate derivatives of real functions*, SIAM Review 40 (1998).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_floats, as_integers
from colgen.solvers.exponentials import exponential
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import boolean, inner, overwrite
from colgen.solvers.vectors import WIDTH, add_outer, add_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = NDArray[Any]

_FAR = 600.0
"""Logarithms further apart than this do not fit into one scale of floating-point numbers."""

_SMALL_STEP = 1e-100
"""Imaginary part in a direction: its square underflows, and it is exact in any product."""


def tree_sums(
    scores: ArrayLike, lengths: ArrayLike | None = None, *, single_root: bool = False
) -> tuple[Floats, Floats]:
    """Return the log-partition function of dependency trees, shape (batch,), and the marginals of arcs, (batch, N, N).

    Without a tree the log-partition function is -inf and the marginals are zero.

    Parameters
    ----------
    scores : (batch, N, N) array by head and modifier, root 0
        -inf marks a missing arc.  Column 0 and the diagonals are ignored.
    lengths : number of words of each sentence, 1 to N - 1; entries beyond are ignored
    single_root : whether exactly one arc leaves the root
    """
    batch, words = _validate(scores, lengths)
    log_partition, marginals = np.zeros(len(batch)), np.zeros(batch.shape)
    _batch_sums(batch, words, boolean(single_root), log_partition, marginals)
    return log_partition, marginals


def tree_tangents(
    scores: ArrayLike, directions: ArrayLike, lengths: ArrayLike | None = None, *, single_root: bool = False
) -> Floats:
    """Return the derivatives of the marginals of :func:`tree_sums` in directions of the scores, shape (batch, N, N).

    Let a function have the direction as its gradient with respect to the marginals.  They are its gradient with respect
    to the scores.
    """
    batch, words = _validate(scores, lengths)
    along = as_floats(directions, "directions", shape=batch.shape)
    inside = np.arange(batch.shape[1]) <= words[:, np.newaxis]
    along = np.where(inside[:, :, np.newaxis] & inside[:, np.newaxis, :], along, 0.0)
    scales = np.abs(along).max(axis=(1, 2), initial=0.0)[:, np.newaxis, np.newaxis]
    scales[scales == 0.0] = 1.0
    moved = np.zeros(batch.shape, dtype=np.complex128)
    _batch_sums(batch + 1j * (_SMALL_STEP / scales) * along, words, boolean(single_root), np.zeros(len(batch)), moved)
    result: Floats = moved.imag * (scales / _SMALL_STEP)
    return result


def sample_trees(
    scores: ArrayLike, generator: np.random.Generator, *, single_root: bool = False, count: int = 1
) -> Ints | None:
    """Return the heads of random trees, shape (count, N), -1 for the root.  None if there is no tree.

    Words choose their heads in turn, by marginals given the earlier choices (Colbourn, Day and Nel, 1989), O(n⁴) per
    tree.
    """
    batch, _ = _validate(np.asarray(scores)[np.newaxis], None)
    size = batch.shape[1]
    heads = np.full((count, size), -1)
    for k in range(count):
        left = batch[0].copy()
        for m in range(1, size):
            marginals = np.zeros((size, size))
            if _sums(left, boolean(single_root), marginals) == -np.inf:
                return None
            shares = np.cumsum(marginals[:, m])
            h = int(np.searchsorted(shares, generator.random() * shares[-1], side="right"))
            h = min(h, int(np.flatnonzero(marginals[:, m])[-1]))
            heads[k, m] = h
            kept = left[h, m]
            left[:, m] = -np.inf
            left[h, m] = kept
    return heads


def _validate(scores: ArrayLike, lengths: ArrayLike | None) -> tuple[Floats, Ints]:
    batch = as_floats(scores, "scores", shape=("batch", "positions", "positions"), minus_infinity=True)
    size = batch.shape[1]
    if lengths is None:
        return batch, np.full(len(batch), size - 1)
    return batch, as_integers(lengths, "lengths", shape=(len(batch),), low=1, high=size - 1)


@njit(cache=True, nogil=True, error_model="numpy")
def _batch_sums(scores: Numbers, words: Ints, single_root: bool, log_partition: Floats, marginals: Numbers) -> None:
    for k in range(len(words)):
        size = words[k] + 1
        log_partition[k] = _sums(scores[k, :size, :size], single_root, marginals[k, :size, :size])


@njit(cache=True, nogil=True, error_model="numpy")
def _sums(scores: Numbers, single_root: bool, marginals: Numbers) -> float:
    """Return the log-partition function of one sentence; write its marginals into ``marginals``, given as zeros."""
    size = len(scores)
    if size == 1:
        return 0.0
    width = (size + WIDTH - 1) // WIDTH * WIDTH  # of padded rows, so that vectors leave no rest
    highest, least = np.full(width, -np.inf), np.full(width, np.inf)
    shifted = np.full((size, width), -np.inf, scores.dtype)
    missing = 1 - size - size * (width - size)
    for h in range(size):
        overwrite(shifted[h, 1:size], scores[h, 1:])
        shifted[h, h] = -np.inf
        missing += _find_extremes(shifted[h], highest, least)
    apart = offset = 0.0
    for m in range(1, size):
        if highest[m] == -np.inf:
            return -np.inf
        apart = max(apart, highest[m] - least[m])
        offset += highest[m]
    if single_root:  # each tree has one arc of the root
        largest = -np.inf
        for m in range(1, size):
            largest = max(largest, scores[0, m].real - highest[m])
        if largest == -np.inf:
            return -np.inf
        apart -= largest
        offset += largest
    else:
        largest = 0.0
    highest[0] = 0.0
    highest[size:] = 0.0
    for h in range(size):
        _subtract(highest, largest if h == 0 else 0.0, shifted[h])
    found = np.nan
    if apart * (1 if missing == 0 else size - 1) <= 0.5 * _FAR:
        found = _of_weights(shifted, single_root, marginals)
    if not np.isfinite(found):
        found = _eliminate_logarithms(shifted, single_root, np.arange(1, size), marginals)
    for h in range(size):
        _clear(marginals[h], 0.0 if found > -np.inf else np.inf)
    return found + offset


@inner
def _find_extremes(row: Numbers, highest: Floats, least: Floats) -> int:
    """Raise ``highest`` and lower ``least`` to those of a row without its first entry.  Return how many are -inf."""
    missing = 0
    for m in range(1, len(row)):
        value = row[m].real
        highest[m] = value if value > highest[m] else highest[m]
        least[m] = value if -np.inf < value < least[m] else least[m]
        missing += value == -np.inf
    return missing


@inner
def _subtract(amounts: Floats, amount: float, row: Numbers) -> None:
    for m in range(len(row)):
        row[m] -= amounts[m] + amount


@inner
def _clear(row: Numbers, bound: float) -> None:
    """Replace numbers below a bound by zero."""
    for m in range(len(row)):
        row[m] = row[m] if row[m].real >= bound else 0.0


@njit(cache=True, no_cpython_wrapper=True, error_model="numpy")
def _of_weights(shifted: Numbers, single_root: bool, marginals: Numbers) -> float:
    """Write the marginals, given logarithms that fit into one scale.  Return log Z, or NaN if they do not."""
    size = len(shifted)
    order = np.arange(size)
    weights, eliminated = np.zeros_like(shifted), np.zeros_like(shifted)
    derivatives, across = np.zeros_like(shifted), np.zeros_like(shifted)
    found, stuck = -np.inf, -1
    for attempt in range(2):
        for i in range(size):
            _exponentials(shifted[i], weights[i])
            overwrite(eliminated[i], weights[i])
        found, stuck = _eliminate(eliminated, single_root, derivatives, across)
        if stuck < 0 or attempt == 1:
            break
        order[stuck], order[size - 1] = size - 1, stuck  # its only head left is the root: move it last
        given = shifted
        shifted = given.copy()
        for i in range(size):
            for j in range(size):
                shifted[i, j] = given[order[i], order[j]]
    if stuck >= 0:
        return -np.inf
    for i in range(size):
        row, shares = marginals[order[i]], derivatives[i]
        for j in range(1, size):
            share = shares[j] * weights[i, j]
            if not np.isfinite(share.real):
                return np.nan
            row[order[j]] = share
    return found


@inner
def _exponentials(logarithms: Numbers, weights: Numbers) -> None:
    for j in range(len(logarithms)):
        value = logarithms[j]
        weights[j] = exponential(value) if value.real > -np.inf else 0.0


@njit(cache=True, no_cpython_wrapper=True, error_model="numpy")
def _eliminate(w: Numbers, single_root: bool, q: Numbers, across: Numbers):  # type: ignore[no-untyped-def]
    """Write the derivatives of log Z by the weights.  Return log Z, and the word with a zero divisor, or -1.

    ``w`` has the weights.  ``across`` is q transposed, by modifier and head.  Rows are padded, and vectors run along
    them from a multiple of ``WIDTH``: entries of eliminated words, and diagonals, may be written but are never read.
    """
    size, width = w.shape
    last = size - 1
    zero = 0.0 * w[0, 0]
    rows = np.zeros((2, width), dtype=w.dtype)
    found = 0.0
    for k in range(1, size):
        total = w[0, k] if k == last or not single_root else zero
        for h in range(k + 1, size):
            total += w[h, k]
        if total == 0.0:
            return -np.inf, k
        w[k, k] = total
        found += np.log(total.real)
        start = (k + 1) // WIDTH * WIDTH
        rows[0, k] = zero  # entries of eliminated words stay as they are: a multiple of zero is added
        for m in range(k + 1, size):
            rows[0, m] = w[k, m]
        factor = 1.0 / total
        add_outer(w, k, k + 1, factor, rows, 0, w, start)
        for m in range(k + 1, size):
            w[0, m] += w[0, k] * factor * rows[0, m]
    q[:] = zero
    q[0, last] = across[last, 0] = 1.0 / w[last, last]
    for k in range(last - 1, 0, -1):
        factor = 1.0 / w[k, k]
        start = (k + 1) // WIDTH * WIDTH
        for m in range(width):
            rows[1, m] = w[0, k] * q[0, m]
            across[k, m] = zero
        add_rows(w, k, k + 1, q, rows, 1, start)
        rest = 1.0 + zero
        for m in range(k + 1, size):
            q[k, m] = across[m, k] = rows[1, m] * factor
            rest -= q[k, m] * w[k, m]
        by_root = zero
        for m in range(k + 1, size):
            by_root += q[0, m] * w[k, m]
        add_rows(w.T, k, k + 1, across, across, k, start)
        across[k, 0] = q[0, k] = (by_root + (zero if single_root else rest)) * factor
        across[k, k] = zero
        for h in range(k + 1, size):
            across[k, h] = q[h, k] = (across[k, h] + rest) * factor
    return found, -1


@njit(cache=True, no_cpython_wrapper=True)
def _add(a, b):  # type: ignore[no-untyped-def]
    """Return log(exp a + exp b)."""
    if b.real == -np.inf:
        return a
    if b.real > a.real:
        return b + np.log(1.0 + np.exp(a - b))
    return a + np.log(1.0 + np.exp(b - a))


@njit(cache=True, no_cpython_wrapper=True)
def _add_to(a, b, impossible):  # type: ignore[no-untyped-def]
    """Return log(exp a + b) for b of moderate size.  A negative sum is a rounded zero and gives ``impossible``."""
    if a.real > 40.0:
        return a + np.log(1.0 + b * np.exp(-a))
    both = b if a.real == -np.inf else np.exp(a) + b
    return np.log(both) if both.real > 0.0 else impossible


@njit(cache=True, no_cpython_wrapper=True)
def _eliminate_logarithms(scores: Numbers, single_root: bool, order: Ints, marginals: Numbers) -> float:
    """Write the marginals and return log Z as :func:`_of_weights` does, with logarithms at any scale."""
    size = len(scores)
    w = scores.copy()
    found: float = _factor_logarithms(w, single_root, order)
    if found == -np.inf:
        return found
    q = scores.copy()  # logarithms of the derivatives with respect to the weights
    for h in range(size):
        for m in range(size):
            q[h, m] = w[0, 0]
    _differentiate_logarithms(w, single_root, order, q)
    for h in range(size):
        for m in range(size):
            possible = m > 0 and h != m and scores[h, m].real > -np.inf and q[h, m].real > -np.inf
            marginals[h, m] = np.exp(q[h, m] + scores[h, m]) if possible else 0.0
    return found


@inner
def _factor_logarithms(w: Numbers, single_root: bool, order: Ints) -> float:
    """Eliminate the words in this order, changed where the divisor is zero.  Return log Z."""
    n = len(w) - 1
    found = 0.0
    for t in range(n):
        last = t == n - 1
        for attempt in range(2):
            k = order[t]
            total = w[0, k] if last or not single_root else w[0, 0]  # -inf
            for u in range(t + 1, n):
                total = _add(total, w[order[u], k])
            if total.real > -np.inf or last or attempt == 1:
                break
            order[t], order[n - 1] = order[n - 1], k
        if total.real == -np.inf:
            return -np.inf
        w[k, k] = total
        found += total.real
        for u in range(t, n):
            h = order[u] if u > t else 0
            if w[h, k].real == -np.inf:
                continue
            share = w[h, k] - total
            for v in range(t + 1, n):
                m = order[v]
                if m != h and w[k, m].real > -np.inf:
                    w[h, m] = _add(w[h, m], share + w[k, m])
    return found


@inner
def _differentiate_logarithms(w, single_root, order, q):  # type: ignore[no-untyped-def]
    """Write the derivatives with respect to the weights, from the last eliminated word to the first."""
    n = len(w) - 1
    k = order[n - 1]
    q[0, k] = -w[k, k]
    for t in range(n - 2, -1, -1):
        k = order[t]
        total = w[k, k]
        below = 0.0 * total
        for v in range(t + 1, n):
            m = order[v]
            value = w[0, 0]
            for u in range(t, n):
                h = order[u] if u > t else 0
                if u != v and w[h, k].real > -np.inf and q[h, m].real > -np.inf:
                    value = _add(value, q[h, m] + w[h, k])
            if value.real > -np.inf:
                q[k, m] = value - total
                if w[k, m].real > -np.inf:
                    below += np.exp(q[k, m] + w[k, m])
        for u in range(t, n):
            h = order[u] if u > t else 0
            # a forbidden arc has a derivative with respect to its weight too; other arcs use it through eliminations
            value = w[0, 0]
            for v in range(t + 1, n):
                m = order[v]
                if v != u and w[k, m].real > -np.inf and q[h, m].real > -np.inf:
                    value = _add(value, q[h, m] + w[k, m])
            if h > 0 or not single_root:
                # exp(value) + 1 - below, where below is at most n
                value = _add_to(value, 1.0 - below, w[0, 0])
            if value.real > -np.inf:
                q[h, k] = value - total

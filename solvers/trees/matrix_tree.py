r"""Sums over all dependency trees, projective or not: the matrix-tree theorem, without cancellation.

    Z = Σ_trees Π_{arcs h → m} w_hm,        w = exp(scores),        μ_hm = P(arc h → m)

Z is the determinant of a Laplacian.  Words are eliminated one after the other: word k, with D_k = Σ_h w_hk over the
heads that are left, leaves w_hm + w_hk w_km / D_k in place of w_hm, and Z is the product of the D_k.  Only sums,
products and quotients of positive numbers occur, so that Z is right to the last digits whatever the scores are, which
a determinant is not.  If exactly one arc leaves the root, then D_k leaves the root out, but for the last word: that is
the coefficient of Z that is linear in the root's weights.

Marginals are derivatives, ∂ log Z / ∂ log w_hm, by the chain rule through the eliminations in reverse.  There one
difference occurs, of numbers whose size is at most that of a word's expected number of modifiers.  Derivatives of
marginals in a direction come from the same kernels on complex numbers, with an imaginary part so small that its square
is nothing (Squire and Trapp, 1998): to the last digits as well.

Scores so far apart that products would not fit into one scale of floating-point numbers are eliminated as logarithms.

Sources: W. T. Tutte, *The dissection of equilateral triangles into equilateral triangles*, 1948; T. Koo, A. Globerson,
X. Carreras, M. Collins, *Structured prediction models via the matrix-tree theorem*, EMNLP-CoNLL 2007; W. Squire,
G. Trapp, *Using complex variables to estimate derivatives of real functions*, SIAM Review 40 (1998).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from solvers.arrays import as_floats, as_integers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = NDArray[Any]

_FAR = 600.0
"""Logarithms further apart than this do not fit into one scale of floating-point numbers."""

_SMALL_STEP = 1e-100
"""The imaginary part in a direction: its square is below the smallest number, and it is exact in any product."""


def tree_sums(
    scores: ArrayLike, lengths: ArrayLike | None = None, *, single_root: bool = False
) -> tuple[Floats, Floats]:
    """Log-partition functions of dependency trees, and the probability of each arc.

    Parameters
    ----------
    scores
        Shape (batch, N, N), by head and modifier, root 0; -inf where there is no arc.  Column 0 and the diagonals are
        not looked at.
    lengths
        Words of each sentence, 1 to N - 1; what lies beyond is not looked at.
    single_root
        Whether exactly one arc leaves the root.

    Returns
    -------
    log_partition
        Shape (batch,); -inf where there is no tree.
    marginals
        Shape (batch, N, N); zero where there is no arc, and where there is no tree.
    """
    batch, words = _checked(scores, lengths)
    log_partition, marginals = np.zeros(len(batch)), np.zeros(batch.shape)
    for k, n in enumerate(words.tolist()):
        log_partition[k] = _sums(batch[k, : n + 1, : n + 1], single_root, marginals[k, : n + 1, : n + 1])
    return log_partition, marginals


def tree_tangents(
    scores: ArrayLike, directions: ArrayLike, lengths: ArrayLike | None = None, *, single_root: bool = False
) -> Floats:
    """Derivatives of the marginals of :func:`tree_sums` in directions of the scores, shape (batch, N, N).

    They are, at once, the derivatives by the scores of a function whose derivatives by the marginals are the direction.
    """
    batch, words = _checked(scores, lengths)
    along = as_floats(directions, "directions", shape=batch.shape)
    result = np.zeros(batch.shape)
    for k, n in enumerate(words.tolist()):
        part = (k, slice(n + 1), slice(n + 1))
        scale = float(np.abs(along[part]).max(initial=0.0))
        if scale == 0.0:
            continue
        moved = np.zeros((n + 1, n + 1), dtype=np.complex128)
        if _sums(batch[part] + 1j * (_SMALL_STEP / scale) * along[part], single_root, moved) > -np.inf:
            result[part] = moved.imag * (scale / _SMALL_STEP)
    return result


def sample_trees(
    scores: ArrayLike, generator: np.random.Generator, *, single_root: bool = False, count: int = 1
) -> Ints | None:
    """Trees drawn with their probabilities, shape (count, N), heads with -1 for the root; None if there is no tree.

    Words choose their heads one after the other, each by its marginals given the choices before (Colbourn, Day and
    Nel, 1989), O(n⁴) a tree.
    """
    batch, _ = _checked(np.asarray(scores)[np.newaxis], None)
    size = batch.shape[1]
    heads = np.full((count, size), -1)
    for k in range(count):
        left = batch[0].copy()
        for m in range(1, size):
            marginals = np.zeros((size, size))
            if _sums(left, single_root, marginals) == -np.inf:
                return None
            shares = np.cumsum(marginals[:, m])
            h = int(np.searchsorted(shares, generator.random() * shares[-1], side="right"))
            h = min(h, int(np.flatnonzero(marginals[:, m])[-1]))
            heads[k, m] = h
            kept = left[h, m]
            left[:, m] = -np.inf
            left[h, m] = kept
    return heads


def _checked(scores: ArrayLike, lengths: ArrayLike | None) -> tuple[Floats, Ints]:
    batch = as_floats(scores, "scores", shape=("batch", "positions", "positions"), minus_infinity=True)
    size = batch.shape[1]
    if lengths is None:
        return batch, np.full(len(batch), size - 1)
    return batch, as_integers(lengths, "lengths", shape=(len(batch),), low=1, high=size - 1)


def _sums(scores: Numbers, single_root: bool, marginals: Numbers) -> float:
    """Write the marginals of one sentence; its log-partition function."""
    size = len(scores)
    real = scores.real.copy()
    if size == 1:
        return 0.0
    np.fill_diagonal(real, -np.inf)
    arcs = real[:, 1:]
    highest = arcs.max(axis=0)
    if (highest == -np.inf).any():
        return -np.inf
    allowed = arcs > -np.inf
    apart = float(np.max(highest - np.min(arcs, axis=0, where=allowed, initial=np.inf)))
    complete = int(allowed.sum()) == (size - 1) * (size - 1)
    shifted = np.empty(scores.shape, dtype=scores.dtype)
    shifted[:, 0] = -np.inf
    shifted[:, 1:] = np.where(allowed, scores[:, 1:], -np.inf)
    shifted[:, 1:] -= highest
    if single_root:  # each tree has one of the root's arcs
        largest = float(shifted[0].real.max())
        if largest == -np.inf:
            return -np.inf
        shifted[0] -= largest
        apart += -largest
    else:
        largest = 0.0
    order = np.arange(1, size)
    found = -np.inf
    if apart * (1 if complete else size - 1) <= 0.5 * _FAR:
        with np.errstate(all="ignore"):
            found = _eliminate(np.exp(shifted), single_root, order, marginals)
    if not np.isfinite(found) or not np.isfinite(marginals.real).all():
        order = np.arange(1, size)
        found = _eliminate_logarithms(shifted, single_root, order, marginals)
    marginals[np.signbit(marginals.real)] = 0.0
    if found == -np.inf:
        marginals[:] = 0.0
    return float(found) + float(highest.sum()) + largest


@njit(cache=True, nogil=True, error_model="numpy")
def _eliminate(weights: Numbers, single_root: bool, order: Ints, marginals: Numbers) -> float:
    """Write marginals, given weights that fit into one scale; their log-partition function."""
    size = len(weights)
    n = size - 1
    w = weights.copy()
    found = 0.0
    for t in range(n):
        last = t == n - 1
        for attempt in range(2):
            k = order[t]
            total = w[0, k] if last or not single_root else 0.0 * w[0, k]
            for u in range(t + 1, n):
                total += w[order[u], k]
            if total != 0.0 or last or attempt == 1:
                break
            order[t], order[n - 1] = order[n - 1], k  # nothing but the root is above this word: it comes last
        if total == 0.0:
            return -np.inf
        w[k, k] = total
        found += np.log(total.real)
        for u in range(t, n):
            h = order[u] if u > t else 0
            share = w[h, k] / total
            for v in range(t + 1, n):
                m = order[v]
                if m != h:
                    w[h, m] += share * w[k, m]
    # derivatives by the weights, from the last word back to the first, in place of the marginals
    q = marginals
    k = order[n - 1]
    q[0, k] = 1.0 / w[k, k]
    for t in range(n - 2, -1, -1):
        k = order[t]
        total = w[k, k]
        below = 0.0 * total
        for v in range(t + 1, n):
            m = order[v]
            value = q[0, m] * w[0, k]
            for u in range(t + 1, n):
                if u != v:
                    value += q[order[u], m] * w[order[u], k]
            q[k, m] = value / total
            below += q[k, m] * w[k, m]
        for u in range(t, n):
            h = order[u] if u > t else 0
            value = 0.0 * total
            for v in range(t + 1, n):
                if v != u:
                    value += q[h, order[v]] * w[k, order[v]]
            if h > 0 or not single_root:
                value += 1.0 - below
            q[h, k] = value / total
    for h in range(size):
        for m in range(size):
            q[h, m] = q[h, m] * weights[h, m] if m > 0 and h != m else 0.0
    return found


@njit(cache=True, nogil=True)
def _add(a, b):  # type: ignore[no-untyped-def]
    """log(exp a + exp b)."""
    if b.real == -np.inf:
        return a
    if b.real > a.real:
        return b + np.log(1.0 + np.exp(a - b))
    return a + np.log(1.0 + np.exp(b - a))


@njit(cache=True, nogil=True)
def _add_to(a, b, impossible):  # type: ignore[no-untyped-def]
    """log(exp a + b), where b is of moderate size; what rounding makes of zero, if negative, is impossible."""
    if a.real > 40.0:
        return a + np.log(1.0 + b * np.exp(-a))
    both = b if a.real == -np.inf else np.exp(a) + b
    return np.log(both) if both.real > 0.0 else impossible


@njit(cache=True, nogil=True)
def _eliminate_logarithms(scores: Numbers, single_root: bool, order: Ints, marginals: Numbers) -> float:
    """The same of logarithms, at any scale."""
    size = len(scores)
    n = size - 1
    w = scores.copy()
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
    q = scores.copy()  # logarithms of the derivatives by the weights
    for h in range(size):
        for m in range(size):
            q[h, m] = w[0, 0]
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
            # an arc that is forbidden still has a derivative, by its weight: others reach it through eliminations
            value = w[0, 0]
            for v in range(t + 1, n):
                m = order[v]
                if v != u and w[k, m].real > -np.inf and q[h, m].real > -np.inf:
                    value = _add(value, q[h, m] + w[k, m])
            if h > 0 or not single_root:
                # exp(value) + 1 - below, the last at most n
                value = _add_to(value, 1.0 - below, w[0, 0])
            if value.real > -np.inf:
                q[h, k] = value - total
    for h in range(size):
        for m in range(size):
            possible = m > 0 and h != m and scores[h, m].real > -np.inf and q[h, m].real > -np.inf
            marginals[h, m] = np.exp(q[h, m] + scores[h, m]) if possible else 0.0
    return found

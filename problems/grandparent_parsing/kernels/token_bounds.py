"""Upper bounds on part scores by single tokens: cheaper and looser than those by pairs of tokens.

The bound of a pair (i, k) is Σ_t b_t(i, k), one hash-table look-up per template and *pair*.  Define the maxima

    f_t(i) = max_k b_t(i, k),     g_t(k) = max_i b_t(i, k)

over all possible partners of i and k, computed offline.  Then Σ_t min(f_t(i), g_t(k)) is an upper bound.  It takes two
array look-ups per template and *token*, O(n) in all, and O(n²) additions.  If few pairs are needed, look up their
bounds directly.

Source: the factored bounds of S. Riedel, D. Smith, A. McCallum, *Parse, price and cut*, EMNLP (2012), section 4.3.2,
taken one step further.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.factored_scores import Codes, WeightTable
from colgen.problems.dependency.features.hashed_keys import find
from colgen.solvers.kernel_cache import njit

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]


class TokenBounds(NamedTuple):
    """The largest weights of a bound table for each value of one of its two tokens.

    Attributes
    ----------
    templates
        Feature conjunction of each token, and its number of codes, shape (templates, 4).
    offsets, first, second
        Start of a template's maxima for each token, shape (templates, 2), and f and g by code and relation.
    """

    templates: Ints
    offsets: Ints
    first: Singles
    second: Singles


def token_bounds(pairs: WeightTable) -> TokenBounds:
    """Return the maxima of a bound table over one token, never negative.

    See :func:`colgen.problems.dependency.features.score_bounds.bound_table`.
    """
    held = np.flatnonzero(pairs.keys >= 0)
    keys, weights = pairs.keys[held], pairs.values[held, 0]
    template = np.searchsorted(pairs.offsets, keys, side="right") - 1
    rest = keys - pairs.offsets[template]
    codes = (rest // pairs.strides[template, 0], rest % pairs.strides[template, 0] // pairs.strides[template, 1])
    relation = rest % pairs.strides[template, 1]
    sizes = 2 * pairs.templates[:, 2:4]
    offsets = np.concatenate([np.zeros((1, 2), dtype=np.int64), np.cumsum(sizes, axis=0)])
    maxima = []
    for k in range(2):
        largest = np.zeros(max(1, int(offsets[-1, k])), dtype=np.float32)
        np.maximum.at(largest, offsets[template, k] + 2 * codes[k] + relation, weights)
        maxima.append(largest)
    return TokenBounds(pairs.templates, np.ascontiguousarray(offsets[:-1]), *maxima)


@njit(cache=True)
def loose_bounds(codes: Codes, bounds: TokenBounds) -> Floats:
    """Return upper bounds by first and second token, shape (n + 1, n + 1), no less than the pair bounds; diagonal 0."""
    n = codes.shape[1] - 3
    result = np.zeros((n + 1, n + 1))
    first, second = np.zeros((2, n + 1), dtype=np.float32), np.zeros((2, n + 1), dtype=np.float32)
    for t in range(bounds.templates.shape[0]):
        rows, columns = codes[bounds.templates[t, 0]], codes[bounds.templates[t, 1]]
        for i in range(n + 1):
            a, b = rows[i], columns[i]
            for side in range(2):
                known = 0 <= a < bounds.templates[t, 2]
                first[side, i] = bounds.first[bounds.offsets[t, 0] + 2 * a + side] if known else 0.0
                known = 0 <= b < bounds.templates[t, 3]
                second[side, i] = bounds.second[bounds.offsets[t, 1] + 2 * b + side] if known else 0.0
        for i in range(n + 1):
            own = first[1, i]
            if own > 0.0:
                for j in range(i):
                    result[i, j] += min(own, second[1, j])
            own = first[0, i]
            if own > 0.0:
                for j in range(i + 1, n + 1):
                    result[i, j] += min(own, second[0, j])
    return result


@njit(cache=True, borrows=True)
def pair_bound(codes, pairs, i, k):  # type: ignore[no-untyped-def]
    """Return the bound of one pair of tokens; for kernels."""
    total = 0.0
    for t in range(pairs.templates.shape[0]):
        a, b = codes[pairs.templates[t, 0], i], codes[pairs.templates[t, 1], k]
        if 0 <= a < pairs.templates[t, 2] and 0 <= b < pairs.templates[t, 3]:
            slot = find(pairs.keys, pairs.offsets[t] + a * pairs.strides[t, 0] + b * pairs.strides[t, 1] + (i > k))
            if slot >= 0:
                total += pairs.values[slot, 0]
    return total

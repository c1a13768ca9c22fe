r"""Stable sets of largest weight minus charges for rounded counts: the pricing problem under rank-1 cuts.

    max over stable sets S    Σ_{v in S} w_v - Σ_c f_c ⌊Σ_{v in S} a_cv / q_c⌋        integers w, a, f ≥ 0

The search is that of :mod:`colgen.solvers.graphs.stable_set`.  Its clique bound ignores charges, so it remains valid.
Charges are paid as vertices are included.  A set may be worth more without its last vertices, so every set on the way
is evaluated.  All numbers are integers: round fractional weights up and charges down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_integer, as_integers
from colgen.solvers.graphs.bits import put
from colgen.solvers.graphs.stable_set import (
    LARGEST_SUM,
    StableSets,
    StableSetSearch,
    as_graph,
    as_weights,
    begin,
    next_included,
    run,
)
from colgen.solvers.kernel_cache import njit
from colgen.solvers.stopping import Expired, never

Ints = NDArray[np.int64]

_CHUNK = 1 << 10
"""Nodes before the first check of the clock."""


class _Charges(NamedTuple):
    """The counts, their charges, and the sums at each level of the search.

    * ``starts``, ``counts``, ``amounts``: start of each vertex's entries; count and amount of each entry.
    * ``divisors``, ``charges``: divisor and charge of each count.
    * ``sums``: sums of the included vertices, by level and count.
    """

    starts: Ints
    counts: Ints
    amounts: Ints
    divisors: Ints
    charges: Ints
    sums: Ints


def heaviest_counted(
    adjacency: ArrayLike,
    weights: ArrayLike,
    amounts: ArrayLike,
    divisors: ArrayLike,
    charges: ArrayLike,
    *,
    above: int = 0,
    most: int | None = None,
    nodes: int | None = None,
    expired: Expired = never,
) -> StableSets:
    """Return the stable set of largest value above ``above``, and the improving sets found before.

    Other arguments are as in :func:`colgen.solvers.graphs.stable_set.heaviest`.

    Parameters
    ----------
    amounts : (counts, n) array of nonnegative integers
    divisors : positive integers, one per count
    charges : nonnegative integer charge per full divisor; below 2^62 in total for any stable set

    Raises
    ------
    ArrayError
        If the arguments are invalid, or sums may be too large.
    """
    conflict = as_graph(adjacency)
    weight = as_weights(weights, len(conflict))
    amount = as_integers(amounts, "amounts", shape=("counts", len(conflict)), low=0)
    divisor = as_integers(divisors, "divisors", shape=amount.shape[:1], low=1)
    charge = as_integers(charges, "charges", shape=amount.shape[:1], low=0)
    times = [sum(row) // q for row, q in zip(amount.tolist(), divisor.tolist(), strict=True)]
    if sum(f * k for f, k in zip(charge.tolist(), times, strict=True)) >= LARGEST_SUM:
        raise ArrayError("charges: expected a sum below 2^62")
    above = as_integer(above, "above", low=0)
    # A vertex's own charges are subtracted from its weight: ⌊(s + a) / q⌋ = ⌊(s + a mod q) / q⌋ + ⌊a / q⌋.
    alone = charge.astype(object) @ (amount // divisor[:, None]).astype(object)
    weight = np.array([max(w - f, 0) for w, f in zip(weight.tolist(), alone, strict=True)], dtype=np.int64)
    amount = amount % divisor[:, None]
    items = np.flatnonzero(weight)
    items = items[np.argsort(-weight[items], kind="stable")]
    paid = np.flatnonzero((charge > 0) & (amount[:, items].sum(axis=1) >= divisor))
    owners, counts = np.nonzero(amount[np.ix_(paid, items)].T)
    terms = _Charges(
        np.searchsorted(owners, np.arange(len(items) + 1)),
        counts,
        amount[paid[counts], items[owners]],
        divisor[paid],
        charge[paid],
        np.zeros((len(items) + 1, len(paid)), dtype=np.int64),
    )
    search = begin(conflict[np.ix_(items, items)], weight[items], above)

    def advance(search: StableSetSearch, nodes: int) -> bool:
        return _continue(search, terms, nodes)

    return run(search, advance, items, len(weight), _CHUNK, most=most, nodes=nodes, expired=expired)


@njit(cache=True)
def _continue(search: StableSetSearch, terms: _Charges, nodes: int) -> bool:
    """Search ``nodes`` more nodes.  Return whether the search is completed."""
    state, weights, words = search.state, search.weights, search.candidates.shape[1]
    level, limit = state[0], state[3] + nodes
    while level >= 0 and state[3] < limit:
        v = next_included(search, level, state[1])
        if v < 0:
            level -= 1
            continue
        value = search.value[level] + weights[v]
        for c in range(len(terms.divisors)):
            terms.sums[level + 1, c] = terms.sums[level, c]
        for e in range(terms.starts[v], terms.starts[v + 1]):
            c = terms.counts[e]
            before = terms.sums[level, c]
            terms.sums[level + 1, c] = before + terms.amounts[e]
            value -= terms.charges[c] * ((before + terms.amounts[e]) // terms.divisors[c] - before // terms.divisors[c])
        if value > state[1]:
            state[1] = value
            row = state[2] % len(search.found)
            search.found[row, :] = 0
            for one in range(level + 1):
                put(search.found[row], search.chosen[one])
            search.found_weights[row] = value
            state[2] += 1
        some = np.uint64(0)
        for w in range(words):
            inside = search.candidates[level, w] & search.others[v, w]
            search.candidates[level + 1, w] = inside
            some |= inside
        if some != 0:
            level += 1
            search.value[level] = value
            search.place[level] = -2
    state[0] = level
    return bool(level < 0)

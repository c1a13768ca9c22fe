r"""Stable sets of largest weight where what is counted in a set is charged for: the pricing problem under rank-1 cuts.

    max over stable sets S    Σ_{v in S} w_v - Σ_c f_c ⌊Σ_{v in S} a_cv / q_c⌋        w, a, f ≥ 0 whole numbers

The search is that of :mod:`colgen.solvers.graphs.stable_set`, whose bound by cliques holds all the more where charges
are left out of it.  Charges are paid as vertices come in; as a set may be worth more without the last of them, every
set on the way is looked at.  All numbers are whole: whoever has fractions rounds weights up and charges down.
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
"""Nodes before the first look at the clock."""


class _Charges(NamedTuple):
    """What is counted.

    Attributes
    ----------
    starts, counts, amounts
        Where each vertex begins among the counts that it is in; those, and how much it has in each.
    divisors, charges
        Of the counts.
    sums
        Of each level of the search: what the vertices included sum up to in each count.
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
    """The stable set that is worth most, if that is more than ``above``, and those that the search meets on its way.

    Parameters
    ----------
    adjacency, weights, above, most, nodes, expired
        As for :func:`colgen.solvers.graphs.stable_set.heaviest`.
    amounts
        Of each vertex in each count, shape (counts, n); whole, from 0.
    divisors
        Of the counts, from 1.
    charges
        For each time that a count's divisor is full, from 0; below 2^62 in all for any stable set.

    Raises
    ------
    ArrayError
        If the arguments are not of these kinds, or sums may be too large.
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
    # What a vertex pays by itself is part of its weight: ⌊(s + a) / q⌋ = ⌊(s + a mod q) / q⌋ + ⌊a / q⌋.
    alone = charge.astype(object) @ (amount // divisor[:, None]).astype(object)
    weight = np.array([max(w - f, 0) for w, f in zip(weight.tolist(), alone, strict=True)], dtype=np.int64)
    amount = amount % divisor[:, None]
    items = np.flatnonzero(weight)
    items = items[np.argsort(-weight[items], kind="stable")]
    paid = np.flatnonzero((charge > 0) & (amount[:, items].sum(axis=1) >= divisor))
    owners, counts = np.nonzero(amount[np.ix_(paid, items)].T)
    told = _Charges(
        np.searchsorted(owners, np.arange(len(items) + 1)),
        counts,
        amount[paid[counts], items[owners]],
        divisor[paid],
        charge[paid],
        np.zeros((len(items) + 1, len(paid)), dtype=np.int64),
    )
    search = begin(conflict[np.ix_(items, items)], weight[items], above)

    def advance(search: StableSetSearch, nodes: int) -> bool:
        return _go_on(search, told, nodes)

    return run(search, advance, items, len(weight), _CHUNK, most=most, nodes=nodes, expired=expired)


@njit(cache=True)
def _go_on(search: StableSetSearch, told: _Charges, nodes: int) -> bool:
    """Search for so many nodes more; whether it has come to its end."""
    state, weights, words = search.state, search.weights, search.candidates.shape[1]
    level, limit = state[0], state[3] + nodes
    while level >= 0 and state[3] < limit:
        v = next_included(search, level, state[1])
        if v < 0:
            level -= 1
            continue
        value = search.value[level] + weights[v]
        for c in range(len(told.divisors)):
            told.sums[level + 1, c] = told.sums[level, c]
        for e in range(told.starts[v], told.starts[v + 1]):
            c = told.counts[e]
            before = told.sums[level, c]
            told.sums[level + 1, c] = before + told.amounts[e]
            value -= told.charges[c] * ((before + told.amounts[e]) // told.divisors[c] - before // told.divisors[c])
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
            inside = search.candidates[level, w] & search.strangers[v, w]
            search.candidates[level + 1, w] = inside
            some |= inside
        if some != 0:
            level += 1
            search.value[level] = value
            search.place[level] = -2
    state[0] = level
    return bool(level < 0)

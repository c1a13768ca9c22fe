r"""Dual values of rank-1 cuts, as states of labels.

The coefficient of a route in the cut  ∑_r ⌊∑_i w_i a_ir⌋ x_r ≤ b  is counted along the route.  At vertex i the state
grows by w_i.  If it reaches 1, the coefficient grows by 1 and the state falls by 1.  With limited memory the state is
reset to 0 at vertices outside a set, which does not increase the coefficient.

A state s, in units of 1 over the denominator d, is a field of d - 1 bits with the lowest s bits set.  A state is larger
than another if it has a bit that the other lacks.

Source: D. Pecin, A. Pessoa, M. Poggi, E. Uchoa, H. Santos, *Limited memory rank-1 cuts for vehicle routing problems*,
Operations Research Letters 45 (2017).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_booleans, as_floats, as_integers
from colgen.solvers.paths.counting import counts_along

Ints = NDArray[np.int64]

_LARGEST = 64
"""Largest denominator: a state must fit into one word."""


class RankOneDuals(NamedTuple):
    """Rank-1 cuts with nonzero dual values.

    Attributes
    ----------
    numerators : (cuts, vertices) array, w_i times the denominator; 0 if a vertex is not a member
    denominators : one per cut, larger than its numerators
    memory : (cuts, vertices) mask, whether the state is kept at a vertex; implied for members
    penalties : addition to the reduced cost per unit of the coefficient when minimising: minus the dual value
    """

    numerators: ArrayLike
    denominators: ArrayLike
    memory: ArrayLike
    penalties: ArrayLike


class Fields(NamedTuple):
    """Cuts in the form of the kernels.

    * ``keep``: bits of the cuts that each vertex remembers.
    * ``member_first``, ``member_cut``, ``member_weight``: the cuts that each vertex is a member of, and the numerators.
    * ``cut_word``, ``cut_shift``: position of each cut's field.
    * ``cut_divisor``, ``cut_penalty``: its denominator and its penalty.
    * ``cut_of_bit``: the cut that each bit belongs to.
    """

    keep: NDArray[np.uint64]
    member_first: Ints
    member_cut: Ints
    member_weight: Ints
    cut_word: Ints
    cut_shift: Ints
    cut_divisor: Ints
    cut_penalty: NDArray[np.float64]
    cut_of_bit: Ints


def fields(duals: RankOneDuals | None, vertices: int) -> Fields:
    """Return the cuts in the form of the kernels."""
    if duals is None:
        return _no_fields(vertices)
    duals = RankOneDuals(*duals)
    denominators = as_integers(duals.denominators, "denominators", shape=(None,), low=2, high=_LARGEST)
    shape = (len(denominators), vertices)
    numerators = as_integers(duals.numerators, "numerators", shape=shape, low=0)
    if (numerators >= denominators[:, None]).any():
        cut, vertex = np.argwhere(numerators >= denominators[:, None])[0]
        raise ArrayError(
            f"numerators: expected less than the denominator {denominators[cut]}, "
            f"got {numerators[cut, vertex]} at [{cut}, {vertex}]"
        )
    memory = as_booleans(duals.memory, "memory", shape=shape) | (numerators > 0)
    penalties = as_floats(duals.penalties, "penalties", shape=denominators.shape, low=0.0)
    word, shift = np.zeros_like(denominators), np.zeros_like(denominators)
    used, words = 64, 0
    for cut, bits in enumerate(denominators - 1):
        if used + bits > 64:
            used, words = 0, words + 1
        word[cut], shift[cut] = words - 1, used
        used += int(bits)
    keep = np.zeros((vertices, words), dtype=np.uint64)
    owner = np.zeros(64 * words, dtype=np.int64)
    for cut, bits in enumerate(denominators - 1):
        keep[memory[cut], word[cut]] |= np.uint64(((1 << int(bits)) - 1) << int(shift[cut]))
        begin = 64 * word[cut] + shift[cut]
        owner[begin : begin + bits] = cut
    member_vertex, member_cut = np.nonzero(numerators.T)
    return Fields(
        keep,
        np.searchsorted(member_vertex, np.arange(vertices + 1)).astype(np.int64),
        member_cut.astype(np.int64),
        np.ascontiguousarray(numerators.T[member_vertex, member_cut]),
        word,
        shift,
        denominators,
        penalties,
        owner,
    )


@cache
def _no_fields(vertices: int) -> Fields:
    """Return the fields without cuts; cached, as most networks are priced often without any."""
    none = np.zeros((0, vertices), dtype=np.int64)
    return fields(RankOneDuals(none, none[:, 0], none.astype(bool), none[:, 0].astype(float)), vertices)


def coefficients(duals: RankOneDuals, starts: Ints, vertices: Ints, *, full: bool = False) -> Ints:
    """Return coefficients by route and cut under limited memory; ``full``: with unlimited memory."""
    numerators = np.asarray(duals.numerators, dtype=np.int64)
    divisors = np.asarray(duals.denominators, dtype=np.int64)
    memory = np.ones_like(numerators, dtype=bool) if full else np.asarray(duals.memory, dtype=bool) | (numerators > 0)
    return counts_along(starts, vertices, np.where(memory, numerators, -1), divisors)

r"""Sums of products of arc variables, Σ_c φ_c Π_{e in c} z_e, bounded from both sides by functions linear in z.

A product of zero-one variables is their least value, and for p in the probability simplex over the arcs of c

    φ_c ≥ 0:   φ_c z_c ≤ Σ_e φ_c p_e z_e =: g_c(p, z),
    φ_c < 0:   φ_c z_c ≤ p_1 φ_c (Σ_e z_e - (r_c - 1)) =: h_c(p, z),   0 ≤ p_1 ≤ 1,

with equality for the best p.  Their sum is ψ; exchanging the roles of g and h gives the lower bound π ≤ φ.

A factor takes the numbers ``start[c], ..., start[c + 1] - 1`` of two arrays: its arcs (head · N + modifier, all
different), and p, of which a factor bounded by h uses the first number alone.

Source: X. Qian, Y. Liu, *Branch and bound algorithm for dependency parsing with non-local features*, TACL 1 (2013).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.linear.simplex_projection import project_in_place
from colgen.solvers.trees.eisner_items import NEG

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_IMPOSSIBLE = 0.5 * NEG


@njit(cache=True)
def start_at(start: Ints, score: Floats, p: Floats) -> None:
    """The uniform start: equal shares of positive scores, and nothing of negative ones."""
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        p[first:end] = 1.0 / (end - first) if score[c] >= 0.0 else 0.0


@njit(cache=True)
def project_shares(start: Ints, score: Floats, p: Floats) -> None:
    """Make any numbers p ones that bound products: shares that add up to one or more, and for h one between 0 and 1."""
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        if score[c] < 0.0:
            p[first] = min(max(p[first], 0.0), 1.0)
            continue
        total = 0.0
        for k in range(first, end):
            p[k] = max(p[k], 0.0)
            total += p[k]
        if total < 1.0:
            for k in range(first, end):
                p[k] += (1.0 - total) / (end - first)


@njit(cache=True)
def tilt(start: Ints, arcs: Ints, score: Floats, p: Floats, lower: bool, total: Floats) -> float:
    """Add the factors' linear bounds to arc scores, shape (N²,); what is left over is a constant, returned.

    ``lower``: the bound from below instead of the one from above.
    """
    constant = 0.0
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        if (score[c] >= 0.0) != lower:
            for k in range(first, end):
                total[arcs[k]] += score[c] * p[k]
        elif p[first] > 0.0:
            share = p[first] * score[c]
            for k in range(first, end):
                total[arcs[k]] += share
            constant -= share * (end - first - 1)
    return constant


@njit(cache=True)
def grouped_tilt(start: Ints, arcs: Ints, score: Floats, p: Floats, total: Floats) -> float:
    """:func:`tilt` from above, but an arc gets no more than what products that can be together in a tree give it.

    Products of two arcs, an arc e and one of several arcs f to the same word, exclude each other, so that e needs the
    largest of their shares alone: Σ_f φ_ef p_ef z_e z_f ≤ max_f φ_ef p_ef z_e.  This is made use of for siblings and
    grandchildren; a second product of the same two arcs is added, as all others are.
    """
    size = int(math.sqrt(len(total)))
    largest = np.zeros(size * len(total))  # by arc, and by the word that the other arc leads to
    seen = np.zeros((2, size * len(total)), np.bool_)  # siblings and grandchildren, by one arc and the other's word
    constant = 0.0
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        if score[c] >= 0.0:
            alone = True
            if end - first == 2:
                a, b = arcs[first], arcs[first + 1]
                head_a, head_b = a // size, b // size
                word_a, word_b = a - head_a * size, b - head_b * size
                kind, upper, word = -1, a, word_b
                if head_a == head_b:
                    kind = 0
                    if b < a:
                        upper, word = b, word_a
                elif head_b == word_a:
                    kind = 1
                elif head_a == word_b:
                    kind, upper, word = 1, b, word_a
                if kind >= 0 and not seen[kind, upper * size + word]:
                    seen[kind, upper * size + word] = True
                    alone = False
                    for k in range(2):
                        given = score[c] * p[first + k]
                        place = (a * size + word_b) if k == 0 else (b * size + word_a)
                        if given > largest[place]:
                            total[arcs[first + k]] += given - largest[place]
                            largest[place] = given
            if alone:
                for k in range(first, end):
                    total[arcs[k]] += score[c] * p[k]
        elif p[first] > 0.0:
            share = p[first] * score[c]
            for k in range(first, end):
                total[arcs[k]] += share
            constant -= share * (end - first - 1)
    return constant


@njit(cache=True, no_cpython_wrapper=True)
def members(heads: Ints) -> Bools:
    """Which arcs a tree has, by head · N + modifier, shape (N²,)."""
    size = len(heads)
    has = np.zeros(size * size, np.bool_)
    for m in range(1, size):
        if heads[m] >= 0:
            has[heads[m] * size + m] = True
    return has


@njit(cache=True)
def gaps(start: Ints, arcs: Ints, score: Floats, p: Floats, heads: Ints, gap: Floats) -> float:
    """Write how much of ψ - φ each factor is to blame for at a tree; their sum."""
    has = members(heads)
    total = 0.0
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        held, shares = 0, 0.0
        for k in range(first, end):
            if has[arcs[k]]:
                held += 1
                shares += p[k]
        if score[c] >= 0.0:
            gap[c] = 0.0 if held == end - first else score[c] * shares
        else:
            gap[c] = score[c] * (p[first] * (held - (end - first - 1)) - (1.0 if held == end - first else 0.0))
        total += gap[c]
    return total


@njit(cache=True, no_cpython_wrapper=True)
def _holds(arcs: Ints, first: int, end: int, has: Bools) -> bool:
    """Whether a tree has these arcs."""
    held = True
    for k in range(first, end):
        held &= has[arcs[k]]
        if not held:
            break
    return held


@njit(cache=True)
def value(start: Ints, arcs: Ints, score: Floats, heads: Ints) -> float:
    """Σ_c φ_c z_c of a tree."""
    has, total = members(heads), 0.0
    for c in range(len(score)):
        if _holds(arcs, start[c], start[c + 1], has):
            total += score[c]
    return total


@njit(cache=True)
def loss(start: Ints, arcs: Ints, score: Floats, heads: Ints) -> float:
    """What a tree lacks against all positive scores and no negative one: Σ_c max(φ_c, 0) - Σ_c φ_c z_c."""
    has, total = members(heads), 0.0
    for c in range(len(score)):
        if _holds(arcs, start[c], start[c + 1], has) != (score[c] >= 0.0):
            total += abs(score[c])
    return total


@njit(cache=True)
def tighten_below(start: Ints, arcs: Ints, score: Floats, p: Floats, heads: Ints) -> None:
    """Choose p such that π = φ at a tree."""
    size = len(heads)
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        missing = -1
        for k in range(first, end):
            if heads[arcs[k] % size] != arcs[k] // size:
                missing = k
        p[first:end] = 0.0
        if score[c] >= 0.0:
            p[first] = 1.0 if missing < 0 else 0.0
        else:
            p[missing if missing >= 0 else first] = 1.0


@njit(cache=True)
def slope(start: Ints, arcs: Ints, score: Floats, p: Floats, heads: Ints, scaled: bool) -> float:
    """Squared norm of ∂ψ/∂p at a tree, along the directions in which p can move.

    ``scaled``: with respect to the shares |φ_c| p instead of p itself.
    """
    has, total = members(heads), 0.0
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        held, movable = 0, 0
        for k in range(first, end):
            if has[arcs[k]]:
                held += 1
                if p[k] > 0.0:
                    movable += 1
        unit = 1.0 if scaled else score[c] * score[c]
        missing = end - first - held
        if score[c] >= 0.0:
            if missing > 0 and movable > 0:
                total += unit * movable * missing / (movable + missing)
        else:
            excess = 1 - missing
            if (excess > 0 and p[first] < 1.0) or (excess < 0 and p[first] > 0.0):
                total += unit * excess * excess
    return total


@njit(cache=True)
def descend(start: Ints, arcs: Ints, score: Floats, p: Floats, heads: Ints, step: float, scaled: bool) -> None:
    """A projected subgradient step at a tree that is best for p: p moves against ∂ψ/∂p."""
    has = members(heads)
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        held = 0
        for k in range(first, end):
            if has[arcs[k]]:
                held += 1
        if score[c] == 0.0:
            continue
        length = step / abs(score[c]) if scaled else step * abs(score[c])
        missing = end - first - held
        if score[c] >= 0.0:
            if held > 0 and missing > 0:
                for k in range(first, end):
                    if has[arcs[k]]:
                        p[k] -= length
                project_in_place(p[first:end])
        else:
            p[first] = min(max(p[first] + length * (1 - missing), 0.0), 1.0)


@njit(cache=True)
def absorb(start: Ints, arcs: Ints, score: Floats, p: Floats, room: Floats) -> None:
    """Move shares of positive scores to the arcs that have most room for them.

    Parameters
    ----------
    room
        By how much the score of each arc may rise, shape (N²,); overwritten by what is left.
    """
    for c in range(len(score)):
        if score[c] <= 0.0:
            continue
        first, end = start[c], start[c + 1]
        most = first
        for k in range(first, end):
            if room[arcs[k]] > room[arcs[most]]:
                most = k
        for k in range(first, end):
            if k != most and p[k] > 0.0 and room[arcs[most]] > room[arcs[k]]:
                moved = min(score[c] * p[k], 0.5 * (room[arcs[most]] - room[arcs[k]]))
                p[k] = max(p[k] - moved / score[c], 0.0)
                p[most] += moved / score[c]
                room[arcs[most]] -= moved
                room[arcs[k]] += moved


@njit(cache=True)
def simplify(
    start: Ints, arcs: Ints, score: Floats, p: Floats, number: Ints, count: int, arc: Floats
) -> tuple[int, float]:
    """Drop factors with an impossible arc, and arcs that every tree holds from the others; in place.

    Parameters
    ----------
    start, arcs, score, p, number
        The first ``count`` factors, and what each is called; overwritten.
    arc
        Shape (N, N), ``NEG`` where impossible; factors of one arc are added to it.

    Returns
    -------
    count, constant
        How many factors are left, and the sum of the scores of those that every tree holds.
    """
    size = len(arc)
    state = np.zeros(size * size, np.int8)  # 0 of an impossible arc, 1 of a word's only one, 2 of others
    for m in range(1, size):
        choices = 0
        for h in range(size):
            if arc[h, m] > _IMPOSSIBLE:
                choices += 1
        for h in range(size):
            if arc[h, m] > _IMPOSSIBLE:
                state[h * size + m] = 1 if choices == 1 else 2
    kept, end_kept, constant = 0, 0, 0.0
    begin = start[0]
    for c in range(count):
        end = start[c + 1]
        possible = score[c] != 0.0
        for k in range(begin, end):
            if state[arcs[k]] == 0:
                possible = False
                break
        if possible:
            first, shares, share = end_kept, 0.0, p[begin]
            for k in range(begin, end):
                if state[arcs[k]] == 2:
                    arcs[end_kept], p[end_kept] = arcs[k], p[k]
                    shares += p[k]
                    end_kept += 1
            if end_kept == first:
                constant += score[c]
            elif end_kept == first + 1:
                arc[arcs[first] // size, arcs[first] % size] += score[c]
                end_kept = first
            else:
                if score[c] < 0.0:
                    p[first] = share
                elif shares > 0.0:
                    for k in range(first, end_kept):
                        p[k] /= shares
                else:
                    p[first:end_kept] = 1.0 / (end_kept - first)
                score[kept], number[kept] = score[c], number[c]
                kept += 1
                start[kept] = end_kept
        begin = end
    return kept, constant

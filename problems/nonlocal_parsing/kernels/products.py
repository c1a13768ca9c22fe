r"""Sums of products of arc variables, Σ_c φ_c Π_{e in c} z_e, with linear upper and lower bounds.

A product of binary variables is their minimum. For p in the probability simplex over the arcs of c,

    φ_c ≥ 0:   φ_c z_c ≤ Σ_e φ_c p_e z_e =: g_c(p, z),
    φ_c < 0:   φ_c z_c ≤ p_1 φ_c (Σ_e z_e - (r_c - 1)) =: h_c(p, z),   0 ≤ p_1 ≤ 1,

with equality for the best p. Their sum is ψ; exchanging g and h gives the lower bound π ≤ φ.

Factor c uses the positions ``start[c], ..., start[c + 1] - 1`` of two arrays: its arcs (head · N + modifier, all
different), and p. A factor bounded by h uses the first entry of p only.

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
    """Write the uniform start: equal shares of positive scores, zero for negative ones."""
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        p[first:end] = 1.0 / (end - first) if score[c] >= 0.0 else 0.0


@njit(cache=True)
def project_shares(start: Ints, score: Floats, p: Floats) -> None:
    """Make p valid: non-negative shares that sum to at least 1, and a number between 0 and 1 for h."""
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
    """Add the factors' linear bounds to arc scores, shape (N²,), and return the remaining constant.

    ``lower`` selects the lower bound instead of the upper.
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
    """Add upper bounds as :func:`tilt` does, but count products that exclude each other only once per arc.

    Consider products of an arc e with one of several arcs f to the same word. They exclude each other, so e needs only
    the largest of their shares: Σ_f φ_ef p_ef z_e z_f ≤ max_f φ_ef p_ef z_e. This is used for siblings and
    grandchildren. A second product of the same two arcs is added normally.
    """
    size = int(math.sqrt(len(total)))
    largest = np.zeros(size * len(total))  # by arc, and by the word of the other arc
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
    """Return whether each arc, head · N + modifier, is in a tree, shape (N²,)."""
    size = len(heads)
    has = np.zeros(size * size, np.bool_)
    for m in range(1, size):
        if heads[m] >= 0:
            has[heads[m] * size + m] = True
    return has


@njit(cache=True)
def gaps(start: Ints, arcs: Ints, score: Floats, p: Floats, heads: Ints, gap: Floats) -> float:
    """Write each factor's contribution to ψ - φ at a tree; return their sum."""
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
    """Return whether a tree has these arcs."""
    held = True
    for k in range(first, end):
        held &= has[arcs[k]]
        if not held:
            break
    return held


@njit(cache=True)
def value(start: Ints, arcs: Ints, score: Floats, heads: Ints) -> float:
    """Return Σ_c φ_c z_c of a tree."""
    has, total = members(heads), 0.0
    for c in range(len(score)):
        if _holds(arcs, start[c], start[c + 1], has):
            total += score[c]
    return total


@njit(cache=True)
def loss(start: Ints, arcs: Ints, score: Floats, heads: Ints) -> float:
    """Return the loss of a tree relative to all positive and no negative scores: Σ_c max(φ_c, 0) - Σ_c φ_c z_c."""
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
    """Return the squared norm of ∂ψ/∂p at a tree, along the directions in which p can move.

    With ``scaled``, the derivative is with respect to the shares |φ_c| p.
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
    """Take a projected subgradient step at a best tree for p: p moves against ∂ψ/∂p."""
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
def absorb(start: Ints, arcs: Ints, score: Floats, p: Floats, slack: Floats) -> None:
    """Move shares of positive scores to the arcs with the largest slack.

    ``slack`` is the amount by which each arc score may rise, shape (N²,); it is reduced by the moves.
    """
    for c in range(len(score)):
        if score[c] <= 0.0:
            continue
        first, end = start[c], start[c + 1]
        most = first
        for k in range(first, end):
            if slack[arcs[k]] > slack[arcs[most]]:
                most = k
        for k in range(first, end):
            if k != most and p[k] > 0.0 and slack[arcs[most]] > slack[arcs[k]]:
                moved = min(score[c] * p[k], 0.5 * (slack[arcs[most]] - slack[arcs[k]]))
                p[k] = max(p[k] - moved / score[c], 0.0)
                p[most] += moved / score[c]
                slack[arcs[most]] -= moved
                slack[arcs[k]] += moved


@njit(cache=True)
def simplify(
    start: Ints, arcs: Ints, score: Floats, p: Floats, number: Ints, count: int, arc: Floats
) -> tuple[int, float]:
    """Drop factors with an impossible arc, and remove arcs that every tree has from the others, in place.

    The arrays hold the first ``count`` factors with their numbers. ``arc`` has shape (N, N), ``NEG`` if impossible;
    factors of one arc are added to it. Return the number of remaining factors, and the sum of the scores of factors
    that every tree has.
    """
    size = len(arc)
    state = np.zeros(size * size, np.int8)  # 0: impossible, 1: the word's only arc, 2: others
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

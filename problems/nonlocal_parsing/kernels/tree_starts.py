"""Shares p that cost no call of a backbone: products made tight where they are likely to be, or at a tree."""

from __future__ import annotations

from solvers.arrays import as_floats
from solvers.kernel_cache import njit
from solvers.tiers import tiered
from solvers.trees.eisner_items import Floats, Ints


def margins(arc: Floats) -> Floats:
    """How much less an arc scores than the best arc to its modifier, shape (N, N); zero for that one."""
    arc = as_floats(arc, "arc", shape=("n", "n"))
    margin: Floats = arc - arc.max(axis=0)
    return margin


@tiered
@njit(cache=True)
def likely_start(start: Ints, arcs: Ints, score: Floats, p: Floats, margin: Floats) -> None:
    """A start that costs no call: products are taken to be tight at the best head of each word.

    A positive score goes to the arc of least margin, or to equal shares if all of its arcs are best; a negative score
    is counted if all are.
    """
    size = len(margin)
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        least = first
        for k in range(first, end):
            if margin[arcs[k] // size, arcs[k] % size] < margin[arcs[least] // size, arcs[least] % size]:
                least = k
        all_best = margin[arcs[least] // size, arcs[least] % size] >= 0.0
        if score[c] < 0.0:
            p[first:end] = 0.0
            p[first] = 1.0 if all_best else 0.0
        elif all_best:
            p[first:end] = 1.0 / (end - first)
        else:
            p[first:end] = 0.0
            p[least] = 1.0


@tiered
@njit(cache=True)
def snap(start: Ints, arcs: Ints, score: Floats, p: Floats, margin: Floats, heads: Ints) -> None:
    """Make every product tight at a tree: a positive score goes to the missing arc of least margin."""
    size = len(heads)
    for c in range(len(score)):
        first, end = start[c], start[c + 1]
        held, least = 0, -1
        for k in range(first, end):
            h, m = arcs[k] // size, arcs[k] % size
            if heads[m] == h:
                held += 1
            elif least < 0 or margin[h, m] < margin[arcs[least] // size, arcs[least] % size]:
                least = k
        if score[c] >= 0.0:
            if 0 < held < end - first:
                p[first:end] = 0.0
                p[least] = 1.0
        elif held == end - first:
            p[first] = 1.0
        elif held < end - first - 1:
            p[first] = 0.0

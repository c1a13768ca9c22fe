"""State of a descent on the combinatorial dual: dual values, arc weights, and known part scores.

Changing one dual value takes time O(n), and replacing a bound by a score O(1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.factored_scores import RELATIONS, Codes, WeightTable, empty_table
from colgen.problems.grandparent_parsing.kernels.token_bounds import TokenBounds, pair_bound
from colgen.solvers.arrays import as_floats
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Dual(NamedTuple):
    """State of a descent; all arrays are written to.

    Attributes
    ----------
    arcs
        Arc scores by *modifier and head*, -inf where there is no arc, shape (n + 1, n + 1).
    bounds, entering
        A part (g, p, c) scores at most ``bounds[p, c]`` and at most ``entering[p, g]``.
    refined, entered
        Which of these bounds cannot be improved.
    pi
        π by parent and child; equal to its bound for untouched pairs.
    scores
        Part scores by parent, child and grandparent: exact where ``known``, else an upper bound; valid for ``touched``
        pairs.
    known, touched
        Masks of shape (n + 1, n + 1, n + 1) and (n + 1, n + 1).
    pairs, used
        Touched pairs of parent and child, shape (n², 2), and their number, shape (1,).
    weights
        w by modifier and head.
    heads, best
        The tree that attains the current D(π), and the best tree so far, shape (n + 1,).
    best_pi
        π of the best bound.
    """

    arcs: Floats
    bounds: Floats
    entering: Floats
    refined: Mask
    entered: Mask
    pi: Floats
    scores: Floats
    known: Mask
    touched: Mask
    pairs: Ints
    used: Ints
    weights: Floats
    heads: Ints
    best: Ints
    best_pi: Floats


class Source(NamedTuple):
    """Source of scores and bounds of a sentence's parts inside kernels.

    ``codes`` and ``grandparents``: see :mod:`colgen.problems.dependency.features.factored_scores`.  ``parent_child``
    and ``grandparent_parent`` are bound tables of pairs of tokens, ``tokens`` and ``entering`` their bounds by single
    tokens.
    """

    codes: Codes
    grandparents: WeightTable
    parent_child: WeightTable
    grandparent_parent: WeightTable
    tokens: TokenBounds
    entering: TokenBounds


_NOTHING = TokenBounds(*np.zeros((2, 1, 4), dtype=np.int64), *np.zeros((2, 1), dtype=np.float32))
_TABLE = empty_table(np.zeros((1, 3), np.int64), np.ones(1, np.int64), weights=1, relations=RELATIONS, capacity=2)
NO_SOURCE = Source(
    np.zeros((1, 1), dtype=np.int32),
    _TABLE,
    _TABLE,
    _TABLE,
    _NOTHING,
    _NOTHING,
)


@njit(cache=True)
def begin(arcs, bounds, entering, given):  # type: ignore[no-untyped-def]
    """Return an initial state without scored parts; ``given``: the bounds cannot be improved."""
    size = arcs.shape[0]
    pi = bounds.copy()
    pi[0] = 0.0  # modifiers of the root have no grandparent
    by_modifier = arcs.T.copy()
    weights = by_modifier.copy()
    for m in range(1, size):
        for h in range(1, size):
            weights[m, h] += pi[h, m]
    return Dual(
        by_modifier,
        pi.copy(),
        entering.T.copy(),
        np.full((size, size), given),
        np.full((size, size), given),
        pi,
        np.empty((size, size, size)),  # untouched pages use no memory
        np.empty((size, size, size), dtype=np.bool_),
        np.zeros((size, size), dtype=np.bool_),
        np.empty((size * size, 2), dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        weights,
        np.full(size, -1),
        np.full(size, -1),
        pi.copy(),
    )


def start(arcs: Floats, bounds: Floats, entering: Floats) -> Dual:
    """Return an initial state without scored parts.

    ``arcs`` are given by head and modifier, -inf where there is no arc, in column 0 and on the diagonal.  ``bounds``
    are by parent and child, ``entering`` by grandparent and parent; all have shape (n + 1, n + 1).
    """
    arcs = as_floats(arcs, "arcs", shape=("n", "n"), minus_infinity=True)
    bounds = as_floats(bounds, "bounds", shape=arcs.shape)
    entering = as_floats(entering, "entering", shape=arcs.shape)
    copies = [np.array(given, dtype=np.float64, order="C") for given in (arcs, bounds, entering)]
    found: Dual = begin(copies[0], copies[1], copies[2], True)
    return found


# --- one dual value, one score ---------------------------------------------------------------------------------------


@inner
def touch(dual, p, c):  # type: ignore[no-untyped-def]
    """Initialise the bounds of a parent and child unless this was done before."""
    if dual.touched[p, c]:
        return
    dual.touched[p, c] = True
    dual.pairs[dual.used[0], 0], dual.pairs[dual.used[0], 1] = p, c
    dual.used[0] += 1
    size = dual.arcs.shape[0]
    most = dual.bounds[p, c]
    for g in range(size):
        bound = dual.entering[p, g]
        dual.scores[p, c, g] = bound if bound < most else most
        dual.known[p, c, g] = False


@inner
def move(dual, p, c, new):  # type: ignore[no-untyped-def]
    """Change the dual value of a touched pair, and all weights that depend on it."""
    old = dual.pi[p, c]
    dual.pi[p, c] = new
    dual.weights[c, p] += new - old
    scores, row = dual.scores[p, c], dual.weights[p]
    own = row[c]
    for g in range(row.shape[0]):
        before, after = scores[g] - old, scores[g] - new
        row[g] += (after if after > 0.0 else 0.0) - (before if before > 0.0 else 0.0)
    row[c] = own  # c is not its own grandparent


@inner
def set_score(dual, p, c, g, score):  # type: ignore[no-untyped-def]
    """Replace the bound on a part by its score."""
    before, after = dual.scores[p, c, g] - dual.pi[p, c], score - dual.pi[p, c]
    dual.weights[p, g] += max(after, 0.0) - max(before, 0.0)
    dual.scores[p, c, g] = score
    dual.known[p, c, g] = True


@njit(cache=True)
def supply(dual: Dual, triples: Ints, scores: Floats) -> None:
    """Store the scores of parts (g, p, c) that :func:`descend` requested, shape (parts, 3)."""
    for k in range(triples.shape[0]):
        g, p, c = triples[k]
        set_score(dual, p, c, g, scores[k])


@inner
def refine(dual, source, stale):  # type: ignore[no-untyped-def]
    """Improve the bounds of the current tree's arcs; return whether any changed.

    π decreases with its bound, at which no part can have a positive reduced cost.
    """
    found = False
    for c in range(1, dual.arcs.shape[0]):
        p = dual.heads[c]
        if p > 0 and not dual.refined[p, c]:
            dual.refined[p, c] = True
            better = pair_bound(source.codes, source.parent_child, p, c)
            dual.weights[c, p] += better - dual.pi[p, c]
            dual.bounds[p, c] = dual.pi[p, c] = better
            stale[c] = found = True
        if not dual.entered[c, p]:
            better = np.inf
            for k in range(dual.used[0]):
                if dual.pairs[k, 0] == c:
                    child = dual.pairs[k, 1]
                    bound, paid = dual.scores[c, child, p], dual.pi[c, child]
                    if child != p and not dual.known[c, child, p] and bound > paid:
                        if better == np.inf:
                            dual.entered[c, p] = True
                            better = pair_bound(source.codes, source.grandparent_parent, p, c)
                            dual.entering[c, p] = better
                        if better < bound:
                            dual.weights[c, p] += max(better - paid, 0.0) - (bound - paid)
                            dual.scores[c, child, p] = better
                            stale[c] = found = True
    return found

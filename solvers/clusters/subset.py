r"""Subsets of largest value: items have profits, and pairs of items have scores of any sign.

    max over subsets S    Σ_{i<j in S} w_ij + Σ_{i in S} c_i

This is unconstrained quadratic zero-one optimisation (boolean quadratic programming), which is NP-hard.  It is the
pricing problem of clustering.  Pricing also needs a bound on all *packings*, families of disjoint subsets, whose values
add up.  Let d_S(i) = Σ_{j in S} w_ij.  The exact search is fast because some packing of largest value has three
properties; without them it could be changed at no loss:

1.  d_S(i) + c_i ≥ 0 for every i in one of its subsets S: leaving i out of S loses exactly that.
2.  Each of its subsets is connected by positive scores: two parts with none between them can be two subsets.
3.  Each subset has one item that comes first in some order of the items: its *anchor*.  The subsets anchored at v,
    with the items before v excluded, are searched separately.  Let z_v be the best value among those that satisfy 1
    and 2.  Then the packing is worth at most Σ_v max(0, z_v).

The exact search is depth first over the items to include.  Let P be the included items, C the candidates and
g_j = c_j + d_P(j).  A node is worth at most

    value(P) + Σ_{j in C} max(0, g_j + Σ_{k in C} y_jk)    for any shares y_jk + y_kj = max(0, w_jk), y ≥ 0.

Equal shares are cheap and suffice for most searches.  A long search computes the best shares near its root.  They are a
maximum flow from items with a surplus, g_j + Σ_k y_jk > 0, to items without, with the shares as arc capacities.  A long
search also uses concave bounds (:mod:`colgen.solvers.clusters.concave`), which count negative scores.  They are better
where scores are dense and of both signs, shares where scores are sparse.  A bound that rarely closes a node is computed
rarely.

A candidate j with g_j + Σ_{k in C} max(0, w_jk) < 0 violates 1 in every subset, and is dropped.  If an included item
violates 1 in this way the node is closed.  Dropping one item may make others drop.  A node takes O(|C|) time for each
item that it drops or includes.  The number of nodes is exponential in the worst case.

Sources: P. Hansen, *Methods of nonlinear 0-1 programming*, Annals of Discrete Mathematics 5 (1979), for the bound.  P.
L. Hammer, P. Hansen, B. Simeone, *Roof duality, complementation and persistency in quadratic 0-1 optimization*,
Mathematical Programming 28 (1984), for the best shares as a flow.  A. Mehrotra and M. A. Trick, *Cliques and
clustering: a combinatorial approach*, Operations Research Letters 22 (1998), for the pricing problem.  B. W. Kernighan
and S. Lin, *An efficient heuristic procedure for partitioning graphs*, Bell System Technical Journal 49 (1970).  The
joint use of facts 1 to 3 is new in this module.  Tests check it by enumeration.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats
from colgen.solvers.clusters.subset_ascent import ascend
from colgen.solvers.clusters.subset_search import (
    NODES,
    ROUNDING,
    TINY,
    VISITS,
    Stack,
    anchored,
    begin,
    resume,
    unfinished,
)
from colgen.solvers.clusters.subset_tabu import tabu
from colgen.solvers.clusters.subsets import LEAST, Subsets, largest_of
from colgen.solvers.stopping import Expired, Pace, never

__all__ = ["SHORT", "Subsets", "anchored", "ascend", "promising", "search", "tabu"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHORT = 1 << 15
"""Searches with more nodes than this compute the best shares and concave bounds."""

_LEVELS = 40
"""Levels with at least this many included items inherit their shares, in a long search."""

_SHARING_CHUNK = 1 << 18
"""Nodes of a long search between two checks of ``enough``."""

_LOOK = 0.05
"""Seconds between two checks of the clock."""

_FIRST_LOOK = 1 << 18
"""Number of item visits before the first check of the clock."""


def search(
    scores: Floats,
    profits: Floats,
    *,
    least: float | None = None,
    enough: int | None = None,
    wanted: float = -np.inf,
    most: int | None = None,
    expired: Expired = never,
) -> Subsets:
    """Exact search: return the best subset of each anchor that has one worth more than ``least``.

    Parameters
    ----------
    scores : (n, n) array w, symmetric, zero diagonal
    profits : (n,) array c
    least : float, by default the possible size of rounding errors
        Subsets of at most this value are not sought; ``best`` and ``total`` account for them.
    enough : node limit once a subset worth more than ``wanted`` is found
    most : node limit in any case
    expired : checked several times per second; once True, the result so far is returned
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    profits = as_floats(profits, "profits", shape=(len(scores),))
    n, largest = len(profits), largest_of(scores, profits)
    if least is None:
        least = LEAST * largest
    members, values = np.zeros((n, n), dtype=np.bool_), np.full(n, least)
    left = np.flatnonzero(promising(scores, profits))
    # An anchor without a subset may still have one of value ``least``, or a better one hidden by rounding errors.
    allowance = len(left) * max(least, 1e-15 * n * largest)
    slack, tiny = -ROUNDING * largest, TINY * largest
    nodes, rest, ended = 0, 0.0, False
    short = 0, min(SHORT, enough or SHORT), False
    for levels, chunk, lasts in (short, (_LEVELS, _SHARING_CHUNK, True)):
        if ended or not len(left):
            break
        within = np.ix_(left, left)
        here = np.ascontiguousarray(scores[within])
        stack = begin(here, profits[left], values[left], levels)
        limit = 0
        while not ended:
            limit = min(limit + chunk, np.iinfo(np.int64).max if most is None else max(most - nodes, 1))
            done, over = _advance(here, stack, slack, tiny, limit, expired)
            spent = nodes + int(stack.place[NODES])
            found_enough = enough is not None and spent >= enough and bool((stack.values > max(least, wanted)).any())
            ended = over or found_enough or (most is not None and spent >= most)
            if done or not lasts:
                break
        nodes += int(stack.place[NODES])
        better = stack.values > values[left]
        values[left] = stack.values
        members[left[better]] = False  # the old row may contain an item that is finished by now
        members[np.ix_(left[better], left)] = stack.members[better]
        rest = float(stack.rest[0])
        left = left[unfinished(stack)]
    anchors = np.flatnonzero(values > least)
    chosen = anchors[np.argsort(-values[anchors], kind="stable")]
    best = max(least, float(values.max(initial=least)))
    total = float(values[chosen].sum()) + allowance
    if len(left):
        best, total = max(best, rest), total + rest
    return Subsets(members[chosen], values[chosen], best, total, nodes, not len(left))


def _advance(
    scores: Floats, stack: Stack, slack: float, tiny: float, limit: int, expired: Expired
) -> tuple[bool, bool]:
    """Search up to ``limit`` nodes.  Return whether the search is complete, and whether time is up."""
    pace = Pace(_FIRST_LOOK, _LOOK, least=_FIRST_LOOK // 16)
    while True:
        before = int(stack.place[VISITS])
        pace.start()
        if resume(scores, stack, slack, tiny, limit, before + int(pace.work)):
            return True, False
        pace.stop(int(stack.place[VISITS]) - before)
        if expired():
            return False, True
        if stack.place[NODES] >= limit:
            return False, False


def promising(scores: Floats, profits: Floats) -> Mask:
    """Return which items remain after dropping, repeatedly, those that violate fact 1 in every subset.

    Items without positive scores and without profit are dropped too.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    profits = as_floats(profits, "profits", shape=(len(scores),))
    slack = -ROUNDING * largest_of(scores, profits)
    left = np.ones(len(profits), dtype=np.bool_)
    attractions = np.maximum(scores, 0.0)
    while True:
        attraction = attractions[np.ix_(left, left)].sum(axis=1)
        here = (attraction + profits[left] >= slack) & ((attraction > 0.0) | (profits[left] > 0.0))
        if here.all():
            return left
        left[left] = here

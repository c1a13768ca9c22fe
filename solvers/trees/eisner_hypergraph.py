"""The derivations of a projective parser as a hypergraph whose unit flows are the trees.

Items are numbered, 0 for the goal.  Way w builds ``item[w]`` from ``first[w]`` and ``second[w]``, -1 for none.

Flows x ≥ 0 have Σ_{w builds the goal} x_w = 1, and every other item is built as often as it is used.  They have
integral vertices, one for each tree.

Source: R. K. Martin, R. L. Rardin, B. A. Campbell, *Polyhedral characterization of discrete dynamic programming*,
Operations Research 38, 1990.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from colgen.solvers.kernel_cache import njit
from colgen.solvers.trees import eisner_search as search
from colgen.solvers.trees.eisner import Parts, prepare
from colgen.solvers.trees.eisner_items import IMPOSSIBLE, Floats, Ints, Rest, allocate_ways, scores_of


@dataclass(frozen=True, eq=False)
class Hypergraph:
    """Ways to build items."""

    num_items: int  # number of items that occur in trees
    # item, first, second, score: shape (ways,); all arrays are empty if there is no tree
    item: Ints
    first: Ints
    second: Ints
    score: Floats
    arc: Ints  # (items,) array: ``head * N + modifier`` of the item's arc, or -1


def hypergraph(parts: Parts, *, allowed: ArrayLike | None = None, single_root: bool = True) -> Hypergraph:
    """Return the derivations of all trees of the allowed arcs."""
    arc, rest, chart = prepare(parts, allowed, single_root)
    if search.inside(arc, rest, chart, 1, parts.size) < IMPOSSIBLE:
        none = np.empty(0, dtype=np.int64)
        return Hypergraph(0, none, none, none, np.empty(0), none)
    ways, scores, arcs = _explore(arc, rest, chart)
    item, first, second = ways.T.copy()
    return Hypergraph(len(arcs), item, first, second, scores, arcs)


@njit(cache=True)
def _explore(
    arc: Floats,
    rest: Rest,
    chart: Floats,
) -> tuple[Ints, Floats, Ints]:
    scores_in, size = scores_of(arc, rest), len(arc)
    number, building = np.full(len(chart), -1), allocate_ways(size)
    queue = [search.goal(scores_in.order, size)]
    number[queue[0]] = 0
    ways = [(0, 0, 0)]
    scores = [0.0]
    arcs = [-1]
    ways.pop()
    scores.pop()
    at = 0
    while at < len(queue):
        count, h, m = search.expand(queue[at], scores_in, building)
        arcs[at] = h * size + m if m >= 0 else -1
        for k in range(count):
            score, a, b = building.score[k], building.first[k], building.second[k]
            if score < IMPOSSIBLE or (a >= 0 and chart[a] < IMPOSSIBLE) or (b >= 0 and chart[b] < IMPOSSIBLE):
                continue
            for child in (a, b):
                if child >= 0 and number[child] < 0:
                    number[child] = len(queue)
                    queue.append(child)
                    arcs.append(-1)
            ways.append((at, number[a] if a >= 0 else -1, number[b] if b >= 0 else -1))
            scores.append(score)
        at += 1
    rows = np.empty((len(ways), 3), np.int64)
    values = np.empty(len(ways))
    for k in range(len(ways)):
        rows[k, 0], rows[k, 1], rows[k, 2] = ways[k]
        values[k] = scores[k]
    return rows, values, np.array(arcs)

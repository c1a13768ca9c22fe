"""Lists of the best trees: neighbours of given trees, and all trees of few candidate arcs.

A list consists of heads, shape (k, n + 1), scores, shape (k,), best first, and the number of filled entries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.problems.grandparent_parsing.kernels.deadlines import STEPS, expired
from colgen.problems.grandparent_parsing.kernels.head_automata import Automata, tree_score
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import overwrite
from colgen.solvers.trees.arborescence import is_tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@njit(cache=True)
def is_wanted(heads, single_root, projective, mark):  # type: ignore[no-untyped-def]
    """Return whether heads form a tree, with a single root or projective if required; ``mark`` is workspace."""
    n = heads.shape[0] - 1
    roots = 0
    for m in range(1, n + 1):
        if heads[m] == 0:
            roots += 1
    if roots == 0 or (single_root and roots != 1) or not is_tree(heads, mark):
        return False
    if projective:  # words between a head and its modifier must have their heads in the same interval
        for m in range(1, n + 1):
            low, high = min(heads[m], m), max(heads[m], m)
            for k in range(low + 1, high):
                if heads[k] < low or heads[k] > high:
                    return False
    return True


@njit(cache=True, no_cpython_wrapper=True)
def keep(trees, scores, tried, count, heads, score):  # type: ignore[no-untyped-def]
    """Insert a tree if it is new and among the best k; return the number of trees.  ``tried`` moves with them."""
    k, size = trees.shape
    if count == k and score <= scores[k - 1]:
        return count
    for i in range(count):
        same = True
        for m in range(1, size):
            if trees[i, m] != heads[m]:
                same = False
                break
        if same:
            return count
    place = count if count < k else k - 1
    while place > 0 and scores[place - 1] < score:
        overwrite(trees[place], trees[place - 1])
        scores[place], tried[place] = scores[place - 1], tried[place - 1]
        place -= 1
    overwrite(trees[place], heads)
    scores[place], tried[place] = score, False
    return min(count + 1, k)


@njit(cache=True)
def list_near(a: Automata, trees: Ints, scores: Floats, count: int, single_root: bool, projective: bool) -> int:
    """Add trees that differ in one head from a tree in the list, until none is good enough; return the number of trees.

    It may stop early when time is up.
    """
    size = trees.shape[1]
    tried, mark = np.zeros(trees.shape[0], dtype=np.bool_), np.empty(size, dtype=np.int64)
    heads = np.empty(size, dtype=np.int64)
    steps, i = 0, 0
    while i < count:
        if tried[i]:
            i += 1
            continue
        tried[i] = True
        overwrite(heads, trees[i])
        for m in range(1, size):
            own = heads[m]
            for e in range(a.incoming[m], a.incoming[m + 1]):
                if a.heads[e] == own:
                    continue
                heads[m] = a.heads[e]
                steps += 20 * size
                if is_wanted(heads, single_root, projective, mark):
                    count = keep(trees, scores, tried, count, heads, tree_score(a, heads))
            heads[m] = own
        if steps > STEPS:
            steps = 0
            if expired():
                return count
        i = 0
    return count


@njit(cache=True)
def list_all(a: Automata, trees: Ints, scores: Floats, single_root: bool, projective: bool) -> int:
    """Enumerate the trees of few candidate arcs and keep the best; return the number of trees."""
    size = trees.shape[1]
    tried, mark = np.zeros(trees.shape[0], dtype=np.bool_), np.empty(size, dtype=np.int64)
    heads, choice = np.full(size, -1), a.incoming[:size] - 1
    count, m = 0, 1
    while m > 0:  # an odometer over the arcs of each modifier
        if m == size:
            if is_wanted(heads, single_root, projective, mark):
                count = keep(trees, scores, tried, count, heads, tree_score(a, heads))
            m -= 1
        elif choice[m] + 1 == a.incoming[m + 1]:
            choice[m] = a.incoming[m] - 1
            m -= 1
        else:
            choice[m] += 1
            heads[m] = a.heads[choice[m]]
            m += 1
    return count

"""The k best trees of an instance with pair scores, one branch and bound per tree."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from colgen import Termination, solve
from colgen.core.stop import StopRule, TimeLimit
from colgen.problems.dependency.pool import check_k
from colgen.problems.grandparent_parsing.instance import Floats, GrandparentInstance, Mask
from colgen.problems.grandparent_parsing.pairs import PairParsing
from colgen.problems.grandparent_parsing.parses import Parse, make_pair_parse
from colgen.solvers.trees.arborescence import arborescence

_ROUNDING = 1e-9
"""Rounding error of sums of scores, relative to their size."""


def best_with_pairs(
    instance: GrandparentInstance, k: int, *, single_root: bool | None = None, stop: StopRule | Sequence[StopRule] = ()
) -> list[Parse]:
    """Return the k best trees of an instance with pair scores; see :func:`parse`.

    Each set of trees on the heap is stored with its best tree.  When that tree is taken, the rest of the set is split
    by the first arc that differs: this arc is forbidden and the arcs before it are required (Lawler, 1972).  Subsets
    that arc bounds prove worse than other sets are solved later, if at all.
    """
    k = check_k(k, instance.arcs > -math.inf)
    rules: tuple[Any, ...] = (stop,) if callable(stop) else tuple(stop)
    others = [rule for rule in rules if not hasattr(rule, "seconds")]
    deadline = time.monotonic() + min((rule.seconds for rule in rules if hasattr(rule, "seconds")), default=math.inf)
    single = instance.single_root if single_root is None else single_root
    most = _most_with_pairs(instance)
    number = itertools.count()
    heap: list[tuple[float, int, Mask, int, Parse | None]] = [
        (-math.inf, next(number), instance.arcs > -math.inf, 1, None)
    ]
    found: list[Parse] = []
    ending = Termination.OPTIMAL
    while heap and len(found) < k and ending is Termination.OPTIMAL:
        worth, _, there, first, best = heapq.heappop(heap)
        if best is None:
            left = max(deadline - time.monotonic(), 0.0)
            limits = others if left == math.inf else [*others, TimeLimit(left)]
            part = replace(instance, arc_scores=np.where(there, instance.arcs, -np.inf))
            problem = PairParsing(part, single_root=single)
            best = make_pair_parse(problem, solve(problem, stop=limits))
            if best.is_optimal:
                heapq.heappush(heap, (-best.score, next(number), there, first, best))
            elif best.termination is not Termination.INFEASIBLE:
                ending = best.termination
                heapq.heappush(heap, (max(worth, -best.bound), next(number), there, first, best))
            continue
        found.append(best)
        assert best.heads is not None  # the parse is optimal
        there = there.copy()
        for m in range(first, len(instance) + 1):
            other = there.copy()
            other[best.heads[m - 1], m] = False
            bounded = arborescence(np.where(other, most, -np.inf), single_root=single)
            if bounded is not None:
                bound = min(best.score, bounded[1] + _ROUNDING * max(abs(bounded[1]), abs(best.score)))
                heapq.heappush(heap, (-bound, next(number), other, m, None))
            there[:, m] = False
            there[best.heads[m - 1], m] = True
    bound = -min((item[0] for item in heap), default=math.inf)
    rest = sorted((best for *_, best in heap if best is not None and best.heads is not None), key=lambda p: -p.score)
    if ending is not Termination.OPTIMAL:
        found += [replace(best, bound=max(bound, best.score), termination=ending) for best in rest[: k - len(found)]]
    return found


def _most_with_pairs(instance: GrandparentInstance) -> Floats:
    """Return upper bounds on the contribution of each arc, including the parts it closes and half of its pairs."""
    most: Floats = instance.arcs + instance.head_modifier_bounds + np.maximum(instance.head_sibling_bounds, 0.0)
    most[1:] += instance.parent_child_bounds[1:]
    assert instance.pair_scores is not None
    gains = np.maximum(instance.pair_scores, 0.0)
    most += 0.5 * (gains.sum(axis=1) + gains.sum(axis=2))
    return most

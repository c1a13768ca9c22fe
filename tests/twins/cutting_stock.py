"""Brute force for tiny instances: all patterns, all cutting plans."""

import itertools
from functools import cache

from colgen.problems.cutting_stock import CuttingStockInstance

# (instance, optimum): the optimum is one roll more than the rounded-up relaxation.
NON_IRUP = [
    (CuttingStockInstance(132, (44, 33, 12), (5, 7, 17)), 6),
    (CuttingStockInstance(520, (104, 65, 40), (6, 15, 25)), 6),
    (CuttingStockInstance(420, (140, 105, 84, 60), (4, 7, 6, 12)), 7),
]


def patterns(instance):
    """Yield every non-empty pattern as (item, copies) pairs in the order of items."""
    most = [range(min(d, instance.roll // w) + 1) for w, d in zip(instance.widths, instance.demands, strict=True)]
    for copies in itertools.product(*most):
        if any(copies) and sum(w * c for w, c in zip(instance.widths, copies, strict=True)) <= instance.roll:
            yield tuple((item, c) for item, c in enumerate(copies) if c)


def optimum(instance):
    """Return the minimum number of rolls."""
    every = list(patterns(instance))

    @cache
    def rolls(left):
        if not any(left):
            return 0
        first = next(item for item, count in enumerate(left) if count)
        best = sum(left)
        for pattern in every:
            cut = dict(pattern)
            if first in cut:  # some roll cuts the first remaining item
                best = min(best, 1 + rolls(tuple(max(n - cut.get(item, 0), 0) for item, n in enumerate(left))))
        return best

    return rolls(instance.demands)


def plans(instance, rolls):
    """Yield every multiset of ``rolls`` patterns that covers the demands."""
    for plan in itertools.combinations_with_replacement(list(patterns(instance)), rolls):
        cut = [0] * instance.num_items
        for pattern in plan:
            for item, copies in pattern:
                cut[item] += copies
        if all(c >= d for c, d in zip(cut, instance.demands, strict=True)):
            yield plan


def tiny(rng, items=4, roll=12, demand=3):
    """Draw an instance that brute force can solve."""
    count = int(rng.integers(1, items + 1))
    capacity = int(rng.integers(4, roll + 1))
    widths = rng.integers(1, capacity + 1, count)
    return CuttingStockInstance(capacity, tuple(widths.tolist()), tuple(rng.integers(1, demand + 1, count).tolist()))

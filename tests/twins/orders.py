"""Brute force for several roll widths, conflicts and few patterns: all patterns of all rolls, all plans."""

import itertools
import math
from fractions import Fraction
from functools import cache


def fitting(instance, room):
    """Yield all patterns without conflicts that fit into a width, as copies by item, at most the demands."""
    pairs = set(instance.conflicts)
    ranges = [range(min(d, room // w) + 1) for w, d in zip(instance.widths, instance.demands, strict=True)]
    for copies in itertools.product(*ranges):
        if not any(copies) or sum(w * c for w, c in zip(instance.widths, copies, strict=True)) > room:
            continue
        if any(copies[i] and copies[j] and (i != j or copies[i] > 1) for i, j in pairs):
            continue
        yield copies


def cheapest(instance):
    """Return the optimal cost, or None if infeasible."""
    return fewest_rolls_by_patterns(instance) if instance.patterns is not None else cheapest_plan(instance)


def cheapest_plan(instance):
    """Search over remaining demands; the next roll contains the first remaining item."""
    stock = instance.rolls
    kinds = range(len(stock.widths))
    patterns = [list(fitting(instance, width)) for width in stock.widths]
    pieces = sum(instance.demands)

    @cache
    def cost(left, supplies):
        first = next((i for i, n in enumerate(left) if n), None)
        if first is None:
            return Fraction(0)
        best = math.inf
        for k in kinds:
            if not supplies[k]:
                continue
            fewer = (*supplies[:k], supplies[k] - 1, *supplies[k + 1 :])
            for pattern in patterns[k]:
                if pattern[first]:
                    after = tuple(max(n - c, 0) for n, c in zip(left, pattern, strict=True))
                    best = min(best, Fraction(stock.costs[k]) + cost(after, fewer))
        return best

    optimum = cost(instance.demands, tuple(int(min(limit, pieces)) for limit in stock.limits))
    return None if optimum == math.inf else float(optimum)


def fewest_rolls_by_patterns(instance):
    """Enumerate sets of maximal patterns with all numbers of rolls; return the fewest rolls."""
    most = max(instance.demands)
    every = list(fitting(instance, instance.roll))
    maximal = [p for p in every if not any(p != q and all(a <= b for a, b in zip(p, q, strict=True)) for q in every)]
    best = None
    for chosen in itertools.combinations(maximal, min(instance.patterns, len(maximal))):
        for numbers in itertools.product(range(most + 1), repeat=len(chosen)):
            if best is not None and sum(numbers) >= best:
                continue
            cut = [sum(n * p[i] for n, p in zip(numbers, chosen, strict=True)) for i in range(instance.num_items)]
            if all(c >= d for c, d in zip(cut, instance.demands, strict=True)):
                best = sum(numbers)
    return best

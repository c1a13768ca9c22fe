"""Plans of few patterns: constructed pattern by pattern, then partly rebuilt."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern
from colgen.solvers.packing.knapsack import bounded_knapsack

Plan: TypeAlias = list[tuple[Pattern, int]]

_TRIED = 6
"""Numbers of rolls that are tried for the next pattern."""

_REBUILT = (2, 2, 3)
"""Numbers of patterns that are replaced at a time."""


def improve_plans(
    instance: CuttingStockInstance, most: int, rounds: int, over: Callable[[], bool], seed: int = 0
) -> list[Plan]:
    """Return plans with at most the given number of patterns, each better than the one before; perhaps none.

    The first plan has one pattern for each group of items, or is built.  In each round some patterns of the last plan
    are removed, and their pieces are planned again.
    """
    rng = np.random.default_rng(seed)
    plan = group_items(instance, instance.demands, most)
    found: list[Plan] = [] if plan is None else [plan]
    for number in range(rounds):
        if over():
            break
        if plan is None or number % 4 == 0:
            other = _build(instance, list(instance.demands), most, rng)
        else:
            count = min(int(rng.choice(_REBUILT)), len(plan))
            out = set(rng.choice(len(plan), count, replace=False).tolist())
            kept = [use for k, use in enumerate(plan) if k not in out]
            left = list(instance.demands)
            for pattern, rolls in kept:
                for item, copies in pattern:
                    left[item] = max(left[item] - copies * rolls, 0)
            rebuilt = _build(instance, left, most - len(kept), rng)
            other = None if rebuilt is None else kept + rebuilt
        if other is None:
            continue
        if plan is None or _cost(other) <= _cost(plan):
            if plan is None or _cost(other) < _cost(plan):
                found.append(other)
            plan = other
    return found


def _cost(plan: Plan) -> int:
    return sum(rolls for _, rolls in plan)


def _build(instance: CuttingStockInstance, left: list[int], most: int, rng: np.random.Generator) -> Plan | None:
    """Return a plan for the remaining demands, built from patterns with little waste for their numbers of rolls."""
    widths, roll, plan = np.array(instance.widths), instance.roll, Plan()
    dear, closing = float(rng.choice([1.0, 2.0, 4.0, 8.0])), 1.0 + 0.3 * rng.random()
    while any(left):
        if len(plan) == most:
            return None
        patterns = most - len(plan)
        last = group_items(instance, left, patterns)
        if patterns == 1:
            return None if last is None else plan + last
        material = float(widths @ np.array(left)) / roll
        numbers = {max(1, round(material / patterns * float(f))) for f in rng.uniform(0.3, 2.5, _TRIED)}
        best: tuple[float, Pattern, int] | None = None
        for n in sorted(numbers):
            pattern = _fill(instance, left, n, closing)
            cut = sum(instance.widths[i] * min(copies * n, left[i]) for i, copies in pattern)
            worth = cut - dear * (n * roll - cut)
            rest = [max(count - dict(pattern).get(i, 0) * n, 0) for i, count in enumerate(left)]
            better = best is None or worth > best[0]
            if better and group_items(instance, rest, patterns - 1, improve=False) is not None:
                best = worth, pattern, n
        if best is None:
            return None if last is None else plan + last
        _, pattern, n = best
        plan.append((pattern, n))
        for i, copies in pattern:
            left[i] = max(left[i] - copies * n, 0)
        if last is not None and patterns == 2:
            ending = group_items(instance, left, 1)
            if ending is None or _cost(ending) + n > _cost(last):
                return plan[:-1] + last
    return plan


def _fill(instance: CuttingStockInstance, left: Sequence[int], n: int, closing: float) -> Pattern:
    """Return the pattern for n rolls that cuts the most material, with a bonus for pieces that complete an item."""
    items = [i for i, count in enumerate(left) if count]
    each = [(i, left[i] // n, n) for i in items] + [(i, 1, left[i] % n) for i in items]
    each = [entry for entry in each if entry[1] and entry[2]]
    _, packing = bounded_knapsack(
        [instance.widths[i] * adds * (closing if adds < n or left[i] == n else 1.0) for i, _, adds in each],
        [instance.widths[i] for i, _, _ in each],
        [copies for _, copies, _ in each],
        instance.roll,
    )
    cut: dict[int, int] = {}
    for (i, _, _), copies in zip(each, packing.tolist(), strict=True):
        if copies:
            cut[i] = cut.get(i, 0) + copies
    return tuple(cut.items())


# --- each item in one pattern ----------------------------------------------------------------------------------------


def group_items(
    instance: CuttingStockInstance, demands: Sequence[int], most: int, *, improve: bool = True
) -> Plan | None:
    """Return a plan in which each item has one pattern: groups of items, improved by moves and exchanges.

    Return None if first fit finds no such groups, at most ``most``, that each fit onto a roll with one piece per item.
    """
    widths, roll = instance.widths, instance.roll
    groups: list[list[int]] = []
    for item in sorted((i for i, count in enumerate(demands) if count), key=lambda i: -widths[i]):
        fitting = [g for g in groups if sum(widths[i] for i in g) + widths[item] <= roll]
        if len(groups) < most:  # use as many patterns as allowed
            groups.append([item])
        elif fitting:
            min(fitting, key=lambda g: sum(widths[i] for i in g)).append(item)
        else:
            return None
    costs = [_rolls(instance, demands, group) for group in groups]
    moving = improve
    while moving:
        moving = False
        for a in range(len(groups)):
            for b in range(len(groups)):
                for i in list(groups[a]):
                    for j in [None, *groups[b]] if a != b and i in groups[a] else []:
                        one = [k for k in groups[a] if k != i] + ([] if j is None else [j])
                        other = [k for k in groups[b] if k != j] + [i]
                        now = _rolls(instance, demands, one), _rolls(instance, demands, other)
                        if sum(now) < costs[a] + costs[b]:
                            groups[a], groups[b] = one, other
                            costs[a], costs[b] = now
                            moving = True
                            break
    return [
        (tuple((i, -(-demands[i] // round(n))) for i in group), round(n))
        for group, n in zip(groups, costs, strict=True)
        if group
    ]


def _rolls(instance: CuttingStockInstance, demands: Sequence[int], group: Sequence[int]) -> float:
    """Return the least number of rolls of one pattern that meets the demands of a group; infinite if none does."""
    widths, roll = instance.widths, instance.roll
    if not group:
        return 0.0
    if sum(widths[i] for i in group) > roll:
        return math.inf
    low, high = 1, max(demands[i] for i in group)
    while low < high:  # more rolls need fewer pieces each
        middle = (low + high) // 2
        if sum(-(-demands[i] // middle) * widths[i] for i in group) <= roll:
            high = middle
        else:
            low = middle + 1
    return float(low)

"""What column generation is compared with: packing heuristics, and the complete models in HiGHS."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from colgen import solve_complete
from problems.cutting_stock.instance import Instance, Pattern
from problems.cutting_stock.model import full
from solvers.lp import MIPSolution


def first_fit_decreasing(instance: Instance) -> list[tuple[Pattern, int]]:
    """Every piece, widest first, goes into the first roll that has room.

    That fills roll after roll with the widest pieces that still fit, so a filled roll repeats while the demands last.
    """
    order = sorted(range(instance.num_items), key=lambda item: -instance.widths[item])
    narrowing = [-instance.widths[item] for item in order]  # increasing, for bisection
    left = list(instance.demands)
    plan: list[tuple[Pattern, int]] = []
    while order:
        room, at, cut = instance.roll, 0, []
        while (at := bisect_left(narrowing, -room, at)) < len(order):  # the widest item behind the last that fits
            item = order[at]
            copies = min(left[item], room // instance.widths[item])
            cut.append((item, copies))
            room -= copies * instance.widths[item]
            at += 1
        rolls = min(left[item] // copies for item, copies in cut)
        for item, copies in cut:
            left[item] -= copies * rolls
            if not left[item]:
                at = order.index(item)
                del order[at], narrowing[at]
        plan.append((tuple(cut), rolls))
    return plan


def best_fit_decreasing(instance: Instance, demands: Sequence[int] | None = None) -> list[tuple[Pattern, int]]:
    """Every piece, widest first, goes into the roll that it fills best; ``demands`` may be what is left to cut."""
    left = instance.demands if demands is None else demands
    rolls: list[dict[int, int]] = []
    room: list[int] = []  # increasing, with the roll that it belongs to in ``owner``
    owner: list[int] = []
    for item in sorted(range(instance.num_items), key=lambda item: -instance.widths[item]):
        width = instance.widths[item]
        for _ in range(left[item]):
            at = bisect_left(room, width)
            if at == len(room):
                rolls.append({})
                rest, roll = instance.roll, len(rolls) - 1
            else:
                rest, roll = room.pop(at), owner.pop(at)
            rolls[roll][item] = rolls[roll].get(item, 0) + 1
            at = bisect_left(room, rest - width)
            room.insert(at, rest - width)
            owner.insert(at, roll)
    patterns = Counter(tuple(cut.items()) for cut in rolls)
    return list(patterns.items())


def solve_full(instance: Instance, formulation: str = "arc_flow", time_limit: float = math.inf) -> MIPSolution:
    """HiGHS on a complete model, presolve on: optimum, bound and branch-and-bound nodes."""
    return solve_complete(full(instance, formulation), time_limit)

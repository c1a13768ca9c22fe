"""First fit decreasing."""

from __future__ import annotations

from bisect import bisect_left

from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern


def first_fit_decreasing(instance: CuttingStockInstance) -> list[tuple[Pattern, int]]:
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

"""Small instances for ``colgen demo``: column generation beside brute force."""

from __future__ import annotations

from colgen import WarmStart
from colgen.cli.demonstration import beside
from colgen.cli.template import DemoLine
from colgen.core.budget import Budget
from colgen.problems.cutting_stock.baseline import solve_full
from colgen.problems.cutting_stock.instance import CuttingStockInstance, from_items, uniform
from colgen.problems.cutting_stock.template import CuttingStock


def textbook() -> list[DemoLine]:
    """The example of the textbooks: four widths, hundreds of pieces."""
    return [_compare(CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211), "textbook, 4 widths"))]


def bin_packing() -> list[DemoLine]:
    """Single pieces."""
    pieces = [52, 48, 47, 45, 44, 41, 39, 38, 36, 35, 33, 31, 29, 27, 26, 24, 23, 21, 19, 17, 16, 14, 13, 12]
    return [_compare(from_items(100, pieces, "bin packing, 24 pieces"))]


def twenty_widths() -> list[DemoLine]:
    """A random instance."""
    instance = uniform(20, 4, roll=100, widths=(10, 70))
    return [_compare(CuttingStockInstance(instance.roll, instance.widths, instance.demands, "random, 20 widths"))]


class _FromScratch(CuttingStock):
    """Starts without any pattern, so that every column shown is a generated one."""

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart(super().warm_start(budget).duals)


def _compare(instance: CuttingStockInstance) -> DemoLine:
    return beside(
        _FromScratch(instance),
        instance.check,
        lambda: solve_full(instance, "arc_flow", time_limit=20.0),
        "arc flow in HiGHS",
        name=instance.name,
        possible=number_of_patterns(instance),
        decimals=0,
        small=_FromScratch(from_items(10, [5, 3])),
    )


def number_of_patterns(instance: CuttingStockInstance) -> int:
    """How many patterns there are, exactly: one count a width in use, item by item."""
    ways = [1] + [0] * instance.roll
    for width, demand in zip(instance.widths, instance.demands, strict=True):
        for used in range(instance.roll, width - 1, -1):  # downwards: what lies below is still without this item
            ways[used] += sum(ways[used - c * width] for c in range(1, min(demand, used // width) + 1))
    return sum(ways) - 1  # not the empty one

"""Cutting stock on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from colgen import WarmStart
from colgen.cli.demonstration import demonstrations, solve_model
from colgen.cli.option import Number, Option
from colgen.cli.template import Template
from colgen.core.budget import Budget
from colgen.core.text import plural
from colgen.problems.cutting_stock.drawing import draw_plan
from colgen.problems.cutting_stock.generators import uniform
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern, Use, from_items
from colgen.problems.cutting_stock.model import full
from colgen.problems.cutting_stock.reading import read, write
from colgen.problems.cutting_stock.template import CuttingStock

_SHOWN = 30
"""Patterns printed; the JSON output contains all of them."""


_TEXTBOOK = CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211), "textbook, 4 widths")
"""The textbook example: four widths, hundreds of pieces."""


def _lines(instance: CuttingStockInstance, answer: Sequence[Any]) -> list[str]:
    plan = _plan(instance, answer)
    width = len(f"{plan[0][1]:,}")
    lines = [
        f"{rolls:>{width},} x  {_on_roll(instance, kind)}{_pieces(instance, pattern, kind)}"
        for pattern, rolls, kind in plan[:_SHOWN]
    ]
    rest = plan[_SHOWN:]
    if rest:
        rolls = sum(rolls for _, rolls, _ in rest)
        lines.append(f"and {plural(len(rest), 'more pattern')} for {plural(rolls, 'roll')} (--json writes all of them)")
    return lines


def _on_roll(instance: CuttingStockInstance, kind: int) -> str:
    return "" if instance.stock is None else f"{instance.stock.widths[kind]}: "


def _pieces(instance: CuttingStockInstance, pattern: Pattern, kind: int) -> str:
    pieces = [f"{copies} x {instance.widths[item]}" for item, copies in _widest_first(instance, pattern)]
    waste = _waste(instance, pattern, kind)
    return " + ".join(pieces) + (f", waste {waste}" if waste else "")


def _data(instance: CuttingStockInstance, answer: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "rolls": rolls,
            **({} if instance.stock is None else {"kind": kind, "roll": instance.stock.widths[kind]}),
            "pieces": [
                {"item": item, "width": instance.widths[item], "copies": copies}
                for item, copies in _widest_first(instance, pattern)
            ],
            "waste": _waste(instance, pattern, kind),
        }
        for pattern, rolls, kind in _plan(instance, answer)
    ]


def _plan(instance: CuttingStockInstance, answer: Sequence[Any]) -> list[Use]:
    """Return the patterns of an answer, most used first."""
    return sorted(instance.uses(answer), key=lambda use: (-use[1], use[2], use[0]))


def _widest_first(instance: CuttingStockInstance, pattern: Pattern) -> list[tuple[int, int]]:
    return sorted(pattern, key=lambda pair: -instance.widths[pair[0]])


def _waste(instance: CuttingStockInstance, pattern: Pattern, kind: int) -> int:
    return instance.rolls.widths[kind] - sum(instance.widths[item] * copies for item, copies in pattern)


class _FromScratch(CuttingStock):
    """Starts without patterns, so that every column shown is generated."""

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart(super().warm_start(budget).duals)


def _num_patterns(instance: CuttingStockInstance) -> int:
    """Return the exact number of patterns, by a count for each used width, updated item by item."""
    ways = [1] + [0] * instance.roll
    for width, demand in zip(instance.widths, instance.demands, strict=True):
        for used in range(instance.roll, width - 1, -1):  # downwards: lower counts do not yet contain this item
            ways[used] += sum(ways[used - c * width] for c in range(1, min(demand, used // width) + 1))
    return sum(ways) - 1  # without the empty pattern


_PIECES = (52, 48, 47, 45, 44, 41, 39, 38, 36, 35, 33, 31, 29, 27, 26, 24, 23, 21, 19, 17, 16, 14, 13, 12)

DEMO = demonstrations(
    lambda: _TEXTBOOK,
    lambda: from_items(100, _PIECES, "bin packing, 24 pieces"),
    lambda: replace(uniform(20, 4, roll=100, widths=(10, 70)), name="random, 20 widths"),
    small=lambda: from_items(10, [5, 3]),
    unit="rolls",
    problem=_FromScratch,
    brute_force="arc flow in HiGHS",
    complete=lambda instance: solve_model(full(instance, "arc_flow"), decimals=0),
    possible=_num_patterns,
)

TEMPLATE = Template(
    name="cutting_stock",
    title="Cutting stock and bin packing: cut demanded widths from as few rolls as possible",
    source="Gilmore and Gomory (1961), Valério de Carvalho (1999)",
    problem=CuttingStock,
    read=read,
    options={"problem": Option("problem number in a file of the OR-Library (1)", number=Number.WHOLE)},
    example=lambda path: write(_TEXTBOOK, path),
    reading=lambda instance: instance.reading,
    lines=_lines,
    data=_data,
    draw=draw_plan,
    variants={
        "stabilization": {
            "exchanges by ranks": lambda problem: CuttingStock(problem.instance, "ranks"),
            "exchanges by subsets": lambda problem: CuttingStock(problem.instance, "subsets"),
        }
    },
    demo=DEMO,
    compiling=8.0,
)

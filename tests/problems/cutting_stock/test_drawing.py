"""Drawings of cutting plans."""

import pytest

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgb

from colgen import InputError, solve
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.cutting_stock.drawing import draw_plan
from colgen.reporting.axes import COLOURS


def test_pieces_and_waste_fill_the_roll(tmp_path):
    instance = CuttingStockInstance(10, (6, 3), (2, 3))
    plan = solve(CuttingStock(instance)).answer
    figure = draw_plan(instance, plan)
    bars = figure.axes[0].patches
    by_row = {}
    for bar in bars:
        by_row.setdefault(round(bar.get_y(), 6), []).append(bar)
    assert len(by_row) == len(plan)
    for row in by_row.values():
        assert sum(bar.get_width() for bar in row) == 10
    assert sum(bar.get_hatch() is None for bar in bars) == sum(n for pattern, _ in plan for _, n in pattern)
    palette = {to_rgb(colour) for colour in COLOURS}
    assert {bar.get_facecolor()[:3] for bar in bars if bar.get_hatch() is None} <= palette
    figure.savefig(tmp_path / "plan.png")


def test_the_number_of_drawn_patterns_is_limited():
    instance = CuttingStockInstance(10, (6, 3), (2, 3))
    figure = draw_plan(instance, [(((0, 1),), 2), (((1, 3),), 1)], most=1)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["2 rolls"]
    assert figure.axes[0].get_title(loc="left").startswith("3 rolls; hatched: waste; the 1 pattern cut most often of 2")
    with pytest.raises(InputError, match="no patterns"):
        draw_plan(instance, [])

"""The small picture of bounds in notebooks."""

import dataclasses
import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

from colgen import IterationLimit, Sense, solve
from colgen.reporting.small_picture import draw_bounds, ticks
from tests.toys import CuttingStock


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 7, [0, 2, 4, 6]),
        (0, 1, [0, 0.5, 1]),
        (0, 100, [0, 50, 100]),
        (-3.0, 3.0, [-2, 0, 2]),
        (1884.0, 1886.0, [1884, 1884.5, 1885, 1885.5, 1886]),
        (1e9, 1e9 + 4, [1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4]),
        (0.0, 3e-7, [0, 1e-7, 2e-7, 3e-7]),
    ],
)
def test_ticks_are_round_numbers_within_the_limits(low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


def picture(result):
    return ElementTree.fromstring(draw_bounds(result))


def test_a_picture_has_axes_and_both_bounds():
    result = solve(CuttingStock())
    shown = picture(result)
    texts = [text.text for text in shown.iter("text")]
    assert {"round", "best answer", "dual bound"} < set(texts)
    assert sum(text.replace(".", "").isdigit() for text in texts) >= 5
    assert len(list(shown.iter("circle"))) == 2  # the ends
    width, height = map(float, shown.get("viewBox").split()[2:])
    for x, y in re.findall(r"([\d.]+) ([\d.]+)", " ".join(path.get("d") for path in shown.iter("path"))):
        assert 0 <= float(x) <= width
        assert 0 <= float(y) <= height


def test_maximisation_and_long_runs_fit_the_picture():
    result = solve(CuttingStock())
    turned = [
        dataclasses.replace(i, number=k, incumbent=-i.incumbent, global_bound=-i.global_bound)
        for k, i in enumerate([*result.iterations] * 1000)
    ]
    ends = {"sense": Sense.MAXIMIZE, "objective": -result.objective, "dual_bound": -result.dual_bound}
    long = dataclasses.replace(result, iterations=turned, **ends)
    assert len(draw_bounds(long)) < 10_000
    assert "-440" in [text.text for text in picture(long).iter("text")]


def test_nothing_is_drawn_without_two_points():
    assert draw_bounds(solve(CuttingStock(), time_limit=0)) == ""
    assert draw_bounds(solve(CuttingStock(), stop=IterationLimit(3))) == ""
    result = solve(CuttingStock())
    assert draw_bounds(dataclasses.replace(result, iterations=result.iterations[:1])) == ""
    unknown = [dataclasses.replace(i, incumbent=math.inf, global_bound=-math.inf) for i in result.iterations]
    assert draw_bounds(dataclasses.replace(result, iterations=unknown, answer=None, dual_bound=-math.inf)) == ""

"""Routes drawn."""

from itertools import pairwise

import pytest

pytest.importorskip("matplotlib")

from colgen import InputError
from colgen.problems.vehicle_routing import RoutingInstance, random
from colgen.problems.vehicle_routing.drawing import draw_routes
from colgen.reporting.axes import COLOURS


def test_an_arrow_for_each_leg_and_a_marker_for_each_stop(tmp_path):
    instance = random(1, customers=6, windows=False)
    routes = [(1, 2, 3), (4,), (5, 6)]
    figure = draw_routes(instance, routes)
    (ax,) = figure.axes
    arrows = [(text.xyann, text.xy) for text in ax.texts if getattr(text, "arrow_patch", None)]
    legs = {(i, j) for route in routes for i, j in pairwise((0, *route, 0))}
    assert sorted(arrows) == sorted((instance.places[i], instance.places[j]) for i, j in legs)
    assert sorted(len(line.get_xdata()) for line in ax.lines) == [1, 1, 2, 3]  # the depot and three routes
    assert {text.get_text() for text in ax.texts} == {"", "depot", *"123456"}
    assert ax.get_title(loc="left").startswith(f"{instance.name}: 3 routes, 6 customers, distance ")
    assert {line.get_color() for line in ax.lines} <= {*COLOURS, "black"}
    figure.savefig(tmp_path / "routes.png")


def test_points_are_starts_of_service_within_bars_of_time_windows():
    instance = random(1, customers=6)
    routes = [(i,) for i in instance.customers]
    bars = {tick.get_text(): bar for ax in draw_routes(instance, routes).axes[1:] for tick, bar in _rows(ax)}
    assert {i: (bar.get_x(), bar.get_x() + bar.get_width()) for i, bar in bars.items()} == {
        str(i): pytest.approx(instance.windows[i]) for i in instance.customers
    }
    starts = [line.get_xdata()[0] for line in draw_routes(instance, routes).axes[1].lines]
    assert sorted(starts) == sorted(instance.times(route)[0] for route in routes)


def _rows(ax):
    return zip(ax.get_yticklabels(), ax.patches, strict=True)


def test_many_customers_have_neither_numbers_nor_windows():
    instance = random(1, customers=51)
    figure = draw_routes(instance, [(i,) for i in instance.customers])
    assert [text.get_text() for ax in figure.axes for text in ax.texts if text.get_text()] == ["depot"]


def test_answers_that_cannot_be_drawn_raise():
    with pytest.raises(InputError, match="no routes"):
        draw_routes(random(1, customers=3), [])
    with pytest.raises(InputError, match="coordinates"):
        draw_routes(RoutingInstance(((0.0, 1.0), (1.0, 0.0)), (0, 1), 1), [(1,)])

"""Routes drawn."""

import pytest

pytest.importorskip("matplotlib")

from colgen import InputError
from colgen.problems.vehicle_routing import RoutingInstance, random
from colgen.problems.vehicle_routing.drawing import draw_routes


def test_a_line_for_each_route_and_its_ends(tmp_path):
    instance = random(1, customers=6)
    routes = [(1, 2, 3), (4,), (5, 6)]
    figure = draw_routes(instance, routes)
    lines = figure.axes[0].lines
    assert len(lines) == 3 * len(routes) + 1  # and the depot
    assert sorted(len(line.get_xdata()) for line in lines if line.get_marker() == "o") == [1, 2, 3]
    assert figure.axes[0].get_title(loc="left").startswith("3 routes over 6 customers")
    figure.savefig(tmp_path / "routes.png")


def test_answers_that_cannot_be_drawn_raise():
    with pytest.raises(InputError, match="no routes"):
        draw_routes(random(1, customers=3), [])
    with pytest.raises(InputError, match="coordinates"):
        draw_routes(RoutingInstance(((0.0, 1.0), (1.0, 0.0)), (0, 1), 1), [(1,)])

"""Vehicle routing on the command line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from colgen import WarmStart
from colgen.cli.demonstration import Complete, demonstrations, solve_model
from colgen.cli.option import Number, Option
from colgen.cli.template import Template
from colgen.core.budget import Budget
from colgen.core.text import plural
from colgen.problems.vehicle_routing.drawing import draw_routes
from colgen.problems.vehicle_routing.files import read, solution_lines, write
from colgen.problems.vehicle_routing.instance import CONVENTIONS, Route, RoutingInstance, random
from colgen.problems.vehicle_routing.model import full
from colgen.problems.vehicle_routing.template import VehicleRouting


def _data(instance: RoutingInstance, answer: Sequence[Route]) -> list[dict[str, Any]]:
    return [_route(instance, route) for route in answer]


def _route(instance: RoutingInstance, route: Route) -> dict[str, Any]:
    found: dict[str, Any] = {
        "customers": list(route),
        "distance": instance.length(route),
        "load": sum(instance.demands[i] for i in route),
    }
    if instance.windows is not None:
        *begins, back = instance.times(route)
        found |= {"service_begins": begins, "back_at_the_depot": back}
    return found


class _FromScratch(VehicleRouting):
    """Starts without routes, so that all columns shown are generated."""

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart()


def _complete(instance: RoutingInstance) -> Complete:
    return solve_model(full(instance, "two_index"), instance.decimals)


DEMO = demonstrations(
    lambda: random(3, customers=12),
    lambda: random(5, customers=11, windows=False, convention="whole"),
    small=lambda: random(3, customers=3),
    unit="km",
    problem=_FromScratch,
    brute_force="compact model in HiGHS",
    complete=_complete,
    possible=lambda instance: sum(math.perm(instance.num_customers, k + 1) for k in range(instance.num_customers)),
    named=lambda instance, _: (
        f"{'capacities' if instance.windows is None else 'time windows'}, {plural(instance.num_customers, 'customer')}"
    ),
)

TEMPLATE = Template(
    name="vehicle_routing",
    title="Vehicle routing: serve all customers by routes of least distance, with capacities and time windows",
    source="Dantzig and Ramser (1959), Desrochers, Desrosiers and Solomon (1992), Pecin et al. (2017)",
    problem=VehicleRouting,
    read=read,
    options={
        "vehicles": Option(
            "the most routes: file (if the file gives a limit), name (5 in A-n32-k5), or a number",
            ("file", "name"),
            Number.WHOLE,
        ),
        "customers": Option("only the first customers, this many", number=Number.WHOLE),
        "distances": Option("how EUC_2D and Solomon's distances are rounded: whole, truncated or exact", CONVENTIONS),
        "pyvrp": Option(
            "seconds of PyVRP for routes to start from (needs the extra routing)",
            number=Number.NOT_NEGATIVE,
            of_problem=True,
        ),
    },
    example=lambda path: write(random(3, customers=8), path),
    reading=lambda instance: instance.reading,
    lines=solution_lines,
    data=_data,
    draw=draw_routes,
    demo=DEMO,
    compiling=18.0,
)

"""Vehicle routing on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from colgen import InputError
from colgen.cli.template import Template, form_of, of_answer, whole_number
from colgen.core.result import Result
from colgen.problems.vehicle_routing.demo import capacities, time_windows
from colgen.problems.vehicle_routing.drawing import draw_routes
from colgen.problems.vehicle_routing.files import read, solution_lines, write
from colgen.problems.vehicle_routing.instance import Route, RoutingInstance, random
from colgen.problems.vehicle_routing.template import VehicleRouting


def _read(path: Path, **options: str) -> RoutingInstance:
    vehicles = options.get("vehicles", "file")
    if vehicles not in ("file", "name") and not vehicles.isdigit():
        raise InputError(f"option vehicles: expected 'file', 'name' or a whole number, not {vehicles[:20]!r}")
    return read(
        path,
        convention=options.get("distances"),
        customers=whole_number(options, "customers", 1) if "customers" in options else None,
        vehicles=vehicles if vehicles in ("file", "name") else whole_number(options, "vehicles", 1),
    )


def _lines(instance: RoutingInstance, result: Result) -> list[str]:
    return solution_lines(instance, result.answer)


def _data(instance: RoutingInstance, result: Result) -> list[dict[str, Any]]:
    return [_route(instance, route) for route in result.answer]


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


TEMPLATE = Template(
    name="vehicle_routing",
    title="Vehicle routing: serve all customers by routes of least distance, with capacities and time windows",
    source="Dantzig and Ramser (1959), Desrochers, Desrosiers and Solomon (1992), Pecin et al. (2017)",
    read=_read,
    form=form_of(read),
    read_options={
        "vehicles": "the most routes: file (where it states them), name (the 5 of A-n32-k5), or a number",
        "customers": "only the first so many",
        "distances": "how EUC_2D and Solomon's are rounded: whole, truncated or exact",
    },
    reading=lambda instance: instance.reading,
    problem=VehicleRouting,
    lines=_lines,
    data=_data,
    draw=of_answer(draw_routes),
    demo=(time_windows, capacities),
    compiling=6.0,
    example=lambda path: write(random(3, customers=8), path),
)

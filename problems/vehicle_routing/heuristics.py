"""Routes by PyVRP, if it is installed."""

from __future__ import annotations

import importlib.util
from typing import Any

from colgen import InputError
from colgen.problems.vehicle_routing.instance import Route, RoutingInstance


def has_pyvrp() -> bool:
    """Return whether PyVRP is installed (the extra ``routing``)."""
    return importlib.util.find_spec("pyvrp") is not None


def check_pyvrp(instance: RoutingInstance) -> None:
    """Raise InputError if PyVRP is not installed, or if distances have too many decimals: PyVRP needs integers."""
    if not has_pyvrp():
        raise InputError("PyVRP is not installed: pip install colgen[routing]")
    if instance.decimals is None:
        raise InputError("PyVRP needs integer distances: round them (convention 'truncated' or 'whole')")


def by_pyvrp(instance: RoutingInstance, seconds: float, *, seed: int = 0) -> list[Route] | None:
    """Return the best routes of PyVRP's hybrid genetic search.  None if they are infeasible.

    Raises
    ------
    InputError
        See :func:`check_pyvrp`.
    """
    check_pyvrp(instance)
    import pyvrp
    from pyvrp.stop import MaxRuntime

    places = instance.places or ((0.0, 0.0),) * len(instance.demands)
    windows, service = instance.window_array, instance.service_array.astype(int).tolist()
    model: Any = pyvrp.Model()
    timed: list[dict[str, int]] = [{} for _ in instance.demands]
    if instance.windows is not None:
        timed = [{"tw_early": int(early), "tw_late": int(late)} for early, late in windows]
    spots = [model.add_location(*place) for place in places]
    model.add_depot(spots[0], **timed[0])
    for i in instance.customers:
        model.add_client(spots[i], delivery=instance.demands[i], service_duration=service[i], **timed[i])
    model.add_vehicle_type(instance.most, capacity=instance.capacity)
    for i, row in enumerate(instance.matrix.astype(int).tolist()):
        for j, distance in enumerate(row):
            model.add_edge(spots[i], spots[j], distance, distance if instance.windows is not None else 0)
    found = model.solve(stop=MaxRuntime(seconds), seed=seed, display=False)
    if not found.is_feasible():
        return None
    return [tuple(_visits(route)) for route in found.best.routes()]


def _visits(route: Any) -> list[int]:
    """Return the customers of a PyVRP route; PyVRP numbers clients from 0."""
    return [int(visit.idx) + 1 for visit in route.schedule() if visit.is_client()]

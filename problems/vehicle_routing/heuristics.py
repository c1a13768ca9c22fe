"""Heuristic routes for a warm start: savings, local search, ruin and recreate, and PyVRP if installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Column, InputError, Solution
from colgen.core.budget import Budget
from colgen.networks.heuristics import RuinAndRecreate, first_steps, first_temperatures
from colgen.problems.vehicle_routing.instance import Route, RoutingInstance
from colgen.problems.vehicle_routing.kernels.local_search import improve
from colgen.problems.vehicle_routing.kernels.savings import savings
from colgen.solvers.paths.ruin import improve_partition
from colgen.solvers.paths.tours import Data
from colgen.solvers.stopping import Expired, never


def by_savings(instance: RoutingInstance) -> list[Route]:
    """Return routes from the parallel savings algorithm and local search, perhaps more than there are vehicles."""
    data = _arrays(instance)
    return _as_routes(*improve(data, *savings(data), instance.most))


def improve_routes(
    instance: RoutingInstance,
    routes: Iterable[Sequence[int]],
    *,
    steps: int = 0,
    seed: int = 0,
    hot: float = 0.1,
    expired: Expired = never,
) -> list[Route]:
    """Return routes improved by ruin and recreate, then local search.

    Parameters
    ----------
    routes
        Feasible routes that visit each customer once, perhaps more than there are vehicles.
    steps
        Number of removals by ruin and recreate.
    hot
        Its initial temperature, as a share of the mean distance.
    expired
        Called between rounds; True stops the search.
    """
    data, listed = _arrays(instance), [(0, tuple(route)) for route in routes if len(route)]
    found = [route for _, route in improve_partition(data, listed, steps=steps, seed=seed, hot=hot, expired=expired)]
    found += [(i,) for i in sorted(set(instance.customers).difference(*found))]
    ends = np.cumsum([len(route) for route in found]).astype(np.int64)
    flat = np.array([i for route in found for i in route], dtype=np.int64)
    return _as_routes(*improve(data, flat, ends, instance.most))


def _arrays(instance: RoutingInstance) -> Data:
    size, timed = len(instance.demands), instance.windows is not None
    steps = instance.service_array[:, np.newaxis] + instance.matrix
    ready, due = instance.window_array[:, 0], instance.latest
    return Data(
        np.array(instance.matrix[np.newaxis]),  # kernels are compiled for writable arrays
        np.array([instance.demands], dtype=np.float64),
        np.array([[instance.capacity]], dtype=np.float64),
        np.array([[steps]] if timed else np.empty((1, 0, size, size))),
        np.array([[ready]] if timed else np.empty((1, 0, size))),
        np.array([[due]] if timed else np.empty((1, 0, size))),
        np.arange(1, size + 1),
        np.empty((1, 0, 0), dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
        np.array([instance.most]),
        True,
    )


def _as_routes(flat: NDArray[np.int64], ends: NDArray[np.int64]) -> list[Route]:
    return [tuple(part.tolist()) for part in np.split(flat, ends[:-1])]


# --- PyVRP -----------------------------------------------------------------------------------------------------------


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


def first_routes(instance: RoutingInstance, budget: Budget, pyvrp: float = 0.0) -> list[Route]:
    """Return good routes after at most a few seconds.  They may be more than there are vehicles.

    Parameters
    ----------
    pyvrp
        Seconds for PyVRP; the better routes are returned.

    Raises
    ------
    InputError
        If PyVRP is requested and not installed.
    """
    steps = first_steps(instance.num_customers)
    hots = first_temperatures(instance.num_customers, timed=instance.windows is not None)
    savings = by_savings(instance)
    routes = savings
    for seed, hot in enumerate(hots):
        found = improve_routes(instance, savings, steps=steps, seed=seed, hot=hot, expired=lambda: budget.expired)
        routes = min(routes, found, key=lambda some: (max(len(some), instance.most), instance.total(some)))
    if pyvrp > 0.0 and not budget.expired:
        others = by_pyvrp(instance, min(pyvrp, budget.seconds_left))
        if others is not None and (len(routes) > instance.most or instance.total(others) < instance.total(routes)):
            return others
    return routes


def later_routes(instance: RoutingInstance, encode: Callable[[Route], Column]) -> RuinAndRecreate:
    """Return the heuristic that improves the routes of long runs, from the incumbent and from savings."""

    def improved(start: Solution | None, **search: Any) -> Solution | None:
        routes = by_savings(instance) if start is None else [column.structure for column, _ in start.columns]
        return as_answer(instance, improve_routes(instance, routes, **search), encode)

    return RuinAndRecreate(improved, first_steps(instance.num_customers))


def as_answer(instance: RoutingInstance, routes: Iterable[Route], encode: Callable[[Route], Column]) -> Solution | None:
    """Return routes as a solution of the master; None if they are no answer."""
    # Local search sums times in both directions: rounding errors may let a late route pass.
    valid = [route for route in routes if not instance.fault(route)]
    if len(valid) > instance.most or sum(map(len, valid)) != instance.num_customers:
        return None
    return Solution(instance.total(valid), tuple((encode(route), 1.0) for route in valid))

"""Routes as linked lists with levels of resources, for insertion and removal of vertices.

The state of a set of routes over vertices 1 to n, at most one route per task; vertex 0 is either end of each route:

* ``pred[i]``, ``succ[i]``: neighbours of a vertex in its route, 0 for the ends;
* ``owner[i]``: its route, -1 if it is in none;
* ``graph[r]``: the graph that route r is a path of;
* ``first[r]``, ``last[r]``: ends of a route, 0 if it is empty; ``load[r, l]``, ``stops[r]``;
* ``total[r, g]``: its cost as a path of graph g, if a route may change its graph;
* ``early[t, i]``: least level at a vertex given the route before; ``late[t, i]``: greatest level from which the route
  after it is feasible.  With both, an insertion is tested in constant time (Savelsbergh, 1992).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, overwrite

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Data(NamedTuple):
    """Graphs over common vertices, of which each task needs a visit of one, as arrays.

    Attributes
    ----------
    costs
        Cost of each arc, infinity without one, shape (graphs, n + 1, n + 1).
    loads, capacities
        Load of each vertex, shape (loads, n + 1), and capacity of a route, shape (graphs, loads).
    steps, low, high
        Resources with levels: consumption of each arc, shape (graphs, levels, n + 1, n + 1), and the limits at each
        vertex, shape (graphs, levels, n + 1).  A level below ``low`` is raised to it.  At vertex 0 they are the level
        at the source and the limit at the sink.
    begin
        Task k needs a visit of one of the vertices from ``begin[k]`` to ``begin[k + 1] - 1``, shape (tasks + 1,); the
        tasks' vertices are 1 to n.
    apart
        Vertices that no route visits both, shape (graphs, n + 1, n + 1), or (graphs, 0, 0) if there are none.
    least, most
        Limits on the number of routes of each graph.
    alike
        Whether a route of one graph whose load another graph admits is a route of that graph if all arcs exist.
    """

    costs: Any
    loads: Any
    capacities: Any
    steps: Any
    low: Any
    high: Any
    begin: Any
    apart: Any
    least: Any
    most: Any
    alike: bool


class Tours(NamedTuple):
    """A set of routes; the module describes the fields."""

    pred: Any
    succ: Any
    owner: Any
    graph: Any
    first: Any
    last: Any
    load: Any
    stops: Any
    total: Any
    early: Any
    late: Any


@njit(cache=True, no_cpython_wrapper=True)
def empty(data: Data) -> Tours:
    """Return a state without routes."""
    tasks, size = len(data.begin) - 1, data.costs.shape[1]
    levels = data.steps.shape[1]
    return Tours(
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.full(size, -1, np.int64),
        np.zeros(tasks, np.int64),
        np.zeros(tasks, np.int64),
        np.zeros(tasks, np.int64),
        np.zeros((tasks, len(data.loads))),
        np.zeros(tasks, np.int64),
        np.zeros((tasks, len(data.costs))),
        np.zeros((levels, size)),
        np.zeros((levels, size)),
    )


@inner
def copy_to(source: Tours, target: Tours) -> None:
    """Overwrite ``target`` with ``source``."""
    overwrite(target.pred, source.pred)
    overwrite(target.succ, source.succ)
    overwrite(target.owner, source.owner)
    overwrite(target.graph, source.graph)
    overwrite(target.first, source.first)
    overwrite(target.last, source.last)
    overwrite(target.stops, source.stops)
    _copy_table(source.load, target.load)
    _copy_table(source.total, target.total)
    _copy_table(source.early, target.early)
    _copy_table(source.late, target.late)


@inner
def _copy_table(source: Floats, target: Floats) -> None:
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@folded
def refresh(data: Data, tours: Tours, r: int) -> None:
    """Recompute the levels of a route, and its cost in each graph."""
    g = tours.graph[r]
    for t in range(data.steps.shape[1]):
        at, now = 0, data.low[g, t, 0]
        i = tours.first[r]
        while i != 0:
            now = max(now + data.steps[g, t, at, i], data.low[g, t, i])
            tours.early[t, i] = now
            at, i = i, tours.succ[i]
        after, then = 0, data.high[g, t, 0]
        i = tours.last[r]
        while i != 0:
            then = min(then - data.steps[g, t, i, after], data.high[g, t, i])
            tours.late[t, i] = then
            after, i = i, tours.pred[i]
    if data.alike and len(data.costs) > 1:
        for h in range(len(data.costs)):
            tours.total[r, h] = cost_in(data, tours, r, h)


@inner
def cost_in(data: Data, tours: Tours, r: int, g: int) -> float:
    """Return the cost of a route as a path of a graph, infinity if it has an arc that the graph does not have."""
    i = tours.first[r]
    found = data.costs[g, 0, i]
    while i != 0:
        found += data.costs[g, i, tours.succ[i]]
        i = tours.succ[i]
    return float(found)


@folded
def take_out(data: Data, tours: Tours, i: int) -> None:
    """Remove a vertex from its route without updating levels."""
    r, before, after = tours.owner[i], tours.pred[i], tours.succ[i]
    if before:
        tours.succ[before] = after
    else:
        tours.first[r] = after
    if after:
        tours.pred[after] = before
    else:
        tours.last[r] = before
    tours.owner[i] = -1
    for k in range(len(data.loads)):
        tours.load[r, k] -= data.loads[k, i]
    tours.stops[r] -= 1


@folded
def put_in(data: Data, tours: Tours, i: int, r: int, before: int) -> None:
    """Insert a vertex after ``before`` (0: at the beginning) and update levels."""
    after = tours.succ[before] if before else tours.first[r]
    tours.pred[i], tours.succ[i], tours.owner[i] = before, after, r
    if before:
        tours.succ[before] = i
    else:
        tours.first[r] = i
    if after:
        tours.pred[after] = i
    else:
        tours.last[r] = i
    for k in range(len(data.loads)):
        tours.load[r, k] += data.loads[k, i]
    tours.stops[r] += 1
    refresh(data, tours, r)


@folded
def has_room(data: Data, tours: Tours, r: int, g: int, i: int) -> bool:
    """Return whether a route of graph g could carry its load and that of vertex i, 0 for none."""
    for k in range(len(data.loads)):
        if tours.load[r, k] + data.loads[k, i] > data.capacities[g, k]:
            return False
    return True


@folded
def fits(data: Data, tours: Tours, g: int, i: int, before: int, after: int) -> bool:
    """Return whether levels let a route of graph g visit a vertex between two neighbours (0: an end)."""
    for t in range(data.steps.shape[1]):
        start = tours.early[t, before] if before else data.low[g, t, 0]
        arrival = max(start + data.steps[g, t, before, i], data.low[g, t, i])
        if arrival > data.high[g, t, i]:
            return False
        end = tours.late[t, after] if after else data.high[g, t, 0]
        if arrival + data.steps[g, t, i, after] > end:
            return False
    return True


@njit(cache=True, no_cpython_wrapper=True)
def build(data: Data, routes: Ints, ends: Ints, graphs: Ints) -> Tours:
    """Return the state of routes given by concatenated vertices, ends and graphs."""
    tours = empty(data)
    begin = 0
    for r in range(len(ends)):
        at = 0
        tours.graph[r] = graphs[r]
        for k in range(begin, ends[r]):
            i = routes[k]
            tours.pred[i], tours.owner[i] = at, r
            if at:
                tours.succ[at] = i
            else:
                tours.first[r] = i
            tours.succ[i] = 0
            tours.last[r] = i
            for j in range(len(data.loads)):
                tours.load[r, j] += data.loads[j, i]
            tours.stops[r] += 1
            at = i
        begin = ends[r]
        refresh(data, tours, r)
    return tours


@njit(cache=True, no_cpython_wrapper=True)
def to_arrays(tours: Tours) -> tuple[Ints, Ints, Ints]:
    """Return the concatenated vertices, the ends and the graphs of the nonempty routes."""
    routes = np.empty(len(tours.pred), np.int64)
    ends, graphs = np.empty(len(tours.first), np.int64), np.empty(len(tours.first), np.int64)
    count, number = 0, 0
    for r in range(len(tours.first)):
        i = tours.first[r]
        if i == 0:
            continue
        while i != 0:
            routes[count] = i
            count += 1
            i = tours.succ[i]
        ends[number], graphs[number] = count, tours.graph[r]
        number += 1
    return routes[:count], ends[:number], graphs[:number]

"""Ruin and recreate: a cheap partition of tasks into paths of several graphs.

Strings of neighbouring vertices are removed from routes and reinserted, with simulated annealing.  A route that has no
room for a vertex may become a path of another graph, such as that of a larger vehicle.

Source: J. Christiaens and G. Vanden Berghe, *Slack induction by string removals for vehicle routing problems*,
Transportation Science 54 (2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from colgen.solvers.arrays import ArrayError, as_integer
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import folded, inner, int64
from colgen.solvers.paths.tours import (
    Data,
    Floats,
    Ints,
    Tours,
    build,
    copy_to,
    fits,
    has_room,
    put_in,
    refresh,
    take_out,
    to_arrays,
)
from colgen.solvers.sorting import order_by
from colgen.solvers.stopping import Expired, never
from colgen.solvers.work import add_work

_Routes = tuple[Ints, Ints, Ints]

Route = tuple[int, tuple[int, ...]]
"""The graph of a route, and its vertices without source and sink."""

_COOLING = 100.0
"""Initial temperature divided by the final one."""
_ROUND = 50_000
"""Steps between two checks of the clock, times the number of vertices: steps take longer on larger instances."""
_WORK = 50
"""Work of a step per vertex: it compares the positions of some vertices in all routes."""
_REMOVED = 10
"""Mean number of vertices removed per step."""
_STRING = 10
"""Maximum number of vertices removed from one route."""
_BLINK = 0.01
"""Probability that an insertion position is skipped."""
_EXTRA = 30.0
"""Cost of a missing task of mean load, divided by the mean cost of an arc: a barrier that annealing can pass."""
_LESS = 1e-9
"""Least saving of a change of graphs, relative to the routes' cost: sums are inexact."""


def improve_partition(
    data: Data,
    routes: Sequence[Route],
    *,
    steps: int,
    seed: int = 0,
    hot: float = 0.1,
    expired: Expired = never,
) -> list[Route]:
    """Return the best routes found: feasible paths that together make one visit per task.

    Some tasks are left out if no route for them was found, and graphs may have too many or too few routes; both are
    rare unless capacities are tight.

    Parameters
    ----------
    routes
        Feasible routes, perhaps too many; none to start from nothing.
    steps
        Number of removals.
    hot
        Initial temperature, as a share of the mean cost of an arc.
    expired
        Called between rounds; True stops the search.

    Raises
    ------
    ArrayError
        If arrays do not fit each other, or a route visits a vertex that does not exist or twice.
    """
    steps = as_integer(steps, "steps", low=0)
    now = best = _as_arrays(data, routes)
    finite = np.isfinite(data.costs)
    costs = np.where(finite, data.costs, 0.0)
    mean = float(costs.sum() / max(finite.sum(), 1))
    extra = _EXTRA * mean
    rng, size = np.random.default_rng(seed), max(_ROUND // costs.shape[1], 1)
    rounds = math.ceil(steps / size) if mean > 0.0 else 0
    order = _Order(_neighbours(data.costs), *_features(data))
    for k in range(rounds):
        if expired():
            break
        begin, end = (mean * hot * _COOLING ** (-done / rounds) for done in (k, k + 1))
        now, best = _ruin_and_recreate(data, order, now, best, extra, min(steps, size), begin, end, rng)
        add_work(_WORK * min(steps, size) * costs.shape[1])
    flat, ends, graphs = best
    begins = [0, *ends.tolist()]
    return [(int(g), tuple(flat[i:j].tolist())) for g, (i, j) in zip(graphs, pairwise(begins), strict=True)]


def _as_arrays(data: Data, routes: Sequence[Route]) -> _Routes:
    """Return the concatenated vertices, the ends and the graphs of routes, after validation."""
    graphs, size, _ = data.costs.shape
    levels, loads = data.steps.shape[1], len(data.loads)
    for name, shape in {
        "costs": (graphs, size, size), "loads": (loads, size), "capacities": (graphs, loads),
        "steps": (graphs, levels, size, size), "low": (graphs, levels, size), "high": (graphs, levels, size),
        "least": (graphs,), "most": (graphs,),
    }.items():  # fmt: skip
        given = np.asarray(getattr(data, name))
        if given.shape != shape or np.isnan(given).any():
            raise ArrayError(f"{name}: expected numbers of shape {shape}, got {given.shape}")
    begin = data.begin
    if begin[0] != 1 or begin[-1] != size or (np.diff(begin) < 1).any():
        raise ArrayError(f"begin: expected increasing numbers from 1 to {size}, got {begin.tolist()}")
    visited = [i for _, route in routes for i in route]
    if len(set(visited)) < len(visited) or not set(visited) <= set(range(1, size)):
        raise ArrayError(f"routes: expected different vertices from 1 to {size - 1}, got {visited}")
    if any(not route or not 0 <= g < graphs for g, route in routes):
        raise ArrayError(f"routes: expected graphs from 0 to {graphs - 1} and at least one vertex, got {routes}")
    if len(routes) > len(begin) - 1:
        raise ArrayError(f"routes: expected at most one per task, got {len(routes)}")
    ends = np.cumsum([len(route) for _, route in routes]).astype(np.int64)
    return np.array(visited, dtype=np.int64), ends, np.array([g for g, _ in routes], dtype=np.int64)


class _Order(NamedTuple):
    """Orders of vertices: neighbours of each, and keys by which removed ones are sorted.

    The keys are load, least cost from the source, first greatest and least levels.  The weight of a missing task grows
    with its load: what is left over is then small, and may fit elsewhere.
    """

    near: Any
    weight: Any
    load: Any
    far: Any
    due: Any
    ready: Any


def _neighbours(costs: Floats) -> Ints:
    """Return for each vertex all vertices by increasing cost there and back, shape (n + 1, n).

    Where only one direction has an arc, as for most pairs with time windows, its cost counts twice.
    """
    there_and_back = costs + costs.transpose(0, 2, 1)
    one_way = 2.0 * np.minimum(costs, costs.transpose(0, 2, 1))
    there_and_back = np.where(np.isfinite(there_and_back), there_and_back, one_way).min(axis=0)
    near = np.zeros((costs.shape[1], costs.shape[1] - 1), dtype=np.int64)
    for i in range(1, len(near)):
        order_by(there_and_back[i, 1:].copy(), len(near) - 1, near[i])
    return near + 1


def _features(data: Data) -> tuple[Floats, ...]:
    scale = np.maximum(data.capacities.max(axis=0), 1.0)
    load = (data.loads / scale[:, np.newaxis]).sum(axis=0)
    far = data.costs[:, 0, :].min(axis=0)
    weight = 0.5 + 0.5 * load / load[1:].mean() if load.any() else np.ones(len(load))
    if not data.steps.shape[1]:
        return weight, load, far, far, far
    return weight, load, far, data.high[:, 0, :].max(axis=0), data.low[:, 0, :].max(axis=0)


class _Buffers(NamedTuple):
    """Buffers: removed tasks, flags of changed routes, sort keys, sort order, number of routes of each graph."""

    absent: Any
    touched: Any
    keys: Any
    order: Any
    used: Any


class _RouteSets(NamedTuple):
    """The current, trial and best routes."""

    now: Tours
    trial: Tours
    best: Tours


@njit(cache=True)
def _ruin_and_recreate(
    data: Data, order: _Order, now: _Routes, best: _Routes, extra: float, steps: int, hot: float, cold: float,
    rng: np.random.Generator,
) -> tuple[_Routes, _Routes]:  # fmt: skip
    """Return the last routes and the best ones.

    Parameters
    ----------
    now, best
        The present and the best routes so far: their concatenated vertices, and the end and graph of each route.
    extra
        Cost of a missing task, and of a route that a graph has too few.
    steps
        Number of removals.
    hot, cold
        Initial and final temperature, in units of cost.
    """
    tasks = len(data.begin) - 1
    route_sets = _RouteSets(build(data, *now), build(data, *now), build(data, *best))
    buffers = _Buffers(
        np.empty(tasks, np.int64), np.empty(tasks, np.bool_), np.empty(tasks), np.empty(tasks, np.int64),
        np.empty(len(data.costs), np.int64),
    )  # fmt: skip
    _anneal(data, order, route_sets, buffers, extra, steps, hot, cold, rng)
    return to_arrays(route_sets.now), to_arrays(route_sets.best)


@inner
def _anneal(
    data: Data, order: _Order, route_sets: _RouteSets, buffers: _Buffers, extra: float, steps: int, hot: float,
    cold: float, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Anneal from the present routes."""
    now, trial, best = route_sets
    cost, faults = _cost(data, now, order.weight, buffers.used)
    cost += extra * faults
    best_cost, best_faults = _cost(data, best, order.weight, buffers.used)
    for step in range(steps):
        temperature = hot * (cold / hot) ** (step / steps)
        copy_to(now, trial)
        count = _ruin(data, trial, order.near, buffers, rng)
        _recreate(data, trial, order, buffers, count, extra, rng)
        if data.alike and len(data.costs) > 1:
            _choose_graphs(data, trial, buffers, extra)
        new, faults = _cost(data, trial, order.weight, buffers.used)
        if new + extra * faults < cost - temperature * math.log(1.0 - rng.random()):
            copy_to(trial, now)
            cost = new + extra * faults
            if faults < best_faults or (faults == best_faults and new < best_cost):
                copy_to(trial, best)
                best_cost, best_faults = new, faults


@inner
def _cost(data: Data, tours: Tours, weight: Floats, used: Ints) -> tuple[float, float]:
    """Return the cost, and the weight of faults: missing tasks, missing or surplus routes, and late routes.

    A surplus route weighs about as much as its tasks would if they were missing.  Removing vertices can make a route
    late if the triangle inequality fails, as for truncated distances.
    """
    tasks = len(data.begin) - 1
    found, late, placed = 0.0, 0, 0
    for g in range(len(used)):
        used[g] = 0
    for r in range(tasks):
        i = tours.first[r]
        if i:
            g = tours.graph[r]
            used[g] += 1
            placed += tours.stops[r]
            for t in range(data.steps.shape[1]):
                if tours.early[t, i] > tours.late[t, i]:
                    late += 1
                    break
            found += data.costs[g, 0, i]
            while i != 0:
                found += data.costs[g, i, tours.succ[i]]
                i = tours.succ[i]
    faults = 2.0 * data.costs.shape[1] * late
    for task in range(tasks if placed < tasks else 0):
        if _is_missing(data, tours, task):
            faults += weight[data.begin[task]]
    for g in range(len(used)):
        faults += max(data.least[g] - used[g], 0)
        if used[g] > data.most[g]:
            faults += (used[g] - data.most[g]) * _fewest_stops(tours, g)
    return found, faults


@folded
def _is_missing(data: Data, tours: Tours, task: int) -> bool:
    """Return whether no route makes a task's visit."""
    for i in range(data.begin[task], data.begin[task + 1]):
        if tours.owner[i] >= 0:
            return False
    return True


@inner
def _fewest_stops(tours: Tours, g: int) -> int:
    """Return the number of vertices of the smallest route of a graph."""
    found = len(tours.pred)
    for r in range(len(tours.first)):
        if tours.first[r] and tours.graph[r] == g:
            found = min(found, tours.stops[r])
    return found


@inner
def _ruin(data: Data, tours: Tours, near: Ints, buffers: _Buffers, rng: np.random.Generator) -> int:
    """Remove strings of vertices around a random one.  Return the number of tasks in no route."""
    absent, touched = buffers.absent, buffers.touched
    tasks = len(touched)
    used, missing = 0, tasks
    for r in range(tasks):
        used += tours.first[r] != 0
        missing -= tours.stops[r]
        touched[r] = False
    longest = min(float(_STRING), tasks / max(used, 1))
    strings = int(rng.random() * (4.0 * _REMOVED / (1.0 + longest) - 1.0) + 1.0)
    count, done = 0, 0
    if missing:
        for task in range(tasks):
            if _is_missing(data, tours, task):
                absent[count] = task
                count += 1
    seed = 1 + int(rng.random() * (len(tours.pred) - 1))
    for i in near[seed]:
        if done >= strings:
            break
        r = tours.owner[i]
        if r < 0 or touched[r]:
            continue
        touched[r] = True
        done += 1
        stops = tours.stops[r]
        size = int(rng.random() * min(float(stops), longest) + 1.0)
        size = min(size, stops)
        skipped = 0
        if size > 1 and size < stops and rng.random() < 0.5:
            skipped = 1
            while size + skipped < stops and rng.random() < _BLINK:
                skipped += 1
        # The removed string and the skipped part cover vertex i, which is preceded by ``place`` vertices.
        place, j = 0, tours.pred[i]
        while j != 0:
            place += 1
            j = tours.pred[j]
        span = size + skipped
        lowest, highest = max(0, place - span + 1), min(place, stops - span)
        begin = lowest + int(rng.random() * (highest - lowest + 1))
        hole = 1 + int(rng.random() * (size - 1)) if skipped else span
        j = tours.first[r]
        for _ in range(begin):
            j = tours.succ[j]
        for k in range(span):
            following = tours.succ[j]
            if k < hole or k >= hole + skipped:
                take_out(data, tours, j)
                absent[count] = _task_of(data, j)
                count += 1
            j = following
        refresh(data, tours, r)
    return count


@folded
def _task_of(data: Data, i: int) -> int:
    """Return the task of a vertex by bisection."""
    low, high = 0, len(data.begin) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if data.begin[middle] <= i:
            low = middle
        else:
            high = middle
    return low


@inner
def _recreate(
    data: Data, tours: Tours, order: _Order, buffers: _Buffers, count: int, extra: float, rng: np.random.Generator
) -> None:
    """Reinsert the removed tasks one by one at their cheapest positions."""
    absent, key, places, used = buffers.absent, buffers.keys, buffers.order, buffers.used
    kind = int(rng.random() * (14 if data.steps.shape[1] else 11))
    for k in range(count):
        i = data.begin[absent[k]]
        if kind < 4:
            key[k] = rng.random()
        elif kind < 8:
            key[k] = -order.load[i]
        elif kind < 10:
            key[k] = -order.far[i]
        elif kind < 11:
            key[k] = order.far[i]
        elif kind < 12:
            key[k] = order.due[i] - order.ready[i]
        elif kind < 13:
            key[k] = order.ready[i]
        else:
            key[k] = -order.due[i]
    order_by(key, count, places)
    for g in range(len(used)):
        used[g] = 0
    for r in range(len(tours.first)):
        used[tours.graph[r]] += tours.first[r] != 0
    for k in range(count):
        _insert(data, tours, buffers, absent[places[k]], extra, rng)


@folded
def _insert(data: Data, tours: Tours, buffers: _Buffers, task: int, extra: float, rng: np.random.Generator) -> None:
    """Make the visit of a task at its cheapest position, if there is one."""
    costs, used = data.costs, buffers.used
    best, where, behind, vertex, into, free = np.inf, int64(-1), int64(0), int64(0), int64(0), int64(-1)
    for r in range(len(tours.first)):
        if tours.first[r] == 0:
            free = r
            continue
        for i in range(data.begin[task], data.begin[task + 1]):
            g, change = tours.graph[r], 0.0
            if not has_room(data, tours, r, g, i):
                g = _larger(data, tours, used, r, i)
                if g < 0:
                    continue
                change = tours.total[r, g] - tours.total[r, tours.graph[r]]
            if data.apart.shape[1] and _is_apart(data, tours, r, i):
                continue
            before = int64(0)
            while True:
                after = tours.succ[before] if before else tours.first[r]
                more = costs[g, before, i] + costs[g, i, after] - costs[g, before, after] + change
                if more < best and rng.random() >= _BLINK and fits(data, tours, g, i, before, after):
                    best, where, behind, vertex, into = more, r, before, i, g
                if after == 0:
                    break
                before = after
    for g in range(len(used)):  # open a route if necessary or cheaper
        if used[g] >= data.most[g]:
            continue
        for i in range(data.begin[task], data.begin[task + 1]):
            alone = costs[g, 0, i] + costs[g, i, 0] - extra * (used[g] < data.least[g])
            if alone < best and has_room(data, tours, free, g, i) and fits(data, tours, g, i, int64(0), int64(0)):
                best, where, behind, vertex, into = alone, free, int64(0), i, g
    if where < 0:
        return
    if tours.first[where]:
        used[tours.graph[where]] -= 1
    used[into] += 1
    tours.graph[where] = into
    buffers.touched[where] = True
    put_in(data, tours, vertex, where, behind)


@folded
def _larger(data: Data, tours: Tours, used: Ints, r: int, i: int) -> int:
    """Return the cheapest other graph with a free route and room for a route and one more vertex, -1 for none."""
    found, best = -1, np.inf
    if data.alike and used[tours.graph[r]] > data.least[tours.graph[r]]:
        for g in range(len(used)):
            if used[g] < data.most[g] and tours.total[r, g] < best and has_room(data, tours, r, g, i):
                found, best = g, tours.total[r, g]
    return found


@folded
def _is_apart(data: Data, tours: Tours, r: int, i: int) -> bool:
    """Return whether a route visits a vertex that excludes vertex i."""
    j = tours.first[r]
    while j != 0:
        if data.apart[tours.graph[r], i, j]:
            return True
        j = tours.succ[j]
    return False


@folded
def _choose_graphs(data: Data, tours: Tours, buffers: _Buffers, extra: float) -> None:
    """Give changed routes the graph that saves most, one that is free or that of another route in exchange."""
    used, total, graph = buffers.used, tours.total, tours.graph
    for r in range(len(tours.first)):
        if tours.first[r] == 0 or not buffers.touched[r]:
            continue
        g, best = graph[r], -_LESS * abs(total[r, graph[r]])
        into, other = -1, -1
        for h in range(len(used)):
            wrong = (used[h] >= data.most[h]) - (used[h] < data.least[h])
            wrong += (used[g] <= data.least[g]) - (used[g] > data.most[g])
            change = total[r, h] - total[r, g] + extra * wrong
            if h != g and change < best and has_room(data, tours, r, h, int64(0)):
                best, into = change, h
        for s in range(len(tours.first)):
            h = graph[s]
            if tours.first[s] == 0 or h == g:
                continue
            change = total[r, h] - total[r, g] + total[s, g] - total[s, h]
            if change < best and has_room(data, tours, r, h, int64(0)) and has_room(data, tours, s, g, int64(0)):
                best, into, other = change, h, s
        if into < 0:
            continue
        graph[r] = into
        if other >= 0:
            graph[other] = g
        else:
            used[g] -= 1
            used[into] += 1

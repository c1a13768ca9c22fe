"""``colgen bench labelling``: shortest paths with a capacity, compared with published optima and other libraries.

The data are in the folder ``spprc`` of ``--data``: instances of SPPRCLIB (Jepsen et al.) and of Roberti, with the
optima over ng-routes that CPTP's repository publishes (``ng_route_optima.csv``), and the seconds of two C++ libraries.
The neighbourhood of a vertex i consists of the vertices j of smallest c_ij + w_j, including i.  The weight of the depot
is paid once, and the empty route costs zero.  Seconds are processor time of one thread.

``speedup_vs_cspy`` needs cspy in an environment of its own::

    python3 -m venv cspy-env && cspy-env/bin/pip install cspy
    COLGEN_CSPY=cspy-env/bin/python colgen bench labelling --data DIR

It is measured on small random networks whose elementary optimum cspy finds.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import BenchOptions, Run, ask_program, mean_ratio, measure, read_table, spread, take_turns
from colgen import InputError
from colgen.cli.template import Figure
from colgen.core.files import read_text
from colgen.solvers.paths.labelling import CustomResource, Labelling, Network, Resource, nearest
from colgen.solvers.stopping import after

Floats = NDArray[np.float64]

_LIMIT = 120.0
"""Time limit per instance in seconds."""

_MINUTES = 30.0
_SIZES = (8, 16, 24)
_DIGITS = 6e-4
"""Tolerance of published optima, which have three decimals."""


@dataclass(frozen=True)
class Published:
    """A line of ``ng_route_optima.csv``; None if the reference did not finish."""

    name: str
    size: int
    optimum: float | None
    seconds: float | None


def bench_labelling(options: BenchOptions) -> Sequence[Figure]:
    """Measure finished instances, matches with published optima, and times relative to other libraries."""
    figures: list[Figure] = []
    if options.data is not None:
        published = read_published(options.data / "spprc" / "ng_route_optima.csv")
        names = sorted({each.name for each in published})
        kept = set(names[:3] if options.quick else spread(names, options.share(_MINUTES)))
        runs = []
        for each in (each for each in published if each.name in kept):
            run = _solve(options.data / "spprc", each)
            runs.append((each, run))
            options.say(f"{run}; published {'no optimum' if each.optimum is None else f'{each.optimum:.3f}'}")
        figures += _figures(runs)
    else:
        options.say("published instances are skipped: they need --data DIR")
    figures.append(_measure_custom_resource(options.quick))
    peer = os.environ.get("COLGEN_CSPY")
    if peer:
        figures += _compare_with_cspy(peer, options)
    else:
        options.say("cspy is skipped: COLGEN_CSPY, the path of a Python with cspy, is not set")
    return figures


def _figures(runs: Sequence[tuple[Published, Run]]) -> list[Figure]:
    known = [(each.optimum, run) for each, run in runs if run.proved and each.optimum is not None]
    matched = [run for optimum, run in known if abs(run.objective - optimum) <= _DIGITS]
    figures = [
        Figure(
            "optima_matched", len(matched), "instances", len(known), "of finished instances with a published optimum"
        )
    ]
    for size in _SIZES:
        of_size = [(each, run) for each, run in runs if each.size == size]
        ended = [(each, run.seconds) for each, run in of_size if run.proved]
        if of_size:
            figures.append(Figure(f"finished_ng{size}", len(ended), "instances", len(of_size), f"in {_LIMIT:g} s each"))
        if not ended:
            continue
        figures.append(mean_ratio(f"seconds_ng{size}", [s for _, s in ended], [1.0] * len(ended), unit="s"))
        both = [(seconds, each.seconds) for each, seconds in ended if each.seconds]
        if both:
            mine, theirs = zip(*both, strict=True)
            figures.append(mean_ratio(f"ratio_vs_published_parallel_ng{size}", mine, theirs, unit="times"))
    return figures


def _solve(folder: Path, each: Published) -> Run:
    """Price the best route with neighbourhoods of one size; the empty route costs zero."""
    network, costs, weights, load = read_instance(folder, each.name)
    solver = Labelling(network, [load], neighbourhoods=nearest(network, weights, each.size))
    if each.size == _SIZES[0]:
        solver.price(costs, expired=after(1.0))  # compiles, and allocates memory
    result, seconds = measure(lambda: solver.price(costs, expired=after(_LIMIT)))
    optimum = math.nan if result.bound is None else min(result.bound, 0.0)
    return Run(f"ng {each.size}", each.name, seconds, optimum, optimum, result.bound is not None, limit=_LIMIT)


# --- files -----------------------------------------------------------------------------------------------------------


def read_published(path: Path) -> list[Published]:
    """Read the published optima and seconds."""
    seconds = "cxx_parallel_bidirectional_seconds"
    return [
        Published(
            line["instance"],
            int(line["ng"]),
            float(line["optimum"]) if line["optimum"] else None,
            float(line[seconds]) if line[seconds] else None,
        )
        for line in read_table(path)
    ]


def read_instance(folder: Path, name: str) -> tuple[Network, Floats, Floats, Resource]:
    """Return an instance: network, costs of arcs, weights that define neighbourhoods, and the load."""
    files = [path for path in (folder / f"{name}.sppcc", folder / f"{name}.vrp") if path.is_file()]
    if not files:
        raise InputError(f"{folder}: expected {name}.sppcc or {name}.vrp, found neither")
    text = read_text(files[0])
    sections = {
        match[1]: np.array(match[2].split(), dtype=np.float64)
        for match in re.finditer(r"(\w+)_SECTION[^\S\n]*\n((?:\s*[-+.]?\d\S*)*)", text)
    }
    capacity = re.search(r"CAPACITY\s*:\s*(\d+)", text)
    if capacity is None or "DEMAND" not in sections:
        raise InputError(f"{files[0]}: expected CAPACITY and DEMAND_SECTION")
    n = len(sections["DEMAND"]) // 2
    demand = sections["DEMAND"].reshape(n, 2)[:, 1]
    if "EDGE_WEIGHT" in sections:
        distance, weight = sections["EDGE_WEIGHT"].reshape(n, n), sections["NODE_WEIGHT"]
    else:
        places = sections["NODE_COORD"].reshape(n, 3)[:, 1:]
        distance = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1))
        weight = -sections["PROFIT"].reshape(n, 2)[:, 1]
    network = Network.complete(n - 1)
    heads = network.heads % n  # the sink is the depot
    weights = distance[network.tails, heads] + np.where(network.heads < n, weight[heads], 0.0)
    costs = weights + np.where(network.tails == network.source, weight[0], 0.0)
    demand[0] = 0.0
    load = Resource(demand[heads], float(capacity[1]), name="load")
    return network, costs, weights, load


# --- custom resources ------------------------------------------------------------------------------------------------


def _extend(before: Any, arc: Any, vertex: Any, after: Any) -> bool:
    after[0] = before[0] + arc[0]
    return bool(after[0] <= vertex[0])


def _dominates(one: Any, other: Any) -> bool:
    return bool(one[0] <= other[0])


def _joins(forward: Any, backward: Any, arc: Any, vertex: Any) -> bool:
    return bool(forward[0] + arc[0] + backward[0] <= vertex[0])


def _measure_custom_resource(quick: bool) -> Figure:
    """Compare a second capacity written as a custom resource with a built-in one."""
    rng = np.random.default_rng(1)
    written, built_in = [], []
    for n in (20,) if quick else (25, 40, 55):
        network = Network.complete(n)
        places = rng.integers(0, 100, (n + 1, 2))
        heads = network.heads % (n + 1)
        distance = np.rint(np.hypot(*(places[network.tails] - places[heads]).T))
        prize = np.append(0, rng.integers(10, 40, n))
        load, volume = (np.append(0, rng.integers(5, 25, n)).astype(float) for _ in range(2))
        first, second = Resource(load[heads], 60.0, name="load"), Resource(volume[heads], 60.0, name="volume")
        mine = CustomResource(
            _extend,
            _dominates,
            [0.0],
            arc_data=volume[heads][:, None],
            vertex_data=np.full((n + 2, 1), 60.0),
            backward=_extend,
            start_backward=[0.0],
            joins=_joins,
        )
        near = nearest(network, distance, 10)
        solvers = [Labelling(network, [first, other], neighbourhoods=near) for other in (second, mine)]
        costs = distance - prize[heads]
        bounds = [solver.price(costs).bound for solver in solvers]
        if bounds[0] != bounds[1]:
            raise AssertionError(
                f"optimum {bounds[1]} with a custom resource, {bounds[0]} with a built-in one: expected equal"
            )
        ways = dict(zip(("built in", "written"), (partial(solver.price, costs) for solver in solvers), strict=True))
        _, seconds = take_turns(ways, 3)
        built_in.append(min(seconds["built in"]))
        written.append(min(seconds["written"]))
    return mean_ratio("user_resource_cost", written, built_in, "custom over built-in", unit="times")


# --- cspy ------------------------------------------------------------------------------------------------------------

_CSPY = """
import json, sys, time
import numpy as np
from cspy import BiDirectional
from networkx import DiGraph
for line in sys.stdin:
    given = json.loads(line)
    graph = DiGraph(directed=True, n_res=2)
    names = {given["source"]: "Source", given["sink"]: "Sink"}
    for tail, head, cost, load in given["arcs"]:
        graph.add_edge(names.get(tail, tail), names.get(head, head), res_cost=np.array([1.0, load]), weight=cost)
    began = time.process_time()
    try:
        search = BiDirectional(graph, [float(given["vertices"]), given["capacity"]], [0.0, 0.0], elementary=True)
        search.run()
        found = search.total_cost
    except Exception:
        found = None
    print(json.dumps([found, time.process_time() - began]), flush=True)
"""


def _compare_with_cspy(peer: str, options: BenchOptions) -> list[Figure]:
    """Compare elementary paths on random networks with cspy: optima and seconds."""
    rng = np.random.default_rng(2)
    ours, theirs, count = [], [], 0
    for n in (10,) if options.quick else (10, 11, 11, 12, 12, 13):
        network = Network.complete(n)
        load = np.append(0, rng.integers(3, 15, n)).astype(float)
        heads = network.heads % (n + 1)
        costs = rng.integers(-20, 40, network.num_arcs).astype(float)
        solver = Labelling(network, [Resource(load[heads], 40.0, name="load")])
        bound = solver.price(costs).bound
        _, mine = measure(partial(solver.price, costs), 3)
        given = {
            "source": network.source,
            "sink": network.sink,
            "vertices": network.num_vertices,
            "capacity": 40.0,
            "arcs": [
                [int(tail), int(head), float(cost), float(load[head % (n + 1)])]
                for tail, head, cost in zip(network.tails, network.heads, costs, strict=True)
            ],
        }
        count += 1
        try:
            value, seconds = ask_program(peer, _CSPY, given, _LIMIT)
        except subprocess.TimeoutExpired:
            options.say(f"cspy on {n} customers: not finished in {_LIMIT:g} s")
            continue
        except (subprocess.SubprocessError, ValueError, OSError) as error:
            options.say(f"cspy on {n} customers: {type(error).__name__}")
            continue
        optimal = value is not None and bound is not None and abs(value - bound) <= _DIGITS
        options.say(f"cspy on {n} customers: {value}, {seconds:.3f} s; here {bound}, {mine:.4f} s")
        if optimal:
            theirs.append(seconds)
            ours.append(mine)
    if not ours:
        return []
    return [
        mean_ratio("speedup_vs_cspy", theirs, ours, "on networks whose optimum cspy finds", unit="times"),
        Figure("right_cspy", len(ours), "instances", count),
    ]

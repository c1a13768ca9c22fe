"""Benchmark of vehicle routing: public instances to proved optimality, compared with other libraries.

The data are Solomon's instances with time windows (of 25, 50 and 100 customers) and capacitated ones of Augerat et al.
and of Christofides and Eilon, in the folders ``vrptw`` and ``cvrp`` of ``--data``, each with a file ``optima.csv``.
The folder ``cvrp_x``, if there is one, has instances of set X with their best known distances in ``best.csv``.

Other libraries are compared if installed: PyVRP in this environment (``pip install colgen[routing]``), and vrpy in an
environment of its own, because it needs older versions of common dependencies::

    python3 -m venv vrpy-env && vrpy-env/bin/pip install vrpy
    COLGEN_VRPY=vrpy-env/bin/python colgen bench vehicle_routing --data DIR
"""

from __future__ import annotations

import math
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

from benchmarks.harness import BenchOptions, Run, ask_program, check_agreement, read_table, run_engine, spread
from colgen import TimeLimit, solve
from colgen.cli.template import Figure
from colgen.problems.vehicle_routing.files import read
from colgen.problems.vehicle_routing.heuristics import by_pyvrp, has_pyvrp
from colgen.problems.vehicle_routing.instance import RoutingInstance, random
from colgen.problems.vehicle_routing.template import VehicleRouting
from colgen.solvers.compiling import working_clock

_LIMIT = 600.0
"""Time limit per instance in seconds."""

_MINUTES = 300.0
"""Approximate minutes for all instances; most end long before their limit."""

_VRPY_LIMIT = 60.0
"""Time limit of vrpy in seconds, for instances of 25 customers."""

_SETS = ("25", "50", "100", "cvrp", "x")

_LIMIT_X = 900.0
"""Time limit per instance of set X in seconds."""


def bench_vehicle_routing(options: BenchOptions) -> list[Figure]:
    """Solve published instances to proved optimality, each within ten minutes."""
    data = options.folder("this benchmark needs --data DIR with the folders vrptw and cvrp, each with optima.csv")
    limit = 20.0 if options.quick else _LIMIT
    chosen = published(data)
    share = options.share(_MINUTES)
    solve(VehicleRouting(random(0, customers=8)))  # compiles the kernels
    solve(VehicleRouting(random(0, customers=8, windows=False)))
    figures = []
    for name in _SETS:
        some = chosen[name][:2] if options.quick and name == "25" else spread(chosen[name], share)
        if (options.quick and name != "25") or not some:
            continue
        runs = []
        for instance, optimum in some:
            runs.append(_solve(instance, optimum, _LIMIT_X if name == "x" else limit))
            options.say(f"{runs[-1]}, {', '.join(f'{what} {value:.4g}' for what, value in runs[-1].details.items())}")
        figures += _figures(name, runs)
        if name == "25":
            figures += _vrpy_figures(some, options)
    return figures


def published(data: Path) -> dict[str, list[tuple[RoutingInstance, float]]]:
    """Read the instances with their published optima, by set."""
    instances: dict[str, list[tuple[RoutingInstance, float]]] = {name: [] for name in _SETS}
    for row in read_table(data / "vrptw" / "optima.csv"):
        instance = read(data / "vrptw" / f"{row['instance']}.txt", customers=int(row["customers"]))
        instances[row["customers"]].append((instance, float(row["distance"])))
    for row in read_table(data / "cvrp" / "optima.csv"):
        instance = read(data / "cvrp" / f"{row['instance']}.vrp", vehicles="name")
        instances["cvrp"].append((instance, float(row["distance"])))
    if (data / "cvrp_x").is_dir():
        for row in read_table(data / "cvrp_x" / "best.csv"):
            instance = read(data / "cvrp_x" / f"{row['instance']}.vrp", vehicles="name")
            instances["x"].append((instance, float(row["distance"])))
    return instances


def _solve(instance: RoutingInstance, optimum: float, limit: float) -> Run:
    """Solve an instance and measure its root bounds.

    The details are root bounds with and without cuts relative to the published optimum, and, if PyVRP is installed,
    the gap between our bound and its best solution in the same time.  A proof counts as the engine's if an oracle
    priced at its dual values and the check recomputed the distance.
    """
    run, result = run_engine(VehicleRouting(instance), limit, name=instance.name, clock=working_clock)
    distance = math.inf if result.answer is None else instance.check(result.answer)
    check_published(instance, distance, run.bound, optimum)
    plain = solve(VehicleRouting(instance, cuts=False), relaxation=True, stop=TimeLimit(limit))
    details = {"root": result.root_bound / optimum, "root without cuts": plain.dual_bound / optimum}
    if has_pyvrp():
        routes = by_pyvrp(instance, max(run.seconds, 0.1))
        details["PyVRP's gap"] = math.inf if routes is None else instance.check(routes) / run.bound - 1.0
    priced = any(round_.pricing_seconds > 0.0 for round_ in result.iterations) and math.isfinite(run.bound)
    return replace(run, by_engine=run.proved and priced and distance == run.objective, details=details)


def check_published(instance: RoutingInstance, distance: float, bound: float, optimum: float) -> None:
    """Check a distance and a bound against the published optimum, which is rounded."""
    claims = {"column generation": (distance, bound)}
    check_agreement(instance.name, claims, known=optimum, slack=0.5 / instance.ticks)


def _figures(name: str, runs: Sequence[Run]) -> list[Figure]:
    n, seconds, proved = len(runs), [run.seconds for run in runs], sum(run.proved for run in runs)
    roots = [mean(run.details[which] for run in runs) for which in ("root", "root without cuts")]
    figures = [
        Figure(f"proved_{name}", proved, "instances", n, f"of {n}, at the published optimum"),
        Figure(f"seconds_median_{name}", median(seconds), "s", n, "unproved instances count with their limit"),
        Figure(f"seconds_worst_{name}", max(seconds), "s", n),
        Figure(f"root_gap_{name}", 1.0 - roots[0], "share", n, "below the optimum, with cuts"),
        Figure(f"root_gap_without_cuts_{name}", 1.0 - roots[1], "share", n),
        Figure(f"nodes_median_{name}", median(run.nodes for run in runs), "nodes", n),
        Figure(
            f"proved_by_engine_{name}",
            sum(run.by_engine for run in runs) / max(proved, 1),
            "share",
            n,
            "of the proofs have a bound recomputed by an oracle and a distance recomputed by the check",
        ),
    ]
    unproved = [run.objective / run.bound - 1.0 for run in runs if not run.proved]
    if unproved:
        figures.append(Figure(f"gap_unproved_{name}", max(unproved), "share", n, "largest gap of those not proved"))
    gaps = [run.details["PyVRP's gap"] for run in runs if "PyVRP's gap" in run.details]
    if gaps:
        note = "its best solution in the same time, above our bound"
        figures.append(Figure(f"pyvrp_gap_{name}", mean(gaps), "share", len(gaps), note))
    return figures


# --- vrpy ------------------------------------------------------------------------------------------------------------

_VRPY = """
import json, sys, time
from networkx import DiGraph
from vrpy import VehicleRoutingProblem
data = json.load(sys.stdin)
n = len(data["demands"])
graph = DiGraph()
name = lambda i: "Source" if i == 0 else i
for i in range(n):
    for j in range(n):
        if i != j and (i or j):
            graph.add_edge(name(i), "Sink" if j == 0 else j, cost=data["distances"][i][j], time=data["distances"][i][j])
for i in range(1, n):
    graph.nodes[i].update(
        demand=data["demands"][i], lower=data["windows"][i][0], upper=data["windows"][i][1],
        service_time=data["service"][i],
    )
for end in ("Source", "Sink"):
    graph.nodes[end].update(lower=data["windows"][0][0], upper=data["windows"][0][1], demand=0, service_time=0)
problem = VehicleRoutingProblem(
    graph, load_capacity=data["capacity"], time_windows=True, num_vehicles=data["vehicles"]
)
started = time.perf_counter()
try:
    problem.solve(cspy=True, time_limit=data["seconds"])
    value = problem.best_value
except Exception as error:
    value = None
    print(type(error).__name__, error, file=sys.stderr)
print(json.dumps({"value": value, "seconds": time.perf_counter() - started}))
"""


def _vrpy_figures(chosen: Sequence[tuple[RoutingInstance, float]], options: BenchOptions) -> list[Figure]:
    """Solve the same instances with vrpy if ``COLGEN_VRPY`` names an interpreter that has it.

    vrpy reports no bound: the published optimum, found within the limit, counts as proved.
    """
    python = os.environ.get("COLGEN_VRPY")
    if not python:
        options.say("vrpy is skipped: COLGEN_VRPY, the path of a Python with vrpy, is not set")
        return []
    outcomes = []
    for instance, optimum in chosen:
        value, seconds = _by_vrpy(python, instance)
        optimal = abs(value - optimum) <= 0.5 / instance.ticks
        outcomes.append((optimal and seconds < _VRPY_LIMIT, optimal, seconds))
        options.say(f"{instance.name:12} vrpy: {value:g} in {seconds:.1f} s")
    n = len(outcomes)
    return [
        Figure(
            "vrpy_proved_25", sum(o[0] for o in outcomes), "instances", n, f"at the optimum within {_VRPY_LIMIT:g} s"
        ),
        Figure("vrpy_optimal_25", sum(o[1] for o in outcomes), "instances", n, "optimal solutions"),
        Figure("vrpy_seconds_median_25", median(o[2] for o in outcomes), "s", n),
    ]


def _by_vrpy(python: str, instance: RoutingInstance) -> tuple[float, float]:
    """Return the distance of vrpy's solution, infinite if there is none, and its seconds."""
    data = {
        "distances": instance.distances,
        "demands": instance.demands,
        "capacity": instance.capacity,
        "windows": instance.windows,
        "service": instance.service,
        "vehicles": instance.most,
        "seconds": _VRPY_LIMIT,
    }
    try:
        output = ask_program(python, _VRPY, data, 2.0 * _VRPY_LIMIT)
    except (subprocess.SubprocessError, ValueError):
        return math.inf, _VRPY_LIMIT
    return math.inf if output["value"] is None else float(output["value"]), float(output["seconds"])

"""What is measured: public instances to proved optimality, beside other libraries.

The data are Solomon's instances with time windows (of 25, 50 and 100 customers) and capacitated ones of Augerat et al.
and of Christofides and Eilon, in the folders ``vrptw`` and ``cvrp`` of ``--data``, each with a file ``optima.csv``.

Other libraries are asked where they are: PyVRP in this environment (``pip install colgen[routing]``), vrpy in one of
its own, for it needs old versions of what we need new ones of::

    python3 -m venv vrpy-env && vrpy-env/bin/pip install vrpy
    COLGEN_VRPY=vrpy-env/bin/python colgen bench vehicle_routing --data DIR
"""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from benchmarks.harness import BenchOptions, spread
from colgen import InputError, Result, solve
from colgen.cli.template import Figure
from colgen.core.files import check_readable, read_text
from colgen.core.stop import TimeLimit
from colgen.problems.vehicle_routing.files import read
from colgen.problems.vehicle_routing.heuristics import by_pyvrp, has_pyvrp
from colgen.problems.vehicle_routing.instance import RoutingInstance, random
from colgen.problems.vehicle_routing.template import VehicleRouting

_LIMIT = 600.0
"""Seconds for an instance; one that needs more counts as not proved."""

_MINUTES = 300.0
"""What all instances take at most, about: most of them end long before their limit."""

_VRPY_LIMIT = 60.0
"""Seconds that vrpy is given for an instance of 25 customers."""

_SETS = ("25", "50", "100", "cvrp")


@dataclass(frozen=True)
class Outcome:
    """One instance solved.

    Attributes
    ----------
    plain_root, root
        Root bounds without cuts and with them, as shares of the published optimum.
    pyvrp_gap
        How far PyVRP's best answer in the same time lies above our bound; nan where it was not asked.
    proved_by_engine
        Whether an oracle has priced at what proves the bound, and the check has added up the routes.
    """

    instance: RoutingInstance
    optimum: float
    proved: bool
    seconds: float
    nodes: int
    plain_root: float
    root: float
    pyvrp_gap: float
    proved_by_engine: bool


def bench_vehicle_routing(options: BenchOptions) -> list[Figure]:
    """Instances of the literature to proved optimality, each within ten minutes."""
    if options.data is None:
        raise InputError("--data DIR is needed: the folder that holds vrptw/ and cvrp/, each with its optima.csv")
    limit = 20.0 if options.quick else _LIMIT
    chosen = published(options.data)
    share = options.share(_MINUTES)
    solve(VehicleRouting(random(0, customers=8)))  # compiles the kernels
    solve(VehicleRouting(random(0, customers=8, windows=False)))
    figures = []
    for name in _SETS:
        some = chosen[name][:2] if options.quick and name == "25" else spread(chosen[name], share)
        if options.quick and name != "25":
            continue
        outcomes = []
        for instance, optimum in some:
            outcome = _solve(instance, optimum, limit)
            options.say(_line(outcome))
            outcomes.append(outcome)
        figures += _figures(name, outcomes)
        if name == "25":
            figures += _vrpy_figures([(outcome.instance, outcome.optimum) for outcome in outcomes], options)
    return figures


def published(data: Path) -> dict[str, list[tuple[RoutingInstance, float]]]:
    """The instances with their published optima, by set."""
    found: dict[str, list[tuple[RoutingInstance, float]]] = {name: [] for name in _SETS}
    for row in _rows(data / "vrptw" / "optima.csv"):
        instance = read(data / "vrptw" / f"{row['instance']}.txt", customers=int(row["customers"]))
        found[row["customers"]].append((instance, float(row["distance"])))
    for row in _rows(data / "cvrp" / "optima.csv"):
        instance = read(data / "cvrp" / f"{row['instance']}.vrp", vehicles="name")
        found["cvrp"].append((instance, float(row["distance"])))
    return found


def _rows(path: Path) -> list[dict[str, str]]:
    check_readable(path)
    return list(csv.DictReader(read_text(path).splitlines()))


def _solve(instance: RoutingInstance, optimum: float, limit: float) -> Outcome:
    started = time.perf_counter()
    result = solve(VehicleRouting(instance), stop=TimeLimit(limit))
    seconds = time.perf_counter() - started
    cross_check(instance, result, optimum)
    plain = solve(VehicleRouting(instance, cuts=False), relaxation=True, stop=TimeLimit(limit))
    gap = math.nan
    if has_pyvrp():
        routes = by_pyvrp(instance, max(seconds, 0.1))
        gap = math.inf if routes is None else instance.check(routes) / result.dual_bound - 1.0
    priced = any(round_.pricing_seconds > 0.0 for round_ in result.iterations) and math.isfinite(result.dual_bound)
    stated = result.answer is not None and instance.check(result.answer) == result.objective
    return Outcome(
        instance,
        optimum,
        result.is_optimal,
        seconds,
        len(result.nodes),
        plain.dual_bound / optimum,
        result.root_bound / optimum,
        gap,
        result.is_optimal and priced and stated,
    )


def cross_check(instance: RoutingInstance, result: Result, optimum: float) -> None:
    """Hold a result against the published optimum.

    Raises
    ------
    AssertionError
        If they contradict each other.
    """
    distance = math.inf if result.answer is None else instance.check(result.answer)
    step = 0.5 / instance.ticks
    if (
        distance < optimum - step
        or result.dual_bound > optimum + step
        or (result.is_optimal and abs(distance - optimum) > step)
    ):
        raise AssertionError(
            f"{instance.name}: the distance {distance:g} and the bound {result.dual_bound:g} contradict the published "
            f"optimum {optimum:g}"
        )


def _line(outcome: Outcome) -> str:
    proved = "proved" if outcome.proved else "not proved"
    return (
        f"{outcome.instance.name:12} {outcome.optimum:8g} {proved}, {outcome.seconds:.1f} s, {outcome.nodes} nodes, "
        f"root bound {outcome.root:.2%}, without cuts {outcome.plain_root:.2%} of the optimum"
        + ("" if math.isnan(outcome.pyvrp_gap) else f"; PyVRP in the same time {outcome.pyvrp_gap:.2%} above the bound")
    )


def _figures(name: str, outcomes: Sequence[Outcome]) -> list[Figure]:
    n, seconds = len(outcomes), [outcome.seconds for outcome in outcomes]
    figures = [
        Figure(f"proved_{name}", sum(o.proved for o in outcomes), "instances", n, f"of {n}, at the published optimum"),
        Figure(f"seconds_median_{name}", median(seconds), "s", n, "of those not proved the time that they were given"),
        Figure(f"seconds_worst_{name}", max(seconds), "s", n),
        Figure(f"root_gap_{name}", 1.0 - mean(o.root for o in outcomes), "share", n, "below the optimum, with cuts"),
        Figure(f"root_gap_without_cuts_{name}", 1.0 - mean(o.plain_root for o in outcomes), "share", n),
        Figure(f"nodes_median_{name}", median(o.nodes for o in outcomes), "nodes", n),
        Figure(
            f"proved_by_engine_{name}",
            sum(o.proved_by_engine for o in outcomes) / max(sum(o.proved for o in outcomes), 1),
            "share",
            n,
            "of the proofs rest on a bound that an oracle call has recomputed, and routes that the check has added up",
        ),
    ]
    gaps = [outcome.pyvrp_gap for outcome in outcomes if not math.isnan(outcome.pyvrp_gap)]
    if gaps:
        note = "its best answer in our time, above our bound"
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
    """What vrpy does with the same instances, where an interpreter that has it is named.

    It states no bound: an answer that is the published optimum, found before its time was over, counts as proved.
    """
    python = os.environ.get("COLGEN_VRPY")
    if not python:
        options.say("vrpy is not asked: COLGEN_VRPY names no interpreter that has it")
        return []
    found = []
    for instance, optimum in chosen:
        value, seconds = _by_vrpy(python, instance)
        right = abs(value - optimum) <= 0.5 / instance.ticks
        found.append((right and seconds < _VRPY_LIMIT, right, seconds))
        options.say(f"{instance.name:12} vrpy: {value:g} in {seconds:.1f} s")
    n = len(found)
    return [
        Figure("vrpy_proved_25", sum(o[0] for o in found), "instances", n, f"at the optimum within {_VRPY_LIMIT:g} s"),
        Figure("vrpy_optimal_25", sum(o[1] for o in found), "instances", n, "answers that are the optimum"),
        Figure("vrpy_seconds_median_25", median(o[2] for o in found), "s", n),
    ]


def _by_vrpy(python: str, instance: RoutingInstance) -> tuple[float, float]:
    """Value of vrpy's answer, infinite without one, and its seconds."""
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
        run = subprocess.run(
            [python, "-c", _VRPY], input=json.dumps(data), capture_output=True, text=True, timeout=2.0 * _VRPY_LIMIT
        )
        found = json.loads(run.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, json.JSONDecodeError):
        return math.inf, _VRPY_LIMIT
    return math.inf if found["value"] is None else float(found["value"]), float(found["seconds"])

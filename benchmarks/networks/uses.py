"""Figures of rosters, fleets, requests and crews, and the length of the programs that state the uses."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyomo.environ as pyo

from benchmarks.harness import BenchOptions, Run, read_table, run_built
from benchmarks.networks import crews, depots, fleets, requests, rosters, schedules
from colgen import decompose
from colgen.cli.template import Figure

_ROSTERS, _FLEETS, _REQUESTS, _CREWS = 600.0, 900.0, 300.0, 600.0
"""Time limits in seconds."""

_QUICK = 20.0

_SIZES, _QUICK_SIZES = (100, 300, 1000), (100,)
"""Numbers of flights."""

PROGRAMS: dict[str, Sequence[Any]] = {
    "crews": (crews.Flight, crews.crews),
    "depots": (depots.Depots, depots.depots),
    "fleets": (fleets.Fleet, fleets.fleets),
    "requests": (requests.Transport, requests.transport),
    "rosters": (rosters.rosters,),
    "schedules": (schedules.schedules,),
}
"""The parts of each program that a user writes, apart from reading data."""


def rosters_figures(folder: Path, options: BenchOptions) -> Sequence[Figure]:
    """Solve the instances of a folder, in processor time."""
    return _of_table("rosters", folder, ".txt", _ROSTERS, lambda path: rosters.rosters(rosters.read(path)), options)


def fleets_figures(folder: Path, options: BenchOptions) -> Sequence[Figure]:
    """Solve the instances of a folder, in processor time."""
    vehicles = _of_table("fleets", folder, ".vrp", _FLEETS, lambda path: fleets.fleets(fleets.read(path)), options)
    served = _of_table(
        "requests", folder, ".txt", _REQUESTS, lambda path: requests.transport(requests.read(path)), options
    )
    return [*vehicles, *served]


def crews_figures(options: BenchOptions) -> Sequence[Figure]:
    """Solve generated timetables, in processor time, and measure the length of all programs."""
    figures = []
    for size in _QUICK_SIZES if options.quick else _SIZES:
        flights = crews.timetable(1, size)
        run = _run(f"{size} flights", partial(crews.crews, flights, ["B0", "B1", "B2"]), _CREWS, options)
        figures.append(Figure(f"crews_{size}_seconds", run.counted, "s", 1, "processor time"))
        if math.isfinite(run.bound):
            gap = 100.0 * (run.objective - run.bound) / run.objective
            figures.append(Figure(f"crews_{size}_gap", gap, "%", 1, "between answer and own bound"))
    lines = {use: sum(len(inspect.getsource(part).splitlines()) for part in parts) for use, parts in PROGRAMS.items()}
    figures.append(Figure("lines_of_use", max(lines.values()), "lines", len(lines), "of the longest program"))
    return figures


def _of_table(
    use: str, folder: Path, ending: str, limit: float, model: Callable[[Path], pyo.ConcreteModel], options: BenchOptions
) -> list[Figure]:
    """Return seconds and gaps to the best known values of the instances of a table whose files have one ending."""
    figures, proved, count = [], 0, 0
    for entry in read_table(folder / "best.csv"):
        path = folder / f"{entry['instance']}{ending}"
        if not path.exists() or (options.quick and count):
            continue
        run, best = _run(path.stem, partial(model, path), limit, options), float(entry["best"])
        label = path.stem.replace("-", "_")
        figures.append(Figure(f"{use}_{label}_seconds", run.counted, "s", 1, "processor time"))
        for what, value in (("bound_gap", best - run.bound), ("answer_gap", run.objective - best)):
            if math.isfinite(value):  # else there is no answer, or no bound
                figures.append(Figure(f"{use}_{label}_{what}", 100.0 * value / best, "%", 1, "to the best known value"))
        proved += run.proved
        count += 1
    figures.append(Figure(f"{use}_proved", proved, "instances", count, f"within {limit:g} s each"))
    return figures


def _run(name: str, model: Callable[[], pyo.ConcreteModel], limit: float, options: BenchOptions) -> Run:
    run = run_built(lambda: decompose(model()), _QUICK if options.quick else limit, name=name)[0]
    options.say(str(run))
    return run

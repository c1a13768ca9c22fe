"""What is measured: generalized assignment solved to proved optimality, and GCG beside it where it is installed.

GCG comes with pygcgopt, whose pyscipopt is an older one than that of this project's extra ``benchmark``, so that it
needs an environment of its own; ``COLGEN_GCG`` names the Python there::

    python -m venv gcg
    gcg/bin/pip install pygcgopt==0.4.0 pyscipopt==5.2.1
    COLGEN_GCG=gcg/bin/python colgen bench assignment --data DIR

Figures of the comparison are left out where it is not set.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from colgen import InputError, Result, solve
from colgen.cli.template import BenchOptions, Figure
from colgen.core.stop import TimeLimit
from problems.assignment.instance import Instance, random, read
from problems.assignment.template import Assignment

_LIMIT = 900.0
"""Seconds for each instance."""

_BESIDE_GCG = ("c05100", "c10100")

_GCG = """
import json, os, sys, time
sys.stdout, out = sys.stderr, sys.stdout
from pygcgopt import Model, quicksum
data = json.load(sys.stdin)
model = Model()
model.hideOutput()
m, n = len(data["costs"]), len(data["costs"][0])
x = {(j, t): model.addVar(vtype="B", obj=data["costs"][j][t]) for j in range(m) for t in range(n)}
assign = [model.addCons(quicksum(x[j, t] for j in range(m)) == 1) for t in range(n)]
room = [
    model.addCons(quicksum(data["sizes"][j][t] * x[j, t] for t in range(n)) <= data["capacities"][j]) for j in range(m)
]
decomposition = model.createDecomposition()
decomposition.fixConssToMaster(assign)
for j in range(m):
    decomposition.fixConssToBlock([room[j]], j)
model.addDecomposition(decomposition)
model.setRealParam("limits/time", data["limit"])
started = os.times()
model.optimize()
ended = os.times()
seconds = ended.user - started.user + ended.system - started.system
print(json.dumps({"seconds": seconds, "status": model.getStatus(), "objective": model.getObjVal()}), file=out)
"""


@dataclass(frozen=True)
class _Run:
    """One instance."""

    name: str
    proved: bool
    objective: float
    bound: float
    seconds: float


def instances(options: BenchOptions) -> Iterator[tuple[Instance, float | None]]:
    """Instances, with their optima where those are known; those beside the file ``optima.csv`` of ``--data``."""
    if options.data is None or options.quick:
        yield from (
            (random(5, 30, seed, kind=kind), None) for kind in "CD" for seed in range(1 if options.quick else 4)
        )
        return
    path = options.data / "optima.csv"
    if not path.is_file():
        raise InputError(f"{path}: expected a table of instances and their costs, there is no such file")
    with path.open(newline="") as file:
        for entry in csv.DictReader(file):
            yield read(options.data / f"{entry['instance']}.txt"), float(entry["cost"])


def bench_assignment(options: BenchOptions) -> Sequence[Figure]:
    """Instances of the OR-Library (``--data``), or random ones: how many are proved, and in what time."""
    solve(Assignment(random(3, 10, 0)))  # compiles the kernels
    runs, figures = [], []
    for instance, known in instances(options):
        result, seconds = _timed(instance, 10.0 if options.quick else _LIMIT)
        if result.is_optimal and known is not None and result.objective != known:
            raise AssertionError(f"{instance.name}: the optimum is {known:g}, not {result.objective:g}")
        runs.append(_Run(instance.name, result.is_optimal, result.objective, result.dual_bound, seconds))
        options.say(_line(instance, result, seconds))
        beside = _by_gcg(instance) if instance.name in _BESIDE_GCG else None
        if beside is not None:
            options.say(f"{instance.name}: GCG {beside:.1f} s")
            figures.append(
                Figure(
                    f"seconds_vs_gcg_{instance.name}", seconds / beside, "ratio", 1, "processor time, ours over GCG's"
                )
            )
    return [
        Figure("proved", sum(run.proved for run in runs), "instances", len(runs), f"within {_LIMIT:g} s each"),
        Figure("median_seconds", median(run.seconds for run in runs), "s", len(runs), "processor time"),
        *(Figure(f"seconds_{run.name}", run.seconds, "s", 1) for run in runs if options.data is not None),
        *figures,
    ]


def _timed(instance: Instance, limit: float) -> tuple[Result, float]:
    started = time.process_time()
    result = solve(Assignment(instance), stop=TimeLimit(limit))
    return result, time.process_time() - started


def _by_gcg(instance: Instance) -> float | None:
    """Processor seconds of GCG; None where it is not installed, or has not proved the optimum."""
    python = os.environ.get("COLGEN_GCG")
    if not python:
        return None
    told = {
        "costs": instance.costs.tolist(),
        "sizes": instance.sizes.tolist(),
        "capacities": instance.capacities.tolist(),
        "limit": _LIMIT,
    }
    done = subprocess.run([python, "-c", _GCG], input=json.dumps(told), capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"COLGEN_GCG: expected a Python with pygcgopt, {python} says {done.stderr[-200:]!r}")
    found = json.loads(done.stdout.splitlines()[-1])
    return float(found["seconds"]) if found["status"] == "optimal" else None


def _line(instance: Instance, result: Result, seconds: float) -> str:
    return (
        f"{instance.name}: {result.objective:g}, bound {result.dual_bound:g} (root {result.root_bound:.3f}), "
        f"{len(result.nodes)} nodes, {len(result.iterations)} rounds, {seconds:.1f} s; {result.termination.value}"
    )

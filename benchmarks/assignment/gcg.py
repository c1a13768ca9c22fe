"""Solve a model with GCG, another branch-and-price solver, with the blocks that colgen detected or a file states.

pygcgopt needs an older pyscipopt than this project's extra ``benchmark``, and therefore an environment of its own;
``COLGEN_GCG`` is the path of its Python::

    python -m venv gcg
    gcg/bin/pip install pygcgopt==0.4.0 pyscipopt==5.2.1
    COLGEN_GCG=gcg/bin/python colgen bench decompose
"""

from __future__ import annotations

import math
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import Run, ask_program
from colgen import InputError

if TYPE_CHECKING:
    from colgen.decomposition.decomposed import Decomposed

_START = """
import json, os, sys
sys.stdout, out = sys.stderr, sys.stdout
from pygcgopt import Model, quicksum
data = json.load(sys.stdin)
model = Model()
model.hideOutput()
"""

_BUILD = """
x = [
    model.addVar(vtype="I" if integer else "C", lb=low, ub=high, obj=cost)
    for cost, low, high, integer in data["variables"]
]
rows = []
for entries, low, high, block in data["rows"]:
    body = quicksum(value * x[k] for k, value in entries)
    ends = ["=="] if low == high else [">="] * (low is not None) + ["<="] * (high is not None)
    for end in ends:
        side = body == low if end == "==" else body >= low if end == ">=" else body <= high
        rows.append((model.addCons(side), block))
decomposition = model.createDecomposition()
for row, block in rows:
    if block < 0:
        decomposition.fixConssToMaster([row])
    else:
        decomposition.fixConssToBlock([row], block)
model.addDecomposition(decomposition)
started = os.times()
"""

_READ = """
started = os.times()
for path in data["files"]:
    model.readProblem(path)
"""

_SOLVE = """
model.setRealParam("limits/time", data["limit"])
model.optimize()
ended = os.times()
seconds = ended.user - started.user + ended.system - started.system
status = model.getStatus()
objective = model.getObjVal() if status == "optimal" else None
print(json.dumps({"seconds": seconds, "status": status, "objective": objective}), file=out)
"""


def run_gcg(problem: Decomposed, limit: float, *, name: str) -> Run | None:
    """Solve a decomposed model with the same blocks by GCG; return None if it is not installed or crashes.

    Seconds are processor time, without reading the model.

    Raises
    ------
    InputError
        If ``COLGEN_GCG`` is not a Python with pygcgopt.
    """
    f = problem.compact.formulation
    found = _run(_START + _BUILD + _SOLVE, _to_lists(problem), limit, name)
    if found is None or not found.proved:
        return found
    optimum = f.sense.sign * found.objective + f.offset
    return replace(found, objective=optimum, bound=optimum)


def run_gcg_on(path: Path, dec: Path, limit: float, *, name: str) -> Run | None:
    """Solve a model file with the blocks in another; return None if GCG is not installed or crashes.

    Seconds are processor time with reading.

    Raises
    ------
    InputError
        If ``COLGEN_GCG`` is not a Python with pygcgopt.
    """
    return _run(_START + _READ + _SOLVE, {"files": [str(path), str(dec)]}, limit, name)


def _run(script: str, data: dict[str, object], limit: float, name: str) -> Run | None:
    python = os.environ.get("COLGEN_GCG")
    if not python:
        return None
    try:
        output = ask_program(python, script, {**data, "limit": limit})
    except subprocess.CalledProcessError as error:
        if error.returncode < 0:  # terminated by a signal
            return None
        raise InputError(
            f"COLGEN_GCG: expected a Python with pygcgopt, {python} failed with {error.stderr[-200:]!r}"
        ) from None
    optimum = math.nan if output["objective"] is None else float(output["objective"])
    proved = not math.isnan(optimum)
    return Run("GCG", name, float(output["seconds"]), optimum, optimum, proved, limit=limit)


def _to_lists(problem: Decomposed) -> dict[str, object]:
    """Return a model as lists: cost, bounds and type of variables; entries, sides and block (-1: master) of rows."""
    f, rows, blocks = problem.compact.formulation, problem.compact.rows, problem.splitting.partition.of_row

    def end(value: float) -> float | None:
        return value if np.isfinite(value) else None

    variables = [
        [f.sense.sign * cost, end(low), end(high), integer]
        for cost, low, high, integer in zip(
            f.costs.tolist(), f.lower.tolist(), f.upper.tolist(), f.integer.tolist(), strict=True
        )
    ]
    listed = []
    for row in range(rows.shape[0]):
        mine = slice(rows.indptr[row], rows.indptr[row + 1])
        entries = list(zip(rows.indices[mine].tolist(), rows.data[mine].tolist(), strict=True))
        if entries:
            listed.append([entries, end(float(f.row_lower[row])), end(float(f.row_upper[row])), int(blocks[row])])
    return {"variables": variables, "rows": listed}

"""Two-stage programs in SMPS: decomposed by colgen, and their extensive form in HiGHS."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from benchmarks.harness import BenchOptions, Run, check_agreement, run_built
from colgen import decompose, read
from colgen.cli.template import Figure
from colgen.core.result import OWN
from colgen.core.tolerances import TOLERANCES
from colgen.decomposition.reading.compact_model import MASTER, CompactModel
from colgen.reporting.compared import solve_complete

_LIMIT, _QUICK = 300.0, 5.0
"""Time limits in seconds: full and quick."""

HIGHS = "HiGHS"


def stochastic_figures(folder: Path, options: BenchOptions) -> Sequence[Figure]:
    """Solve each program of a folder in both ways.  Times are processor time from file to answer."""
    limit = _QUICK if options.quick else _LIMIT
    figures, proved = list[Figure](), 0
    paths = sorted(folder.glob("*.cor"))
    for path in paths:
        ours, theirs = _run_ours(path, limit), run_highs(path.stem, path, limit)
        for run in (ours, theirs):
            options.say(str(run))
        check_agreement(path.stem, {run.way: run.claim for run in (ours, theirs)}, read(path).formulation.sense)
        proved += ours.proved
        note = f"processor time, {ours.way}"
        figures.append(Figure(f"stochastic_{path.stem}_seconds", ours.counted, "s", 1, note))
        if ours.proved and theirs.proved:
            ratio = ours.seconds / theirs.seconds
            figures.append(Figure(f"stochastic_{path.stem}_vs_highs", ratio, "ratio", 1, "ours over HiGHS's"))
    note = f"within {limit:g} s each, by colgen's own bound"
    return [*figures, Figure("stochastic_proved", proved, "programs", len(paths), note)]


def _run_ours(path: Path, limit: float) -> Run:
    way = _way_of(read(path))
    run, result = run_built(lambda: decompose(read(path), method=way), limit, name=path.stem, way=way)
    return replace(run, proved=run.proved and result.bound_source == OWN)


def _way_of(compact: CompactModel) -> Literal["benders", "dantzig-wolfe"]:
    """Return the decomposition for the second stages: Benders if they are continuous."""
    assert compact.blocks is not None
    inner = compact.blocks.of_column != MASTER
    return "dantzig-wolfe" if compact.formulation.integer[inner].any() else "benders"


def run_highs(name: str, path: Path, limit: float) -> Run:
    """Solve a model in HiGHS; times are processor time from file to answer."""
    started = time.process_time()
    found = solve_complete(read(path).formulation, limit)
    seconds = time.process_time() - started
    proved = abs(found.objective - found.bound) <= TOLERANCES.optimality * abs(found.objective)
    return Run(HIGHS, name, seconds, found.objective, found.bound, proved, limit=limit)

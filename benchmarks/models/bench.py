"""Benchmark of models from files: proofs with given and detected blocks, compared with HiGHS and GCG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.assignment.gcg import run_gcg_on
from benchmarks.harness import BenchOptions, Run, check_agreement, mean_ratio, read_table, repeat_if_brief, run_built
from benchmarks.models.stochastic import HIGHS, run_highs, stochastic_figures
from colgen import decompose, read
from colgen.cli.template import Figure
from colgen.core.result import OWN

_LIMIT, _QUICK = 60.0, 5.0
"""Time limits in seconds: full and quick."""

_BRIEF = 2.0
"""Seconds below which a run is repeated."""

_NAMED = "TEST0055"
"""Cutting stock with general integers, whose blocks are identical: it needs branching over component bounds."""

_GIVEN, _DETECTED, _GCG = "given blocks", "detected blocks", "GCG"

Runs = Mapping[str, Run]
"""The runs of one model by way."""


def bench_models(options: BenchOptions) -> Sequence[Figure]:
    """Solve the models of ``optima.csv`` in ``--data`` or its folder ``mip``, with given and with detected blocks.

    Two-stage programs of its folder ``stochastic`` follow.  Times are processor time from file to answer, and a proof
    counts if its bound is colgen's own.  GCG is skipped if
    ``COLGEN_GCG`` is not set; see :mod:`benchmarks.assignment.gcg`.
    """
    data = options.folder("this benchmark needs --data DIR with model files and their optima in optima.csv")
    stochastic = data / "stochastic"
    data = data / "mip" if (data / "mip").is_dir() else data
    limit = _QUICK if options.quick else _LIMIT
    models: dict[str, Runs] = {}
    wrong = 0
    for entry in read_table(data / "optima.csv"):
        path = data / entry["file"]
        name = path.name.split(".")[0].replace("-", "_")
        models[name], errors = _solve_in_all_ways(name, path, float(entry["optimum"]), limit, options)
        wrong += errors
    given = [runs for runs in models.values() if _GIVEN in runs]
    both = [runs for runs in given if _GCG in runs]
    note = f"within {limit:g} s each, by colgen's own bound"
    figures = [
        Figure("proved_given", sum(runs[_GIVEN].proved for runs in given), "models", len(given), note),
        Figure("proved_detected", sum(runs[_DETECTED].proved for runs in models.values()), "models", len(models), note),
        Figure(
            "wrong_answers", wrong, "runs", len(given) + len(models), "answers or bounds that contradict the optima"
        ),
    ]
    if both:
        ours, theirs = ([runs[way].counted for runs in both] for way in (_GIVEN, _GCG))
        figures.append(mean_ratio("vs_gcg", ours, theirs, "ours over GCG's, with given blocks; limits count"))
    for name, runs in models.items():
        first = runs.get(_GIVEN, runs[_DETECTED])
        for way in (HIGHS, _GCG):
            if way in runs:
                ratio = first.counted / runs[way].counted
                figures.append(
                    Figure(f"vs_{way.lower()}_{name}", ratio, "ratio", 1, f"ours over {way}'s; limits count")
                )
        if name == _NAMED:
            figures.append(Figure(f"generic_{name}_seconds", first.counted, "s", 1, "branch and price of the file"))
        for way, label in ((_GIVEN, "given"), (_DETECTED, "detected")):
            if way in runs:
                seconds, setup = runs[way].counted, runs[way].details["setup"]
                figures.append(Figure(f"seconds_{label}_{name}", seconds, "s", 1, f"processor time, {way}"))
                figures.append(Figure(f"setup_{label}_{name}", setup, "s", 1, f"reading and decomposing, {way}"))
    return [*figures, *(stochastic_figures(stochastic, options) if stochastic.is_dir() else ())]


def _solve_in_all_ways(name: str, path: Path, optimum: float, limit: float, options: BenchOptions) -> tuple[Runs, int]:
    """Return the runs of a model, and how many of colgen's contradict its optimum."""
    sense = read(path).formulation.sense
    dec = next((dec for ending in (".dec", ".blk") if (dec := path.with_suffix(ending)).exists()), None)
    ways: dict[str, Callable[[], Run]] = {
        _DETECTED: lambda: _run_ours(name, path, None, limit),
        HIGHS: lambda: run_highs(name, path, limit),
    }
    if dec is not None:
        ways[_GIVEN] = lambda: _run_ours(name, path, dec, limit)
    runs = {}
    for way, run in ways.items():
        if way != HIGHS:
            run()  # compiles and loads kernels
        runs[way] = repeat_if_brief(run, _BRIEF)
    if dec is not None:
        gcg = run_gcg_on(path, dec, limit, name=name)
        if gcg is not None:
            runs[_GCG] = repeat_if_brief(lambda: run_gcg_on(path, dec, limit, name=name) or gcg, _BRIEF)
    errors = 0
    for way, done in runs.items():
        options.say(str(done))
        try:
            check_agreement(name, {way: done.claim}, sense, known=optimum)
        except AssertionError as error:
            if way in (HIGHS, _GCG):
                raise
            options.say(str(error))
            errors += 1
    return runs, errors


def _run_ours(name: str, path: Path, dec: Path | None, limit: float) -> Run:
    way = _DETECTED if dec is None else _GIVEN
    run, result = run_built(lambda: decompose(read(path, dec)), limit, name=name, way=way)
    return replace(run, proved=run.proved and result.bound_source == OWN)

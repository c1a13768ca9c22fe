"""Benchmark of published instances of cutting stock, and of similar families, all to proved optimality."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.harness import BenchOptions, Run, check_agreement, read_table, run_engine, spread
from colgen.cli.template import Figure
from colgen.problems.cutting_stock.bound import verify
from colgen.problems.cutting_stock.generators import long_rolls, wide_pieces, wide_rolls
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.reading import read
from colgen.problems.cutting_stock.template import CuttingStock

_LIMIT = 900.0
"""Time limit per instance in seconds, which counts if reached."""

_WIDE_LIMIT = 300.0
"""Time limit per instance of wide rolls in seconds, which counts if reached."""

_FAMILIES: Mapping[str, str] = {
    "hard28": "Hard28_",
    "waescher": "Waescher_",
    "201": "201_",
    "402": "402_",
    "600": "600_",
}
"""Prefixes of the files of published families."""

_WIDE_MINUTES = 20.0
"""Approximate minutes for all instances of wide rolls."""

_MINUTES = 60.0
"""Approximate minutes for all instances."""


def generated(quick: bool) -> Iterator[tuple[str, CuttingStockInstance, int | None]]:
    """Yield family, instance, and None for the unknown optimum."""
    for seed in range(1 if quick else 3):
        yield "wide_pieces", wide_pieces(seed), None
        yield "long_rolls", long_rolls(seed), None


def similar_to_gi(quick: bool) -> Iterator[tuple[str, CuttingStockInstance]]:
    """Yield class and instance of sizes of the GI set: five for each of two rolls and two ranges of widths."""
    sizes = ((125, 0), (125, 1), (250, 0), (250, 1), (500, 0))
    for roll, narrow in itertools.product((500_000, 1_500_000), (True, False)):
        for items, seed in sizes[:1] if quick else sizes:
            name = f"gi_{roll // 1000}_{'narrow' if narrow else 'wide'}"
            yield name, wide_rolls(items, roll, seed, narrow=narrow)


def bench_gi(options: BenchOptions) -> list[Figure]:
    """Solve instances of sizes of the GI set, spread over the classes if time is short."""
    runs: dict[str, list[Run]] = {}
    for family, instance in spread(list(similar_to_gi(options.quick)), options.share(_WIDE_MINUTES)):
        runs.setdefault(family, []).append(_prove(instance, None, options, _WIDE_LIMIT))
    every = [run for each in runs.values() for run in each]
    proved = sum(run.proved for run in every)
    return [
        Figure("proved_gi", proved, "instances", len(every), f"in {_WIDE_LIMIT:g} s each"),
        *(
            Figure(f"median_seconds_{family}", median(run.counted for run in each), "s", len(each), "processor time")
            for family, each in runs.items()
        ),
    ]


def published(folder: Path) -> Iterator[tuple[str, CuttingStockInstance, int | None]]:
    """Yield family, instance and published optimum of the files of a folder."""
    optima = {row["instance"]: int(row["rolls"]) for row in read_table(folder / "optima.csv")}
    for family, begins in _FAMILIES.items():
        for name in sorted(optima):
            if name.startswith(begins):
                yield family, read(folder / f"{name}.txt"), optima[name]


def bench_published(options: BenchOptions) -> list[Figure]:
    """Solve generated families, and published ones if a folder is given."""
    chosen = list(generated(options.quick))
    if options.data is not None and not options.quick:
        chosen += spread(list(published(options.data)), options.share(_MINUTES))
    runs: dict[str, list[Run]] = {}
    for family, instance, optimum in chosen:
        runs.setdefault(family, []).append(_prove(instance, optimum, options))
    return [figure for family, each in runs.items() for figure in _figures(family, each)]


def _prove(instance: CuttingStockInstance, optimum: int | None, options: BenchOptions, limit: float = _LIMIT) -> Run:
    """Solve an instance; the detail ``exact`` is 1 if the root proves the optimum in exact integer arithmetic."""
    run, result = run_engine(CuttingStock(instance), limit, name=instance.name)
    rolls = round(instance.check(result.answer))
    least = verify(instance, result.certificate)
    if optimum is not None and rolls < optimum:  # the check counted them, so the published value is not optimal
        options.say(f"{instance.name}: {rolls} rolls suffice, the published value is {optimum}")
        optimum = rolls
    options.say(f"{run}; exact root bound {least}")
    claims = {run.way: (float(rolls), run.bound), "the exact root bound": (float(rolls), float(least))}
    check_agreement(instance.name, claims, known=optimum)
    return replace(run, details={"exact": float(least == rolls)})


def _figures(family: str, runs: Sequence[Run]) -> list[Figure]:
    n, seconds = len(runs), [run.counted for run in runs]
    return [
        Figure(f"proved_{family}", sum(run.proved for run in runs), "instances", n, f"in {_LIMIT:g} s each"),
        Figure(
            f"exact_{family}",
            sum(run.details["exact"] for run in runs),
            "instances",
            n,
            "at the root, in exact arithmetic",
        ),
        Figure(f"median_seconds_{family}", median(seconds), "s", n, "processor time"),
        Figure(f"worst_seconds_{family}", max(seconds), "s", n, "processor time"),
    ]

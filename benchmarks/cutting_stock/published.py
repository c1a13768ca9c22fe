"""What is measured besides: published instances, and families in their kind, all to proved optimality."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.harness import BenchOptions, spread
from colgen import solve
from colgen.cli.template import Figure
from colgen.core.errors import InputError
from colgen.core.stop import TimeLimit
from colgen.problems.cutting_stock.bound import verify
from colgen.problems.cutting_stock.instance import CuttingStockInstance, long_rolls, read, wide_pieces
from colgen.problems.cutting_stock.template import CuttingStock

_LIMIT = 900.0
"""Seconds that an instance is given; one that needs more counts as not proved, at that time."""

_FAMILIES: Mapping[str, str] = {
    "hard28": "Hard28_",
    "waescher": "Waescher_",
    "201": "201_",
    "402": "402_",
    "600": "600_",
}
"""Families of published instances, by how their files begin."""

_MINUTES = 60.0
"""About what all of it takes."""


@dataclass(frozen=True)
class _Proof:
    """One instance: whether it was proved, in how many seconds of the processor, and whether without any rounding."""

    proved: bool
    exact: bool
    seconds: float


def generated(quick: bool) -> Iterator[tuple[str, CuttingStockInstance, int | None]]:
    """Family, instance, and nothing known of its optimum."""
    for seed in range(1 if quick else 3):
        yield "wide_pieces", wide_pieces(seed), None
        yield "long_rolls", long_rolls(seed), None


def published(folder: Path) -> Iterator[tuple[str, CuttingStockInstance, int | None]]:
    """Family, instance and published optimum of the files of a folder.

    Raises
    ------
    InputError
        If there are none.
    """
    listed = folder / "optima.csv"
    if not listed.is_file():
        raise InputError(f"--data {folder}: expected packing instances, and their optima in optima.csv")
    with listed.open(encoding="utf-8", newline="") as lines:
        optima = {row["instance"]: int(row["rolls"]) for row in csv.DictReader(lines)}
    for family, begins in _FAMILIES.items():
        for name in sorted(optima):
            if name.startswith(begins):
                yield family, read(folder / f"{name}.txt"), optima[name]


def bench_published(options: BenchOptions) -> list[Figure]:
    """Generated families, and published ones where a folder of them is given."""
    chosen = list(generated(options.quick))
    if options.data is not None and not options.quick:
        chosen += spread(list(published(options.data)), options.share(_MINUTES))
    proofs: dict[str, list[_Proof]] = {}
    for family, instance, optimum in chosen:
        proofs.setdefault(family, []).append(_prove(family, instance, optimum, options))
    return [figure for family, each in proofs.items() for figure in _figures(family, each)]


def _prove(family: str, instance: CuttingStockInstance, optimum: int | None, options: BenchOptions) -> _Proof:
    started = time.process_time()
    result = solve(CuttingStock(instance), stop=TimeLimit(_LIMIT))
    seconds = time.process_time() - started
    rolls = instance.check(result.answer)
    least = verify(instance, result.certificate)
    if optimum is not None and rolls < optimum:  # the check has counted them: what is published is no optimum
        options.say(f"{instance.name}: {rolls} rolls are enough, {optimum} are published")
        optimum = rolls
    if optimum is not None and (least > optimum or (result.is_optimal and rolls != optimum)):
        raise AssertionError(
            f"{instance.name}: {rolls} rolls, bound {result.dual_bound:g}, {least} by whole numbers; known is {optimum}"
        )
    options.say(
        f"{family:12} {instance.name:20} {rolls} rolls, {result.termination.name}, {seconds:.2f} s, "
        f"{len(result.nodes)} nodes, {len(result.iterations)} rounds; {least} by whole numbers at the root"
    )
    return _Proof(result.is_optimal, least == rolls, seconds if result.is_optimal else math.inf)


def _figures(family: str, proofs: Sequence[_Proof]) -> list[Figure]:
    n = len(proofs)
    seconds = [min(proof.seconds, _LIMIT) for proof in proofs]
    return [
        Figure(f"proved_{family}", sum(proof.proved for proof in proofs), "instances", n, f"in {_LIMIT:g} s each"),
        Figure(f"exact_{family}", sum(proof.exact for proof in proofs), "instances", n, "at the root, exactly"),
        Figure(f"median_seconds_{family}", median(seconds), "s", n, "of the processor"),
        Figure(f"worst_seconds_{family}", max(seconds), "s", n, "of the processor"),
    ]

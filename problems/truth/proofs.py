"""What is measured of certificates: whole proofs, the time to check and to write them, and the lies that are found."""

from __future__ import annotations

import csv
import gzip
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from colgen import InputError, Problem, TimeLimit, solve
from colgen.cli.template import BenchOptions, Figure, spread
from colgen.proof.checker import Verdict, check
from colgen.proof.checker_pricing import WrongError
from problems import assignment, cutting_stock
from problems.assignment import Assignment
from problems.cutting_stock import CuttingStock
from problems.truth.lies import mutated

_MINUTES = 10.0
"""What it takes whole, about."""

_LIMIT = 120.0
"""Seconds for an instance."""

_LIES = 1_000
_SHORT = 40_000
"""Lies are told of certificates with no more bytes than this: each is checked up to its first false line."""


@dataclass(frozen=True)
class _Set:
    """Instances whose proofs are wanted whole."""

    name: str
    folder: str
    patterns: Sequence[str]
    read: Callable[[Path], Any]
    problem: Callable[[Any], Problem]


_SETS = (
    _Set("packing", "packing", ("Hard28_*.txt", "201_*.txt"), cutting_stock.read, CuttingStock),
    _Set("assignment", "assignment", ("*.txt",), assignment.read, Assignment),
)


@dataclass(frozen=True)
class _Outcome:
    """Of one instance: processor seconds, without a certificate where that was measured."""

    proved: bool
    verdict: Verdict | None
    seconds: float
    plain: float | None
    checking: float
    size: int
    lines: list[str]


def bench_proofs(options: BenchOptions) -> list[Figure]:
    """Certificates of public instances, checked; and true ones that are changed, of which none may pass."""
    if options.data is None:
        raise InputError("the benchmark proofs needs --data: the folder of the instances")
    share = 0.1 if options.quick else options.share(_MINUTES)
    figures: list[Figure] = []
    outcomes: list[_Outcome] = []
    for each in _SETS:
        files = sorted(path for pattern in each.patterns for path in (options.data / each.folder).glob(pattern))
        if not files:
            raise InputError(f"{options.data / each.folder}: expected the instances {', '.join(each.patterns)}")
        with (options.data / each.folder / "optima.csv").open(newline="") as table:
            optima = {row[0]: row[1] for row in csv.reader(table)}
        solve(each.problem(each.read(files[0])), stop=TimeLimit(1.0))  # compiles the kernels
        found = []
        for k, path in enumerate(spread(files, share)):
            found.append(_outcome(each, path, float(optima[path.stem]), compared=k % 4 == 0))
            last = found[-1]
            options.say(
                f"{path.stem}: {'proved' if last.proved else 'NOT PROVED'}, {last.seconds:.2f} s, checked in "
                f"{last.checking:.2f} s, {last.size:,} bytes"
            )
        proved = sum(outcome.proved for outcome in found)
        figures.append(
            Figure(f"checked_{each.name}", proved, "instances", len(found), f"whole proofs, of {len(found)}")
        )
        outcomes += found
    checked = [(outcome, outcome.verdict) for outcome in outcomes if outcome.verdict is not None]
    claims = sum(verdict.claims.checked + verdict.claims.trusted for _, verdict in checked)
    trusted = sum(verdict.claims.trusted for _, verdict in checked)
    leaves = sum(verdict.leaves for _, verdict in checked)
    compared = [o.seconds / o.plain for o in outcomes if o.plain]
    figures += [
        Figure("trusted_share", trusted / max(claims, 1), "share", claims, "of the claims"),
        Figure(
            "check_time_share",
            median(o.checking / o.seconds for o in outcomes),
            "ratio",
            len(outcomes),
            "processor time of checking over solving, in the middle",
        ),
        Figure(
            "certificate_bytes_per_leaf",
            sum(o.size for o in outcomes) / max(leaves, 1),
            "bytes",
            leaves,
            "not compressed",
        ),
        Figure(
            "write_overhead",
            median(compared),
            "ratio",
            len(compared),
            "solving with a certificate over solving without, in the middle",
        ),
    ]
    wanted = 30 if options.quick else max(round(_LIES * share), 30)
    found_lies = _lies([o.lines for o in outcomes if o.proved and o.size <= _SHORT], wanted, options)
    figures.append(Figure("lies_found", found_lies, "lies", wanted, f"of {wanted} that change what a certificate says"))
    return figures


def _outcome(each: _Set, path: Path, optimum: float, *, compared: bool) -> _Outcome:
    instance = each.read(path)
    plain = None
    if compared:
        begun = time.process_time()
        solve(each.problem(instance), stop=TimeLimit(_LIMIT))
        plain = time.process_time() - begun
    with tempfile.TemporaryDirectory() as folder:
        proof = Path(folder) / "proof.jsonl.gz"
        begun = time.process_time()
        solve(each.problem(instance), stop=TimeLimit(_LIMIT), certificate=proof)
        seconds = time.process_time() - begun
        text = gzip.decompress(proof.read_bytes()).decode()
    lines, verdict = text.splitlines(), None
    begun = time.process_time()
    try:
        verdict = check(lines, path.read_text())
    except WrongError as wrong:
        raise AssertionError(f"{path.stem}: line {wrong.line} is refused: {wrong}") from None
    checking = time.process_time() - begun
    proved = verdict.proves == "optimal" and not verdict.claims.trusted
    if proved and verdict.objective != optimum:
        raise AssertionError(f"{path.stem}: {verdict.objective} is proved, {optimum:g} is known")
    return _Outcome(proved, verdict, seconds, plain, checking, len(text), lines)


def _lies(certificates: Sequence[list[str]], wanted: int, options: BenchOptions) -> int:
    """How many seeded lies are found."""
    found = 0
    for seed in range(wanted if certificates else 0):
        lines, what = mutated(certificates[seed % len(certificates)], seed)
        try:
            check(lines)
            options.say(f"not found, of seed {seed}: {what}")
        except WrongError:
            found += 1
    return found

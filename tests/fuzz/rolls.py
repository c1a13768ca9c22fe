"""Fuzz cutting stock, compared with a search over remaining demands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from colgen import solve
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from tests.fuzz.judging import Claims, Truths, claims_of
from tests.fuzz.scores import Rng, Sample
from tests.twins.cutting_stock import optimum

NAME = "cutting_stock"


def draw(rng: Rng) -> Sample:
    """Draw up to four widths near fractions of the roll, in units that may be large."""
    unit = int(rng.choice([1, 1, 1, 10**3, 10**6]))
    roll = int(rng.integers(5, 31))
    least = 1 + roll // 6
    widths = rng.choice(np.arange(least, roll + 1), min(int(rng.integers(1, 5)), roll + 1 - least), replace=False)
    demands = rng.integers(1, 5, len(widths))
    # Widths slightly below a multiple of the unit have the same patterns.
    off = rng.integers(0, max(unit // 20, 1), len(widths)) if unit > 1 else np.zeros(len(widths), dtype=np.int64)
    arrays = {"widths": (widths * unit - off).astype(float), "demands": demands.astype(float)}
    return Sample(NAME, arrays, settings={"roll": roll * unit})


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims, negated because rolls are minimised."""
    widths = tuple(int(w) for w in sample.arrays["widths"])
    demands = tuple(int(d) for d in sample.arrays["demands"])
    roll = sample.settings["roll"]
    instance = CuttingStockInstance(roll, widths, demands)
    truths = Truths(np.array([-float(optimum(instance))]), 1.0, np.zeros(1))
    result = solve(CuttingStock(instance))
    worth = -np.inf
    if result.answer is not None:
        cut = np.zeros(len(widths))
        fits = True
        for pattern, rolls in result.answer:
            fits &= sum(widths[item] * copies for item, copies in pattern) <= roll and rolls == int(rolls) >= 0
            for item, copies in pattern:
                cut[item] += copies * rolls
        worth = -float(sum(rolls for _, rolls in result.answer)) if fits and (cut >= demands).all() else float("nan")
    return truths, claims_of(result, worth, -1.0)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one item or one piece less."""
    widths, demands = sample.arrays["widths"], sample.arrays["demands"]
    for item in range(len(widths)):
        if len(widths) > 1:
            kept = np.arange(len(widths)) != item
            yield dataclasses.replace(sample, arrays={"widths": widths[kept], "demands": demands[kept]})
        if demands[item] > 1:
            fewer = demands - (np.arange(len(widths)) == item)
            yield dataclasses.replace(sample, arrays={"widths": widths, "demands": fewer})

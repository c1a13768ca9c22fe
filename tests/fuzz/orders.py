"""Fuzz cutting stock with several rolls, conflicts or few patterns, compared with a search over remaining demands."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from colgen import solve
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, Stock
from tests.fuzz.judging import Claims, Truths, claims_of
from tests.fuzz.scores import Rng, Sample
from tests.twins.orders import cheapest

NAME = "orders"


def draw(rng: Rng) -> Sample:
    """Draw up to four widths, some equal, with one or two extensions; costs of any size, limited rolls."""
    kind = str(rng.choice(["stock", "conflicts", "both", "patterns"]))
    roll, n = int(rng.integers(5, 25)), int(rng.integers(1, 5 if kind == "stock" else 4))
    widths = rng.integers(1 + roll // 6, roll + 1, n)
    demands = rng.integers(1, {"stock": 5, "patterns": 6}.get(kind, 3), n)
    arrays = {"widths": widths.astype(float), "demands": demands.astype(float)}
    settings: dict[str, Any] = {"roll": roll}
    if kind in ("stock", "both"):
        others = rng.integers(1, roll + 1, int(rng.integers(0, 3)))
        arrays["rolls"] = np.array([roll, *others.tolist()], dtype=float)
        costs = rng.integers(0, 7, len(others) + 1).astype(float)
        if rng.random() < 0.3:
            costs = np.round(costs + rng.random(len(costs)), 3)
        arrays["costs"] = costs * float(10.0 ** int(rng.choice([0, 0, 0, -8, 8])))
        scarce = rng.random(len(costs)) < 0.4
        arrays["supplies"] = np.where(scarce, rng.integers(0, 4, len(costs)), -1).astype(float)
    if kind in ("conflicts", "both"):
        arrays["conflicts"] = np.triu(rng.random((n, n)) < rng.choice([0.2, 0.5])).astype(float)
    if kind == "patterns":
        settings["patterns"] = int(rng.integers(1, 4))
    return Sample(NAME, arrays, settings=settings)


def evaluate(sample: Sample) -> tuple[Truths, Claims]:
    """Return truth and claims, negated because costs are minimised."""
    instance = _instance(sample)
    best = cheapest(instance)
    size = max(instance.rolls.costs) or 1.0
    truths = Truths(np.array([-math.inf if best is None else -float(best)]), size, np.zeros(1))
    result = solve(CuttingStock(instance))
    worth = -np.inf
    if result.answer is not None:
        worth = -_worth(instance, result.answer)
    return truths, claims_of(result, worth, -1.0)


def simplify(sample: Sample) -> Iterator[Sample]:
    """Yield samples with one item, piece, conflict or limit less."""
    arrays = dict(sample.arrays)
    demands = arrays["demands"]
    for item in range(len(demands)):
        kept = np.arange(len(demands)) != item
        if len(demands) > 1:
            fewer = {**arrays, "widths": arrays["widths"][kept], "demands": demands[kept]}
            if "conflicts" in arrays:
                fewer["conflicts"] = arrays["conflicts"][np.ix_(kept, kept)]
            yield dataclasses.replace(sample, arrays=fewer)
        if demands[item] > 1:
            yield dataclasses.replace(sample, arrays={**arrays, "demands": demands - (~kept)})
    if "supplies" in arrays:
        for k in np.flatnonzero(arrays["supplies"] >= 0):
            more = arrays["supplies"].copy()
            more[k] = -1.0
            yield dataclasses.replace(sample, arrays={**arrays, "supplies": more})
    if "conflicts" in arrays:
        for i, j in np.argwhere(arrays["conflicts"] > 0):
            fewer_pairs = arrays["conflicts"].copy()
            fewer_pairs[i, j] = 0.0
            yield dataclasses.replace(sample, arrays={**arrays, "conflicts": fewer_pairs})


def _instance(sample: Sample) -> CuttingStockInstance:
    arrays = sample.arrays
    stock: Stock | None = None
    conflicts: tuple[tuple[int, int], ...] = ()
    if "rolls" in arrays:
        supplies = tuple(None if supply < 0 else int(supply) for supply in arrays["supplies"])
        stock = Stock(tuple(int(width) for width in arrays["rolls"]), tuple(arrays["costs"].tolist()), supplies)
    if "conflicts" in arrays:
        conflicts = tuple((int(i), int(j)) for i, j in np.argwhere(arrays["conflicts"] > 0))
    return CuttingStockInstance(
        sample.settings["roll"],
        tuple(int(width) for width in arrays["widths"]),
        tuple(int(demand) for demand in arrays["demands"]),
        stock=stock,
        conflicts=conflicts,
        patterns=sample.settings.get("patterns"),
    )


def _worth(instance: CuttingStockInstance, answer: Any) -> float:
    """Return the cost of an answer computed from the data alone; NaN if it is infeasible."""
    stock, pairs = instance.rolls, set(instance.conflicts)
    cut, used = np.zeros(instance.num_items), np.zeros(len(stock.widths))
    total, different = Fraction(0), set()
    for pattern, rolls, *kinds in answer:
        kind = kinds[0] if kinds else 0
        copies = dict(pattern)
        if len(copies) < len(pattern) or rolls != int(rolls) or rolls < 0:
            return math.nan
        if sum(instance.widths[i] * c for i, c in pattern) > stock.widths[kind]:
            return math.nan
        if any(i in copies and j in copies and (i != j or copies[i] > 1) for i, j in pairs):
            return math.nan
        for i, c in pattern:
            cut[i] += c * rolls
        used[kind] += rolls
        different.add(tuple(sorted(pattern)))
        total += Fraction(stock.costs[kind]) * int(rolls)
    enough = (cut >= instance.demands).all() and (used <= np.array(stock.limits)).all()
    few = instance.patterns is None or len(different) <= instance.patterns
    return float(total) if enough and few else math.nan

"""Random instances with several roll widths, conflicts or few patterns, like published ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from colgen.problems.cutting_stock.generators import uniform
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Stock


def several_bins(num_items: int, seed: int, *, concave: bool = False) -> CuttingStockInstance:
    """Return an instance with bins of five sizes from 60 to 200 and pieces of 1 to 100, as in Monaci's classes.

    Costs are integer.  They equal the sizes or, with ``concave``, grow as their square roots, so that large bins are
    cheaper relative to their size.
    """
    rng = np.random.default_rng([3, seed])
    widths = (200, 160, 120, 100, 60)
    costs = tuple(float(np.ceil(100.0 * np.sqrt(width))) if concave else float(width) for width in widths)
    pieces, counts = np.unique(rng.integers(1, 101, num_items), return_counts=True)
    name = f"bins-{num_items}-{seed}-{'concave' if concave else 'linear'}"
    stock = Stock(widths, costs)
    return CuttingStockInstance(200, tuple(pieces[::-1].tolist()), tuple(counts[::-1].tolist()), name, stock=stock)


def several_lengths(num_items: int, seed: int, *, kinds: int = 5, supplies: bool = True) -> CuttingStockInstance:
    """Return stock lengths of 1,000 to 10,000, items of 1 to 7,500, demands of 1 to 100, as Belov and Scheithauer.

    Costs are the lengths, so that waste is minimised.  With supplies, all kinds except the longest are limited.
    """
    rng = np.random.default_rng([4, seed])
    lengths = np.sort(rng.choice(np.arange(1_000, 10_000), kinds - 1, replace=False))[::-1]
    widths = (10_000, *lengths.tolist())
    items = np.sort(rng.choice(np.arange(1, 7_501), num_items, replace=False))[::-1]
    demands = rng.integers(1, 101, num_items)
    material = int(items @ demands)
    scarce = [int(rng.integers(1, 1 + max(1, material // (kinds * width)))) for width in lengths.tolist()]
    stock = Stock(widths, tuple(map(float, widths)), (None, *scarce) if supplies else None)
    name = f"lengths-{num_items}-{seed}"
    return CuttingStockInstance(10_000, tuple(items.tolist()), tuple(demands.tolist()), name, stock=stock)


def conflicting(num_items: int, density: float, seed: int, *, kinds: int = 1) -> CuttingStockInstance:
    """Return bin packing with random conflicts: pieces of 20 to 100, rolls of 150 (Falkenauer's uniform classes).

    Source: R. Sadykov, F. Vanderbeck, *Bin packing with conflicts: a generic branch-and-price algorithm*, INFORMS
    Journal on Computing 25 (2013), which draws arbitrary conflict graphs like this.

    Parameters
    ----------
    density
        Probability of each conflict.
    kinds
        1 for rolls of 150; 3 to add rolls of 120 and 100, with costs that grow more slowly than widths.
    """
    rng = np.random.default_rng([5, seed, round(1000 * density)])
    widths = np.sort(rng.integers(20, 101, num_items))[::-1]
    upper = np.argwhere(np.triu(rng.random((num_items, num_items)) < density, 1))
    pairs = tuple((int(i), int(j)) for i, j in upper)
    stock = None if kinds == 1 else Stock((150, 120, 100), (150.0, 125.0, 108.0))
    name = f"conflicts-{num_items}-{round(100 * density)}-{seed}"
    return CuttingStockInstance(150, tuple(widths.tolist()), (1,) * num_items, name, stock=stock, conflicts=pairs)


def few_patterns(num_items: int, patterns: int, seed: int) -> CuttingStockInstance:
    """Return cutting stock with demands 1 to 50, a limit on patterns, and items of 0.1 to 0.7 of the roll."""
    return replace(uniform(num_items, seed, demands=(1, 50)), patterns=patterns)

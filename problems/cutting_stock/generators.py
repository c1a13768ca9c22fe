"""Random instances of cutting stock and bin packing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from colgen.problems.cutting_stock.instance import CuttingStockInstance, from_items


def uniform(
    num_items: int,
    seed: int,
    *,
    roll: int = 1000,
    widths: tuple[int, int] = (100, 700),
    demands: tuple[int, int] = (10, 100),
) -> CuttingStockInstance:
    """Return a random instance with distinct uniform widths and with uniform demands; ranges include their ends."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(np.arange(widths[0], widths[1] + 1), num_items, replace=False)
    wanted = rng.integers(demands[0], demands[1] + 1, num_items)
    order = np.argsort(-chosen)
    name = f"uniform-{num_items}-{seed}"
    return CuttingStockInstance(roll, tuple(chosen[order].tolist()), tuple(wanted[order].tolist()), name)


def bin_packing(
    num_items: int, seed: int, *, roll: int = 1000, widths: tuple[int, int] = (1, 800)
) -> CuttingStockInstance:
    """Return a random bin packing instance with uniform widths; 160 to 200 pieces up to 0.8 C resemble hard28."""
    rng = np.random.default_rng(seed)
    return from_items(roll, rng.integers(widths[0], widths[1] + 1, num_items).tolist(), f"bin-{num_items}-{seed}")


def wide_pieces(seed: int) -> CuttingStockInstance:
    """Return random bin packing similar to Scholl's HARD sets: 200 different pieces, rolls of width 100,000.

    Source: A. Scholl, R. Klein, C. Jürgens, *BISON: a fast hybrid procedure for exactly solving the one-dimensional bin
    packing problem*, Computers & Operations Research 24 (1997).
    """
    rng = np.random.default_rng(seed)
    pieces = rng.choice(np.arange(20_000, 35_001), 200, replace=False)
    return from_items(100_000, pieces.tolist(), f"wide-pieces-{seed}")


def long_rolls(seed: int) -> CuttingStockInstance:
    """Return random cutting stock of 100 widths on rolls of 500,000, where few sums of widths coincide."""
    found = uniform(100, seed, roll=500_000, widths=(50_000, 350_000), demands=(1, 100))
    return replace(found, name=f"long-rolls-{seed}")


def wide_rolls(items: int, roll: int, seed: int, *, narrow: bool) -> CuttingStockInstance:
    """Return random cutting stock with many widths on rolls of 500,000 or more.

    Widths are uniform and different, from 1% to 25% of the roll if ``narrow``, else from 5% to 50%.  Demands are
    uniform from 1 to 10.  The sizes are those of the GI set: 125, 250 or 500 items, rolls of up to 1,500,000.

    References
    ----------
    T. Gschwind, S. Irnich, *Dual inequalities for stabilized column generation revisited*, INFORMS Journal on Computing
    28 (2016), for the GI set.
    """
    widths = (roll // 100, roll // 4) if narrow else (roll // 20, roll // 2)
    found = uniform(items, seed, roll=roll, widths=widths, demands=(1, 10))
    return replace(found, name=f"wide-rolls-{'narrow' if narrow else 'wide'}-{items}-{roll}-{seed}")


def triplets(num_rolls: int, seed: int, *, roll: int = 1000) -> CuttingStockInstance:
    """Return a bin packing instance whose optimal rolls have three pieces and no waste (Falkenauer, 1996)."""
    rng = np.random.default_rng(seed)
    pieces: list[int] = []
    low, high = roll // 4, roll // 2
    while len(pieces) < 3 * num_rolls:
        first = int(rng.integers(int(0.38 * roll), int(0.49 * roll) + 1))
        second = int(rng.integers(low, (roll - first) // 2 + 1))
        third = roll - first - second
        if low <= third < high:
            pieces += [first, second, third]
    return from_items(roll, pieces, f"triplets-{num_rolls}-{seed}")


def natural(seed: int) -> CuttingStockInstance:
    """Return a bin packing instance of 160, 180 or 200 pieces with uniform widths up to 0.8 C, similar to hard28.

    Most draws are easy.  In the others, the optimum of the relaxation is just below an integer K, so a plan of K rolls
    has almost no waste.

    References
    ----------
    J. E. Schoenfield, *Fast, exact solution of open bin packing problems without linear programming*, 2002 (hard28).
    """
    rng = np.random.default_rng([28, seed])
    return from_items(1000, rng.integers(1, 801, int(rng.choice([160, 180, 200]))).tolist(), f"natural-{seed}")


def critical(seed: int, last_width: int) -> CuttingStockInstance:
    """Return a bin packing instance like those of :func:`natural`, with a last piece of the given width.

    Choose the largest ``last_width`` for which the relaxation does not exceed an integer K.  Then a plan of K rolls has
    almost no waste.  Some of these instances have such a plan, which is difficult to find.  The others need K + 1 rolls
    (they lack the integer round-up property, IRUP), which is difficult to prove.
    """
    rng = np.random.default_rng([281, seed])
    pieces = rng.integers(1, 801, int(rng.choice([160, 180, 200]))).tolist()
    return from_items(1000, [*pieces[:-1], last_width], f"critical-{seed}")


def near_integer(seed: int) -> CuttingStockInstance:
    """Return a bin packing instance whose material fills an integer number of rolls, up to a few units of 10,000.

    A plan that attains the rounded bound of the relaxation has almost no waste.  A roll may hold a hundred narrow
    pieces.  (In some draws the adjustment of the total removes a piece, and the waste is larger.)

    References
    ----------
    G. Wäscher and T. Gau, *Heuristics for the integer one-dimensional cutting stock problem: a computational study*,
    OR Spektrum 18 (1996); its hardest instances are of this kind.
    """
    rng = np.random.default_rng([17, seed])
    roll = 10_000
    num_widths = int(rng.integers(30, 61))
    num_pieces = int(rng.integers(max(57, num_widths), 241))
    high = float(rng.choice([0.3, 0.4, 0.5, 0.6, 0.75]))
    low = float(rng.choice([0.001, 0.02, 0.05, 0.1]))
    widths = np.unique(rng.integers(int(low * roll), int(high * roll) + 1, num_widths))
    copies = np.ones(len(widths), dtype=np.int64)
    np.add.at(copies, rng.integers(0, len(widths), max(0, num_pieces - len(widths))), 1)
    waste = int(rng.choice([0, 0, 1, 1, 2, 5]))
    pieces = np.repeat(widths, copies)
    # Change a few pieces slightly so that the total is a multiple of the roll minus the waste.
    change = (-waste - int(pieces.sum())) % roll
    if change > roll // 2:
        change -= roll
    share = int(rng.integers(2, 8))
    changed = rng.choice(len(pieces), share, replace=False)
    pieces[changed] += change // share
    pieces[changed[0]] += change % share
    return from_items(roll, np.minimum(pieces[pieces > 0], roll).tolist(), f"near-integer-{seed}")

"""Instances of cutting stock: data that validates itself, files, generators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from typing import TypeAlias

import numpy as np

from colgen import InputError
from colgen.core.files import read_text, write_text
from colgen.core.numbers import as_whole

Pattern: TypeAlias = tuple[tuple[int, int], ...]
"""What is cut from one roll: ``(item, copies)`` for each item in it, widest first."""

LARGEST_ROLL = 2**53
"""Up to here floats hold every whole number."""

MOST_PIECES = 10**8
"""Of an instance: with more of them, rounding errors of linear programs come near to a whole roll."""


@dataclass(frozen=True)
class CuttingStockInstance:
    """A cutting stock instance.

    Parameters
    ----------
    roll
        Width C of a roll.
    widths, demands
        w_i with 0 < w_i ≤ C and d_i ≥ 1, whole numbers, one entry an item.  Where widths have decimals, multiply all
        of them and the roll by a power of ten.

    Raises
    ------
    InputError
        If the data is none of this.
    """

    roll: int
    widths: tuple[int, ...]
    demands: tuple[int, ...]
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "roll", as_whole(self.roll, "the roll width"))
        for field in ("widths", "demands"):
            values = tuple(as_whole(v, f"each of the {field}") for v in getattr(self, field))
            object.__setattr__(self, field, values)
        if not self.widths:
            raise InputError("a cutting stock instance needs at least one item")
        if len(self.widths) != len(self.demands):
            raise InputError(
                f"as many demands as widths are expected, not {len(self.demands)} for {len(self.widths)} items"
            )
        if self.roll < 1:
            raise InputError(f"the roll width must be at least 1, not {self.roll}")
        if self.roll > LARGEST_ROLL:
            raise InputError(f"the roll width must be at most 2^53, not {self.roll:.3g}")
        for item, (width, demand) in enumerate(zip(self.widths, self.demands, strict=True)):
            if not 1 <= width <= self.roll:
                raise InputError(f"item {item} has width {width}, expected 1 to {self.roll} (the roll)")
            if demand < 1:
                raise InputError(f"item {item} has demand {demand}, expected at least 1")
        if sum(self.demands) > MOST_PIECES:
            raise InputError(
                f"the demands sum to {float(sum(self.demands)):.3g} pieces, expected at most {MOST_PIECES}"
            )
        object.__setattr__(self, "name", str(self.name))

    @property
    def num_items(self) -> int:
        return len(self.widths)

    @property
    def material_bound(self) -> int:
        """⌈Σ w_i d_i / C⌉: fewer rolls do not hold the material."""
        total = sum(w * d for w, d in zip(self.widths, self.demands, strict=True))
        return -(-total // self.roll)

    def objective(self, answer: Iterable[tuple[Pattern, int]]) -> int:
        """Number of rolls of an answer, ``(pattern, rolls)`` pairs."""
        return sum(rolls for _, rolls in answer)

    def check(self, answer: Iterable[tuple[Pattern, int]]) -> int:
        """Number of rolls of an answer, after checking every pattern and demand from the data alone.

        Raises
        ------
        ValueError
            If it is not an answer; the message says why.
        """
        try:
            plan = [(tuple([(index(item), index(copies)) for item, copies in p]), rolls) for p, rolls in answer]
        except (TypeError, ValueError) as error:
            raise ValueError(f"expected patterns of (item, copies) with their rolls: {error}") from None
        cut: Counter[int] = Counter()
        total = 0
        for pattern, rolls in plan:
            if not (rolls >= 0 and rolls == int(rolls)):
                raise ValueError(f"pattern {pattern} is used {rolls} times, expected a whole number")
            if any(copies < 1 for _, copies in pattern):
                raise ValueError(f"pattern {pattern} has an item without a piece")
            for item, _ in pattern:
                if not 0 <= item < self.num_items:
                    raise ValueError(f"pattern {pattern} has an item {item}, expected 0 to {self.num_items - 1}")
            width = sum(self.widths[item] * copies for item, copies in pattern)
            if width > self.roll:
                raise ValueError(f"pattern {pattern} needs width {width}, the roll has {self.roll}")
            for item, copies in pattern:
                cut[item] += copies * int(rolls)
            total += int(rolls)
        for item, demand in enumerate(self.demands):
            if cut[item] < demand:
                raise ValueError(f"item {item} is cut {cut[item]} times, {demand} are demanded")
        return total


def from_items(roll: int, items: Iterable[int], name: str = "") -> CuttingStockInstance:
    """An instance from single pieces, equal widths made one item, widest first (bin packing)."""
    counts = Counter(as_whole(width, "each of the items") for width in items)
    widths = tuple(sorted(counts, reverse=True))
    return CuttingStockInstance(roll, widths, tuple(counts[w] for w in widths), name)


# --- files -----------------------------------------------------------------------------------------------------------


def read(path: Path | str) -> CuttingStockInstance:
    """Read BPPLIB's text format: number of items n, roll width, then n lines with a width, or a width and a demand.

    Numbers may be separated by any white space as long as each line holds one record.

    Raises
    ------
    InputError
        With file and line, where the file is something else.
    """
    return parse(read_text(path), Path(path))


def parse(text: str, path: Path) -> CuttingStockInstance:
    """What :func:`read` makes of the text of a file."""
    lines = text.splitlines()
    records = [(number, line.split()) for number, line in enumerate(lines, 1) if line.split()]
    numbers = [(number, _numbers(path, number, words)) for number, words in records]
    if len(numbers) < 2 or len(numbers[0][1]) != 1 or len(numbers[1][1]) != 1:
        raise InputError(f"{path}: expected the number of items on the first line and the roll width on the second")
    count, roll = numbers[0][1][0], numbers[1][1][0]
    items = numbers[2:]
    if len(items) != count:
        raise InputError(f"{path}: the first line announces {count} items, but {len(items)} follow")
    demands: Counter[int] = Counter()
    for number, record in items:
        if len(record) not in (1, 2):
            raise InputError(
                f"{path}, line {number}: expected a width, or a width and a demand, not {len(record)} numbers"
            )
        width, demand = record[0], record[1] if len(record) == 2 else 1
        if not 1 <= width <= roll:
            raise InputError(f"{path}, line {number}: the width is {width}, expected 1 to {roll} (the roll)")
        if demand < 1:
            raise InputError(f"{path}, line {number}: the demand is {demand}, expected at least 1")
        demands[width] += demand
    if not demands:
        raise InputError(f"{path}: the instance has no items")
    widths = tuple(sorted(demands, reverse=True))
    try:
        return CuttingStockInstance(roll, widths, tuple(demands[w] for w in widths), path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _numbers(path: Path, line: int, words: Sequence[str]) -> list[int]:
    try:
        numbers = [int(word) for word in words]
    except ValueError:
        raise InputError(f"{path}, line {line}: expected whole numbers, not {' '.join(words)[:40]!r}") from None
    for number in numbers:
        if abs(number) > LARGEST_ROLL:
            raise InputError(f"{path}, line {line}: expected numbers up to 2^53, not {str(number)[:40]}")
    return numbers


def write(instance: CuttingStockInstance, path: Path | str) -> None:
    """Write the text format that :func:`read` reads, with width and demand on a line."""
    lines = [str(instance.num_items), str(instance.roll)]
    lines += [f"{w} {d}" for w, d in zip(instance.widths, instance.demands, strict=True)]
    write_text(path, "\n".join(lines) + "\n")


# --- generators ------------------------------------------------------------------------------------------------------


def uniform(
    num_items: int,
    seed: int,
    *,
    roll: int = 1000,
    widths: tuple[int, int] = (100, 700),
    demands: tuple[int, int] = (10, 100),
) -> CuttingStockInstance:
    """Random cutting stock: distinct widths and demands, each uniform in its range (ends included)."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(np.arange(widths[0], widths[1] + 1), num_items, replace=False)
    wanted = rng.integers(demands[0], demands[1] + 1, num_items)
    order = np.argsort(-chosen)
    name = f"uniform-{num_items}-{seed}"
    return CuttingStockInstance(roll, tuple(chosen[order].tolist()), tuple(wanted[order].tolist()), name)


def bin_packing(
    num_items: int, seed: int, *, roll: int = 1000, widths: tuple[int, int] = (1, 800)
) -> CuttingStockInstance:
    """Random bin packing: single pieces of uniform widths; 160 to 200 pieces up to 0.8 C look like hard28."""
    rng = np.random.default_rng(seed)
    return from_items(roll, rng.integers(widths[0], widths[1] + 1, num_items).tolist(), f"bin-{num_items}-{seed}")


def wide_pieces(seed: int) -> CuttingStockInstance:
    """Random bin packing in the kind of Scholl's HARD sets: 200 pieces, no two alike, on rolls of 100,000.

    Source: A. Scholl, R. Klein, C. Jürgens, *BISON: a fast hybrid procedure for exactly solving the one-dimensional bin
    packing problem*, Computers & Operations Research 24 (1997).
    """
    rng = np.random.default_rng(seed)
    pieces = rng.choice(np.arange(20_000, 35_001), 200, replace=False)
    return from_items(100_000, pieces.tolist(), f"wide-pieces-{seed}")


def long_rolls(seed: int) -> CuttingStockInstance:
    """Random cutting stock of 100 widths on rolls of 500,000, where few sums of widths meet."""
    found = uniform(100, seed, roll=500_000, widths=(50_000, 350_000), demands=(1, 100))
    return replace(found, name=f"long-rolls-{seed}")


def triplets(num_rolls: int, seed: int, *, roll: int = 1000) -> CuttingStockInstance:
    """Bin packing in which every roll of the optimum holds exactly three pieces without waste (Falkenauer, 1996)."""
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
    """Bin packing of 160, 180 or 200 pieces with uniform widths up to 0.8 C, like the set hard28.

    Nearly all draws are easy.  In the few that are not, the relaxation lies so little below a whole number K that an
    answer of K rolls has to be cut almost without waste.

    References
    ----------
    J. E. Schoenfield, *Fast, exact solution of open bin packing problems without linear programming*, 2002 (hard28).
    """
    rng = np.random.default_rng([28, seed])
    return from_items(1000, rng.integers(1, 801, int(rng.choice([160, 180, 200]))).tolist(), f"natural-{seed}")


def critical(seed: int, last_width: int) -> CuttingStockInstance:
    """Bin packing like :func:`natural` with the last piece as wide as the relaxation allows.

    Where ``last_width`` is the largest width at which the relaxation does not pass a whole number K, every roll of an
    answer of K rolls must be nearly free of waste.  Some of these instances have such an answer, which is hard to find;
    others have none: their optimum is K + 1 (they lack the integer round-up property, IRUP), which is hard to prove.
    """
    rng = np.random.default_rng([281, seed])
    pieces = rng.integers(1, 801, int(rng.choice([160, 180, 200]))).tolist()
    return from_items(1000, [*pieces[:-1], last_width], f"critical-{seed}")


def near_integer(seed: int) -> CuttingStockInstance:
    """Bin packing whose material fills a whole number of rolls but for a few units of 10 000.

    Rounding the relaxation up then gives nearly no room for waste, and pieces may be so narrow that a roll holds a
    hundred of them.  (In some draws a piece shrinks away as the total is adjusted, and the waste is larger.)

    References
    ----------
    G. Wäscher and T. Gau, *Heuristics for the integer one-dimensional cutting stock problem: a computational study*,
    OR Spektrum 18 (1996), whose hardest instances are of this kind.
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
    # The total is brought to a multiple of the roll, less the waste, by a small change of a few pieces.
    change = (-waste - int(pieces.sum())) % roll
    if change > roll // 2:
        change -= roll
    share = int(rng.integers(2, 8))
    changed = rng.choice(len(pieces), share, replace=False)
    pieces[changed] += change // share
    pieces[changed[0]] += change % share
    return from_items(roll, np.minimum(pieces[pieces > 0], roll).tolist(), f"near-integer-{seed}")

"""Instances of cutting stock: data that validates itself, files, generators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from colgen import InputError

Pattern: TypeAlias = tuple[tuple[int, int], ...]
"""What is cut from one roll: ``(item, copies)`` for each item in it, widest first."""


@dataclass(frozen=True)
class Instance:
    """A cutting stock instance.

    Parameters
    ----------
    roll
        Width C of a roll.
    widths, demands
        w_i with 0 < w_i ≤ C and d_i ≥ 1, whole numbers, one entry an item.

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
        object.__setattr__(self, "roll", _whole(self.roll, "the roll width"))
        for field in ("widths", "demands"):
            values = tuple(_whole(v, f"each of the {field}") for v in getattr(self, field))
            object.__setattr__(self, field, values)
        if not self.widths:
            raise InputError("a cutting stock instance needs at least one item")
        if len(self.widths) != len(self.demands):
            raise InputError(
                f"as many demands as widths are expected, not {len(self.demands)} for {len(self.widths)} items"
            )
        if self.roll < 1:
            raise InputError(f"the roll width must be at least 1, not {self.roll}")
        for item, (width, demand) in enumerate(zip(self.widths, self.demands, strict=True)):
            if not 1 <= width <= self.roll:
                raise InputError(f"item {item} has width {width}, expected 1 to {self.roll} (the roll)")
            if demand < 1:
                raise InputError(f"item {item} has demand {demand}, expected at least 1")

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
        answer = list(answer)
        cut: Counter[int] = Counter()
        for pattern, rolls in answer:
            if rolls != int(rolls) or rolls < 0:
                raise ValueError(f"pattern {pattern} is used {rolls} times, expected a whole number")
            if any(copies < 1 for _, copies in pattern):
                raise ValueError(f"pattern {pattern} has an item without a piece")
            width = sum(self.widths[item] * copies for item, copies in pattern)
            if width > self.roll:
                raise ValueError(f"pattern {pattern} needs width {width}, the roll has {self.roll}")
            for item, copies in pattern:
                cut[item] += copies * int(rolls)
        for item, demand in enumerate(self.demands):
            if cut[item] < demand:
                raise ValueError(f"item {item} is cut {cut[item]} times, {demand} are demanded")
        return int(self.objective(answer))


def _whole(value: object, what: str) -> int:
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be a whole number, not {value!r}") from None
    if number != value:
        raise InputError(f"{what} must be a whole number, not {value!r}")
    return int(number)


def from_items(roll: int, items: Iterable[int], name: str = "") -> Instance:
    """An instance from single pieces, equal widths made one item, widest first (bin packing)."""
    counts = Counter(int(width) for width in items)
    widths = tuple(sorted(counts, reverse=True))
    return Instance(roll, widths, tuple(counts[w] for w in widths), name)


# --- files -----------------------------------------------------------------------------------------------------------


def read(path: Path | str) -> Instance:
    """Read BPPLIB's text format: number of items n, roll width, then n lines with a width, or a width and a demand.

    Numbers may be separated by any white space as long as each line holds one record.

    Raises
    ------
    InputError
        With file and line, where the file is something else.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file") from None
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
    return Instance(roll, widths, tuple(demands[w] for w in widths), path.stem)


def _numbers(path: Path, line: int, words: Sequence[str]) -> list[int]:
    try:
        return [int(word) for word in words]
    except ValueError:
        raise InputError(f"{path}, line {line}: expected whole numbers, not {' '.join(words)!r}") from None


def write(instance: Instance, path: Path | str) -> None:
    """Write the text format that :func:`read` reads, with width and demand on a line."""
    lines = [str(instance.num_items), str(instance.roll)]
    lines += [f"{w} {d}" for w, d in zip(instance.widths, instance.demands, strict=True)]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


# --- generators ------------------------------------------------------------------------------------------------------


def uniform(
    num_items: int,
    seed: int,
    *,
    roll: int = 1000,
    widths: tuple[int, int] = (100, 700),
    demands: tuple[int, int] = (10, 100),
) -> Instance:
    """Random cutting stock: distinct widths and demands, each uniform in its range (ends included)."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(np.arange(widths[0], widths[1] + 1), num_items, replace=False)
    wanted = rng.integers(demands[0], demands[1] + 1, num_items)
    order = np.argsort(-chosen)
    name = f"uniform-{num_items}-{seed}"
    return Instance(roll, tuple(chosen[order].tolist()), tuple(wanted[order].tolist()), name)


def bin_packing(num_items: int, seed: int, *, roll: int = 1000, widths: tuple[int, int] = (1, 800)) -> Instance:
    """Random bin packing: single pieces of uniform widths; 160 to 200 pieces up to 0.8 C look like hard28."""
    rng = np.random.default_rng(seed)
    return from_items(roll, rng.integers(widths[0], widths[1] + 1, num_items).tolist(), f"bin-{num_items}-{seed}")


def triplets(num_rolls: int, seed: int, *, roll: int = 1000) -> Instance:
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

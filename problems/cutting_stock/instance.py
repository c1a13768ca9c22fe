"""Cutting stock instances: items, rolls of one width or several, conflicts, a limit on patterns; checks of answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import index
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.core.numbers import to_integer

Pattern: TypeAlias = tuple[tuple[int, int], ...]
"""The pieces cut from one roll: ``(item, copies)`` for each item, widest first."""

Use: TypeAlias = tuple[Pattern, int, int]
"""A pattern, the number of rolls cut by it, and the kind of these rolls."""

LARGEST_ROLL = 2**53
"""Floating point numbers represent all integers up to here."""

MOST_PIECES = 10**8
"""Maximum number of pieces: with more, rounding errors of linear programs approach one roll."""

MOST_SINGLE = 2048
"""Maximum number of pieces with conflicts: each is an item of its own, and all pairs are examined."""

MOST_RUNS = 1_000
"""Maximum demand with a limit on patterns: each possible number of rolls per pattern is a pricing problem."""

_DIVISIONS = 10**6
"""A common divisor of the costs is ignored if it is smaller than the least cost by more than this factor."""


@dataclass(frozen=True)
class Stock:
    """Kinds of rolls.

    Parameters
    ----------
    widths
        Integer widths C_k, one entry per kind.  Two kinds may have the same width, such as rolls of two suppliers.
    costs
        Cost c_k ≥ 0 of a roll.
    supplies
        Number of rolls of each kind, None if unlimited.  None instead of a list: all kinds are unlimited.

    Raises
    ------
    InputError
        If a number is missing or out of range.
    """

    widths: tuple[int, ...]
    costs: tuple[float, ...]
    supplies: tuple[int | None, ...] | None = None

    def __post_init__(self) -> None:
        widths = tuple(to_integer(width, "each of the stock's widths") for width in self.widths)
        costs = tuple(_as_cost(cost) for cost in self.costs)
        given = (None,) * len(widths) if self.supplies is None else self.supplies
        supplies = tuple(None if supply is None else to_integer(supply, "each of the supplies") for supply in given)
        if not widths:
            raise InputError("the stock is empty, expected rolls of at least one width")
        for name, values in (("costs", costs), ("supplies", supplies)):
            if len(values) != len(widths):
                raise InputError(f"the stock has {len(values)} {name}, expected {len(widths)}, one for each width")
        for k, width in enumerate(widths):
            if not 1 <= width <= LARGEST_ROLL:
                raise InputError(f"roll {k} has width {width}, expected 1 to 2^53")
        for k, supply in enumerate(supplies):
            if supply is not None and supply < 0:
                raise InputError(f"roll {k} has supply {supply}, expected 0 or more, or None if unlimited")
        object.__setattr__(self, "widths", widths)
        object.__setattr__(self, "costs", costs)
        object.__setattr__(self, "supplies", supplies)

    @property
    def limits(self) -> tuple[float, ...]:
        """The supplies, infinite for unlimited kinds."""
        return tuple(math.inf if supply is None else float(supply) for supply in self.supplies or ())

    @property
    def useful(self) -> tuple[int, ...]:
        """Kinds that no unlimited kind dominates.  A kind dominates another if it is as wide and costs no more."""
        best = sorted(
            (k for k, limit in enumerate(self.limits) if math.isinf(limit)),
            key=lambda k: (self.costs[k], -self.widths[k], k),
        )
        kept = list[int]()
        for k in best:
            if all(self.widths[j] < self.widths[k] for j in kept):
                kept.append(k)
        limited = [
            k
            for k, limit in enumerate(self.limits)
            if 0.0 < limit < math.inf
            and not any(self.widths[j] >= self.widths[k] and self.costs[j] <= self.costs[k] for j in kept)
        ]
        return tuple(sorted(kept + limited)) or (0,)

    def only(self, kinds: Sequence[int]) -> Stock:
        """Return a stock of only these kinds."""
        supplies = self.supplies or ()
        return Stock(
            tuple(self.widths[k] for k in kinds),
            tuple(self.costs[k] for k in kinds),
            tuple(supplies[k] for k in kinds),
        )

    @property
    def step(self) -> float | None:
        """The greatest common divisor of the costs; None if it is too small to round a bound."""
        costs = [Fraction(cost) for cost in self.costs if cost]
        common = math.lcm(*(cost.denominator for cost in costs))
        divisor = Fraction(math.gcd(*(int(cost * common) for cost in costs)), common)
        # Costs such as 0.1 and 0.3 have a divisor that comes from their last bits only.
        return float(divisor) if costs and divisor >= Fraction(min(costs), _DIVISIONS) else None


@dataclass(frozen=True)
class CuttingStockInstance:
    """A cutting stock instance.

    Parameters
    ----------
    roll
        Width C of a roll; with a stock, the width of the widest roll.
    widths, demands
        Integers w_i with 0 < w_i ≤ C, and d_i ≥ 1, one of each per item.  If widths have decimals, multiply all widths
        and the roll by a power of ten.
    stock
        Kinds of rolls with widths, costs and supplies.  None: unlimited rolls of width C at cost 1.
    conflicts
        Pairs of items that may not share a roll.  A pair of an item with itself forbids two of its pieces on one roll.
    patterns
        Maximum number of different patterns, as each requires a set-up of the knives; not allowed with a stock or
        conflicts.
    reading
        How a file was interpreted, if its format is ambiguous.

    Raises
    ------
    InputError
        If a number is missing or out of range, or if the parts contradict each other.
    """

    roll: int
    widths: tuple[int, ...]
    demands: tuple[int, ...]
    name: str = ""
    stock: Stock | None = field(default=None, kw_only=True)
    conflicts: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    patterns: int | None = field(default=None, kw_only=True)
    reading: str = field(default="", kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roll", to_integer(self.roll, "the roll width"))
        for name in ("widths", "demands"):
            values = tuple(to_integer(v, f"each of the {name}") for v in getattr(self, name))
            object.__setattr__(self, name, values)
        object.__setattr__(self, "name", str(self.name))
        self._check_items()
        if self.stock is not None:
            self._check_stock(self.stock)
        object.__setattr__(self, "conflicts", self._sort_conflicts())
        if self.patterns is not None:
            object.__setattr__(self, "patterns", to_integer(self.patterns, "the number of patterns"))
            self._check_patterns(self.patterns)

    def _check_items(self) -> None:
        if not self.widths:
            raise InputError("the instance has no items, expected at least one")
        if len(self.widths) != len(self.demands):
            raise InputError(
                f"the instance has {len(self.demands)} demands, expected {len(self.widths)}, one for each width"
            )
        if self.roll < 1:
            raise InputError(f"the roll width is {self.roll}, expected at least 1")
        if self.roll > LARGEST_ROLL:
            raise InputError(f"the roll width is {self.roll:.3g}, expected at most 2^53")
        for item, (width, demand) in enumerate(zip(self.widths, self.demands, strict=True)):
            if not 1 <= width <= self.roll:
                raise InputError(f"item {item} has width {width}, expected 1 to {self.roll} (the roll)")
            if demand < 1:
                raise InputError(f"item {item} has demand {demand}, expected at least 1")
        if sum(self.demands) > MOST_PIECES:
            raise InputError(
                f"the demands sum to {float(sum(self.demands)):.3g} pieces, expected at most {MOST_PIECES}"
            )

    def _check_stock(self, stock: Stock) -> None:
        if not isinstance(stock, Stock):
            raise InputError(f"stock: expected Stock(...), not {repr(stock)[:40]}")
        if max(stock.widths) != self.roll:
            raise InputError(
                f"the roll width is {self.roll}, expected {max(stock.widths)}, the widest roll of the stock"
            )

    def _sort_conflicts(self) -> tuple[tuple[int, int], ...]:
        found, given = set(), self.conflicts
        if not isinstance(given, Iterable):
            raise InputError(f"conflicts: expected pairs of items, not {repr(given)[:40]}")
        for pair in given:
            try:
                one, other = pair
            except (TypeError, ValueError):
                raise InputError(f"conflicts: expected pairs of items, not {repr(pair)[:40]}") from None
            i, j = sorted((to_integer(one, "an item of a conflict"), to_integer(other, "an item of a conflict")))
            if i < 0 or j >= self.num_items:
                raise InputError(f"conflict {(i, j)}: expected items from 0 to {self.num_items - 1}")
            found.add((i, j))
        if found and sum(self.demands) > MOST_SINGLE:
            raise InputError(
                f"the demands sum to {sum(self.demands)} pieces, expected at most {MOST_SINGLE} with conflicts, "
                "because each piece is then an item of its own"
            )
        return tuple(sorted(found))

    def _check_patterns(self, patterns: int) -> None:
        if patterns < 1:
            raise InputError(f"the limit on patterns is {patterns}, expected at least 1")
        if self.stock is not None or self.conflicts:
            other = "several roll widths" if self.stock is not None else "conflicts"
            raise InputError(f"a limit on patterns cannot be combined with {other}; remove one of them")
        if max(self.demands) > MOST_RUNS:
            raise InputError(
                f"the largest demand is {max(self.demands)}, expected at most {MOST_RUNS} with a limit on patterns, "
                "because each possible number of rolls per pattern is a pricing problem"
            )

    @property
    def num_items(self) -> int:
        return len(self.widths)

    @property
    def is_plain(self) -> bool:
        """Whether all rolls have one width, and there are no conflicts and no limit on patterns."""
        return self.stock is None and not self.conflicts and self.patterns is None

    @property
    def rolls(self) -> Stock:
        """The kinds of rolls: the stock, or the one width of the instance."""
        return Stock((self.roll,), (1.0,)) if self.stock is None else self.stock

    @property
    def material_bound(self) -> int:
        """The least number of rolls of width C that hold the material, ⌈Σ w_i d_i / C⌉."""
        total = sum(w * d for w, d in zip(self.widths, self.demands, strict=True))
        return -(-total // self.roll)

    @property
    def conflict_mask(self) -> NDArray[np.bool_]:
        """The conflicts as a symmetric mask, shape (items, items)."""
        mask = np.zeros((self.num_items, self.num_items), dtype=np.bool_)
        for i, j in self.conflicts:
            mask[i, j] = mask[j, i] = True
        return mask

    def uses(self, answer: Iterable[Sequence[Any]]) -> list[Use]:
        """Return an answer as a list of ``(pattern, rolls, kind)``; raise ValueError if an entry has another form."""
        uses, wrong = list[Use](), ""
        try:
            for use in answer:
                pattern, rolls, *kind = use
                if len(kind) != (self.stock is not None):
                    raise ValueError(f"an entry has {len(use)} values")
                pieces = tuple((index(item), index(copies)) for item, copies in pattern)
                used = int(rolls) if 0 <= rolls < math.inf else -1
                if used < 0 or used != rolls:
                    wrong = wrong or f"pattern {pieces} is used {rolls} times, expected an integer of at least 0"
                uses.append((pieces, used, index(kind[0]) if kind else 0))
        except (TypeError, ValueError) as error:
            fields = "(pattern, rolls)" if self.stock is None else "(pattern, rolls, kind)"
            raise ValueError(f"expected entries {fields} with patterns of (item, copies): {error}") from None
        if wrong:
            raise ValueError(wrong)
        return uses

    def objective(self, answer: Iterable[Sequence[Any]]) -> float:
        """Return the cost of an answer, or its number of rolls if there is no stock."""
        if self.stock is None:
            rolls: int = sum(rolls for _, rolls in answer)
            return rolls
        return float(sum(Fraction(self.stock.costs[kind]) * rolls for _, rolls, kind in answer))

    def check(self, answer: Iterable[Sequence[Any]]) -> float:
        """Return the cost of an answer after checking patterns, demands, supplies, conflicts and the limit on patterns.

        Raise ValueError with the reason if the answer is infeasible.
        """
        answer = list(answer)
        cut, used = Counter[int](), Counter[int]()
        patterns, forbidden = set[tuple[tuple[int, int], ...]](), set(self.conflicts)
        stock = self.rolls
        for pattern, rolls, kind in self.uses(answer):
            if not 0 <= kind < len(stock.widths):
                raise ValueError(f"roll {kind} does not exist, expected 0 to {len(stock.widths) - 1}")
            copies = self._copies(pattern)
            taken = sum(self.widths[item] * number for item, number in copies.items())
            if taken > stock.widths[kind]:
                roll = "the roll" if self.stock is None else f"roll {kind}"
                raise ValueError(f"pattern {pattern} needs width {taken}, {roll} has {stock.widths[kind]}")
            found = forbidden and [
                (i, j) for i in copies for j in copies if (i, j) in forbidden and (i != j or copies[i] > 1)
            ]
            if found and rolls:
                raise ValueError(f"pattern {pattern} contains the conflicting items {found[0]}")
            if rolls and self.patterns is not None:
                patterns.add(tuple(sorted(copies.items())))
            used[kind] += rolls
            for item, number in copies.items():
                cut[item] += number * rolls
        for item, demand in enumerate(self.demands):
            if cut[item] < demand:
                raise ValueError(f"item {item} is cut {cut[item]} times, {demand} are demanded")
        for kind, limit in enumerate(stock.limits):
            if used[kind] > limit:
                raise ValueError(f"roll {kind} is used {used[kind]} times, its supply is {limit:g}")
        if self.patterns is not None and len(patterns) > self.patterns:
            raise ValueError(f"there are {len(patterns)} patterns, expected at most {self.patterns}")
        return self.objective(answer)

    def _copies(self, pattern: Pattern) -> dict[int, int]:
        """Return the copies of each item; a pattern may list an item twice."""
        copies: dict[int, int] = {}
        for item, number in pattern:
            if number < 1:
                raise ValueError(f"pattern {pattern} has {number} pieces of item {item}, expected at least 1")
            if not 0 <= item < self.num_items:
                raise ValueError(f"pattern {pattern} has item {item}, expected 0 to {self.num_items - 1}")
            copies[item] = copies.get(item, 0) + number
        return copies


def from_items(roll: int, items: Iterable[int], name: str = "") -> CuttingStockInstance:
    """Return a bin packing instance; pieces of equal width become one item, widest first."""
    counts = Counter(to_integer(width, "each of the items") for width in items)
    widths = tuple(sorted(counts, reverse=True))
    return CuttingStockInstance(roll, widths, tuple(counts[w] for w in widths), name)


def _as_cost(value: Any) -> float:
    try:
        cost = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"each of the costs must be a number, not {repr(value)[:40]}") from None
    if isinstance(value, (bool, str)) or not 0.0 <= cost < math.inf:
        raise InputError(f"each of the costs must be finite and at least 0, not {repr(value)[:40]}")
    return cost

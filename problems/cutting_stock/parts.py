"""What cutting stock can be given besides: several roll widths, a limit on patterns, conflicts; and answers checked."""

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
from colgen.core.numbers import as_whole
from colgen.problems.cutting_stock.instance import LARGEST_ROLL, CuttingStockInstance, Pattern

Use: TypeAlias = tuple[Pattern, int, int]
"""A pattern, how many rolls are cut by it, and the number of their width in the stock."""

MOST_SINGLE = 2048
"""Pieces of an instance with conflicts, at most: each is an item of its own, and each pair of them is looked at."""

_DIVISIONS = 10**6
"""A common divisor of costs that goes into the least of them more often than this is none to round bounds to."""

MOST_RUNS = 1_000
"""Rolls that one pattern may be cut from, at most, where patterns are few: each number is a pricing problem."""


@dataclass(frozen=True)
class Stock:
    """Rolls of several widths.

    Parameters
    ----------
    widths
        C_k, whole, one entry a kind of roll.  Kinds may be of one width: of several suppliers, say.
    costs
        c_k ≥ 0 of a roll.
    supplies
        How many rolls of each kind there are; None for as many as are wanted.  None instead of a list: of all kinds.

    Raises
    ------
    InputError
        If the data is none of this.
    """

    widths: tuple[int, ...]
    costs: tuple[float, ...]
    supplies: tuple[int | None, ...] | None = None

    def __post_init__(self) -> None:
        widths = tuple(as_whole(width, "each of the stock's widths") for width in self.widths)
        costs = tuple(_as_cost(cost) for cost in self.costs)
        given = (None,) * len(widths) if self.supplies is None else self.supplies
        supplies = tuple(None if supply is None else as_whole(supply, "each of the supplies") for supply in given)
        if not widths:
            raise InputError("a stock needs rolls of at least one width")
        for name, values in (("costs", costs), ("supplies", supplies)):
            if len(values) != len(widths):
                raise InputError(f"as many {name} as widths of rolls are expected, not {len(values)} for {len(widths)}")
        for k, width in enumerate(widths):
            if not 1 <= width <= LARGEST_ROLL:
                raise InputError(f"roll {k} has the width {width}, expected 1 to 2^53")
        for k, supply in enumerate(supplies):
            if supply is not None and supply < 0:
                raise InputError(f"roll {k} has the supply {supply}, expected 0 or more, or None for any number")
        object.__setattr__(self, "widths", widths)
        object.__setattr__(self, "costs", costs)
        object.__setattr__(self, "supplies", supplies)

    @property
    def limits(self) -> tuple[float, ...]:
        """The supplies, infinite where there are any number."""
        return tuple(math.inf if supply is None else float(supply) for supply in self.supplies or ())

    @property
    def useful(self) -> tuple[int, ...]:
        """The kinds that some best plan does with: no other one of unlimited supply is as wide and no dearer."""
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
        """Some of the kinds."""
        supplies = self.supplies or ()
        return Stock(
            tuple(self.widths[k] for k in kinds),
            tuple(self.costs[k] for k in kinds),
            tuple(supplies[k] for k in kinds),
        )

    @property
    def step(self) -> float | None:
        """What every sum of costs is a multiple of: their greatest common divisor; None where that says nothing."""
        costs = [Fraction(cost) for cost in self.costs if cost]
        common = math.lcm(*(cost.denominator for cost in costs))
        divisor = Fraction(math.gcd(*(int(cost * common) for cost in costs)), common)
        # Costs such as 0.1 and 0.3 have one that is made of their last bits.
        return float(divisor) if costs and divisor >= Fraction(min(costs), _DIVISIONS) else None


@dataclass(frozen=True)
class AtMost:
    """At most so many different patterns, each a set-up of the knives, whatever number of rolls it is cut from."""

    patterns: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "patterns", as_whole(self.patterns, "the number of patterns"))
        if self.patterns < 1:
            raise InputError(f"the number of patterns must be at least 1, not {self.patterns}")


@dataclass(frozen=True)
class Conflicts:
    """Pairs of items that may not be cut from one roll.

    Parameters
    ----------
    pairs
        Of items, by their numbers.  An item's pair with itself: no two of its pieces.
    """

    pairs: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        found = set()
        for pair in self.pairs:
            try:
                one, other = pair
            except (TypeError, ValueError):
                raise InputError(f"conflicts are pairs of items, not {repr(pair)[:40]}") from None
            i, j = as_whole(one, "an item of a conflict"), as_whole(other, "an item of a conflict")
            if min(i, j) < 0:
                raise InputError(f"an item of a conflict is numbered from 0, not {min(i, j)}")
            found.add((min(i, j), max(i, j)))
        object.__setattr__(self, "pairs", tuple(sorted(found)))

    def mask(self, num_items: int) -> NDArray[np.bool_]:
        """The pairs as a symmetric mask, shape (items, items)."""
        mask = np.zeros((num_items, num_items), dtype=np.bool_)
        for i, j in self.pairs:
            mask[i, j] = mask[j, i] = True
        return mask


@dataclass(frozen=True)
class Order:
    """A cutting stock instance with what else is given.

    Parameters
    ----------
    instance
        Its roll is the widest of the stock, where there is one.
    stock, patterns, conflicts
        None: nothing of the kind.  A limit on patterns goes with none of the others.
    reading
        How a file was read where it could be read otherwise, in a few words.

    Raises
    ------
    InputError
        If parts contradict each other, or go together in no way that is known here.
    """

    instance: CuttingStockInstance
    stock: Stock | None = None
    patterns: AtMost | None = None
    conflicts: Conflicts | None = None
    reading: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, kind in (("stock", Stock), ("patterns", AtMost), ("conflicts", Conflicts)):
            part = getattr(self, name)
            if part is not None and not isinstance(part, kind):
                raise InputError(f"{name}: expected {kind.__name__}(...), not {repr(part)[:40]}")
        instance, stock = self.instance, self.stock
        if self.patterns is not None and (stock is not None or self.conflicts is not None):
            other = "several roll widths" if stock is not None else "conflicts"
            raise InputError(f"a limit on patterns does not go together with {other}")
        if stock is not None and max(stock.widths) != instance.roll:
            raise InputError(
                f"the instance's roll is {instance.roll} wide, expected the stock's widest, {max(stock.widths)}"
            )
        if self.conflicts is not None:
            for pair in self.conflicts.pairs:
                if max(pair) >= instance.num_items:
                    raise InputError(f"conflict {pair}: items are numbered 0 to {instance.num_items - 1}")
            if sum(instance.demands) > MOST_SINGLE:
                raise InputError(
                    f"with conflicts the demands may sum to {MOST_SINGLE} pieces, not to {sum(instance.demands)}: each "
                    "piece is an item of its own there"
                )
        if self.patterns is not None and max(instance.demands) > MOST_RUNS:
            raise InputError(
                f"with a limit on patterns each demand may be {MOST_RUNS}, not {max(instance.demands)}: each number of "
                "rolls that a pattern can be cut from is a pricing problem of its own"
            )

    @property
    def name(self) -> str:
        return self.instance.name

    @property
    def rolls(self) -> Stock:
        """The stock, or any number of the instance's rolls at a cost of 1 each."""
        return Stock((self.instance.roll,), (1.0,)) if self.stock is None else self.stock

    def uses(self, answer: Iterable[Sequence[Any]]) -> list[Use]:
        """An answer with the kind of roll beside each pattern, which it may leave out where there is but one.

        Raises
        ------
        ValueError
            If it is none.
        """
        uses: list[Use] = []
        try:
            for use in answer:
                pattern, rolls, *kind = use
                if len(kind) > 1 or (not kind and self.stock is not None):
                    raise ValueError(f"there are {len(use)} entries")
                pieces = tuple((index(item), index(copies)) for item, copies in pattern)
                if rolls != int(rolls):
                    raise ValueError(f"there are {rolls} rolls")
                uses.append((pieces, int(rolls), index(kind[0]) if kind else 0))
        except (TypeError, ValueError) as error:
            kinds = "" if self.stock is None else " and the number of their width"
            raise ValueError(f"expected patterns of (item, copies) with their rolls{kinds}: {error}") from None
        return uses

    def objective(self, answer: Iterable[Sequence[Any]]) -> float:
        """Cost of an answer: the number of rolls, where these cost nothing said otherwise."""
        costs = self.rolls.costs
        return float(sum(Fraction(costs[kind]) * rolls for _, rolls, kind in self.uses(answer)))

    def check(self, answer: Iterable[Sequence[Any]]) -> float:
        """Cost of an answer, after checking every pattern, demand, supply, conflict and limit from the data alone.

        Raises
        ------
        ValueError
            If it is not an answer; the message says why.
        """
        uses, stock = self.uses(answer), self.rolls
        for _, _, kind in uses:
            if not 0 <= kind < len(stock.widths):
                raise ValueError(f"there is no roll {kind}, expected 0 to {len(stock.widths) - 1}")
        # Widths of patterns and demands: each kind of roll holds what the instance says of a roll so wide.
        self.instance.check([(pattern, rolls) for pattern, rolls, _ in uses])
        widths, used = self.instance.widths, Counter[int]()
        for pattern, rolls, kind in uses:
            used[kind] += rolls
            taken = sum(widths[item] * copies for item, copies in pattern)
            if taken > stock.widths[kind]:
                raise ValueError(f"pattern {pattern} needs width {taken}, roll {kind} has {stock.widths[kind]}")
        for kind, limit in enumerate(stock.limits):
            if used[kind] > limit:
                raise ValueError(f"roll {kind} is used {used[kind]} times, there are {limit:g}")
        if self.conflicts is not None:
            forbidden = set(self.conflicts.pairs)
            for pattern, rolls, _ in uses:
                cut = Counter[int]()
                for item, copies in pattern:
                    cut[item] += copies
                found = [(i, j) for i in cut for j in cut if (i, j) in forbidden and (i != j or cut[i] > 1)]
                if found and rolls:
                    raise ValueError(f"pattern {pattern} holds the conflict {found[0]}")
        if self.patterns is not None:
            different = {tuple(sorted(_merged(pattern).items())) for pattern, rolls, _ in uses if rolls}
            if len(different) > self.patterns.patterns:
                raise ValueError(f"there are {len(different)} patterns, expected at most {self.patterns.patterns}")
        return self.objective(uses if self.stock is not None else [use[:2] for use in uses])


def _merged(pattern: Pattern) -> Counter[int]:
    """Copies by item, where a pattern names an item twice."""
    cut = Counter[int]()
    for item, copies in pattern:
        cut[item] += copies
    return cut


def _as_cost(value: Any) -> float:
    try:
        cost = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"each of the costs must be a number, not {repr(value)[:40]}") from None
    if isinstance(value, (bool, str)) or not 0.0 <= cost < math.inf:
        raise InputError(f"each of the costs must be a finite number from 0, not {repr(value)[:40]}")
    return cost

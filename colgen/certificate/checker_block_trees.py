"""Bounds of blocks: limits that rows imply, and trees of bounds whose leaves have dual values of the block's rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from colgen.certificate.checker_pricing import NO, Sides, WrongError, fields, holds, integer

Limits = tuple[Any, Any]
"""Lower and upper limit of a variable, possibly infinite."""

Row = tuple[Sides, dict[int, Any]]
"""Sides of a row, and its entries by variable."""

Box = tuple[tuple[int, int | None, int | None], ...]
"""Bounds on variables: variable, lower, upper."""

_PASSES = 10
"""Maximum number of passes over the rows: limits of continuous variables may fall forever."""


def tighten(
    rows: Sequence[tuple[Limits, Mapping[int, int]]], limits: Sequence[Limits], integer_: Sequence[bool]
) -> list[Limits]:
    """Return limits that hold at all points of the rows, if a variable of a row has an infinite one.

    A term of a row is at most the upper side less the least values of the others, and at least the lower side less
    their greatest.
    """
    found = list(limits)
    for _ in range(_PASSES):
        before = found.copy()
        if all(NO < found[v][0] <= found[v][1] < -NO for _, terms in rows for v in terms):
            break
        for (low, high), terms in rows:
            spans = {v: span(a, found[v]) for v, a in terms.items()}
            least, most = (_Sum(s[end] for s in spans.values()) for end in (0, 1))
            for v, (first, last) in spans.items():
                top, bottom = high - least.without(first), low - most.without(last)
                ends = [Fraction(end) / terms[v] if abs(end) < -NO else end * terms[v] for end in (bottom, top)]
                lower, upper = sorted(ends)
                if integer_[v]:
                    lower = math.ceil(lower) if lower > NO else lower
                    upper = math.floor(upper) if upper < -NO else upper
                found[v] = max(found[v][0], lower), min(found[v][1], upper)
        if found == before:
            break
    return found


class _Sum:
    """A sum of numbers of which some are infinite, all of one sign."""

    def __init__(self, numbers: Any) -> None:
        self._finite, self._infinite = 0, list[Any]()
        for number in numbers:
            if abs(number) == math.inf:
                self._infinite.append(number)
            else:
                self._finite += number

    def without(self, number: Any) -> Any:
        """Return the sum of the others."""
        if abs(number) == math.inf:
            return self._infinite[0] if len(self._infinite) > 1 else self._finite
        return self._infinite[0] if self._infinite else self._finite - number


def gain_of_tree(
    rows: Sequence[Row],
    integer_: Sequence[bool],
    gains: Sequence[int],
    boxes: Sequence[tuple[Box, Any]],
    limits: Sequence[Limits],
    tree: Sequence[Any],
) -> Any:
    """Return an upper bound on the gain of all points with the gains of their boxes; ``NO`` if there is no point.

    The tree is listed in preorder.  A split of an integer variable has a part with at most t and one with at least
    t + 1.  A leaf has dual values of rows.
    """
    best: Any = NO
    open_ = [list(limits)]
    for record in tree:
        if not open_:
            raise WrongError("expected no part of a tree after its last leaf")
        here = open_.pop()
        if "split" in record:
            fields(record, ("split",))
            v, most = (integer(number) for number in record["split"])
            if not 0 <= v < len(limits) or not integer_[v]:
                raise WrongError("expected a split of an integer variable")
            below, above = here.copy(), here.copy()
            below[v], above[v] = (here[v][0], min(here[v][1], most)), (max(here[v][0], most + 1), here[v][1])
            open_ += [above, below]
        else:
            fields(record, ("over", "duals"))
            best = max(best, _gain_of_leaf(rows, gains, boxes, here, record))
    if open_:
        raise WrongError("expected a leaf for each part of a tree")
    return best


def _gain_of_leaf(
    rows: Sequence[Row],
    gains: Sequence[int],
    boxes: Sequence[tuple[Box, Any]],
    limits: Sequence[Limits],
    leaf: Mapping[str, Any],
) -> Any:
    """Return the bound by weak duality: rows pay their dual values, and boxes that a point may be in their gain."""
    over = integer(leaf["over"])
    if over < 1:
        raise WrongError("expected a denominator of at least 1")
    earned = [gain for box, gain in boxes if _is_within(box, limits) or (gain > 0 and _meets(box, limits))]
    if NO in earned or any(low > high for low, high in limits):
        return NO
    total: Any = over * sum(earned)
    rest: list[Any] = [over * gain for gain in gains]
    for row, dual in leaf["duals"]:
        if not 0 <= integer(row) < len(rows):
            raise WrongError("expected dual values of rows of the block")
        (low, high), terms = rows[row]
        side = high if integer(dual) > 0 else low
        if side is None:
            raise WrongError(f"the dual value of row {row} of a block is for a side that it does not have")
        total += dual * side
        for v, a in terms.items():
            rest[v] -= dual * a
    for gain, (low, high) in zip(rest, limits, strict=True):
        if gain:
            total += gain * finite(high if gain > 0 else low)
    return Fraction(total) / over


def _is_within(box: Box, limits: Sequence[Limits]) -> bool:
    """Return whether all points within limits are in a box."""
    return all(holds(limits[v][0], (low, None)) and holds(limits[v][1], (None, high)) for v, low, high in box)


def _meets(box: Box, limits: Sequence[Limits]) -> bool:
    """Return whether a point within limits may be in a box."""
    return all(holds(limits[v][1], (low, None)) and holds(limits[v][0], (None, high)) for v, low, high in box)


def span(a: int | Fraction, limits: Limits) -> Limits:
    """Return the range of ``a`` times a variable with these limits."""
    low, high = (a * limit for limit in limits)
    return (low, high) if a > 0 else (high, low)


def finite(number: Any) -> Any:
    """Return a number; raise an error if it is infinite."""
    if abs(number) == math.inf:
        raise WrongError("a variable of a block is unbounded")
    return number

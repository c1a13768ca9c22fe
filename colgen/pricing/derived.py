"""Oracles that wrap others: for identical ones, and without multiplicity and totals.

K identical machines have the same columns and reduced costs, so one oracle suffices.  Their bounds U_1 min(0, β) + ...
+ U_K min(0, β) equal the bound of one oracle with the multiplicity U_1 + ... + U_K.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from colgen.core.duals import Duals
from colgen.core.errors import InputError
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, call_oracle, check_oracle


class Identical(Pricing):
    """Several identical pricing problems; only the first is solved."""

    def __init__(self, oracles: Sequence[Pricing]) -> None:
        self.oracle, self.count = oracles[0], len(oracles)
        self.multiplicity = sum(oracle.multiplicity for oracle in oracles)
        self.cost_bound = self.oracle.cost_bound
        self.prices = self.oracle.prices

    @property
    def name(self) -> str:
        return f"{self.oracle.name} (of {self.count})"

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        result = call_oracle(self.oracle, duals, context)
        if result.total is None:
            return result
        return dataclasses.replace(result, total=self.count * result.total)  # a total covers one of the problems


def merge_identical(oracles: Sequence[Pricing]) -> tuple[Pricing, ...]:
    """Return the pricing problems, with identical ones merged.

    Identical oracles have equal ``same_as``, or the same class and equal attributes.  Identical oracles with different
    cost bounds raise an :class:`InputError`.
    """
    for oracle in oracles:
        check_oracle(oracle)
    groups: list[list[Pricing]] = []
    for oracle in oracles:
        identical = next((group for group in groups if _same(group[0], oracle)), None)
        if identical is None:
            groups.append([oracle])
            continue
        if identical[0].cost_bound != oracle.cost_bound:
            raise InputError(
                f"{identical[0].name} and {oracle.name} are the same_as {oracle.same_as!r}, but state cost_bound = "
                f"{identical[0].cost_bound} and {oracle.cost_bound}: expected the same columns"
            )
        identical.append(oracle)
    return tuple(group[0] if len(group) == 1 else Identical(group) for group in groups)


def _same(one: Pricing, other: Pricing) -> bool:
    if one is other:
        return True
    if one.same_as is not None or other.same_as is not None:
        return bool(one.same_as == other.same_as)
    if type(one) is not type(other):
        return False
    first, second = getattr(one, "__dict__", None), getattr(other, "__dict__", None)
    if not first or not second or first.keys() != second.keys():
        return False  # without attributes there is nothing to compare
    return all(_equal(value, second[name]) for name, value in first.items())


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    plain = (int, float, str, bytes, bool, np.generic)
    # Objects of other classes may change independently; numbers and strings cannot.
    return isinstance(one, plain) and type(one) is type(other) and bool(one == other)


class Unlimited(Pricing):
    """An oracle without its multiplicity and totals.  Rows limit how many of its columns are used."""

    multiplicity = math.inf

    def __init__(self, oracle: Pricing) -> None:
        self.oracle = oracle
        self.cost_bound, self.prices = oracle.cost_bound, oracle.prices

    @property
    def name(self) -> str:
        return self.oracle.name

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        return dataclasses.replace(call_oracle(self.oracle, duals, context), total=None, attained=None, answers=())

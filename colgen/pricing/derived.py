"""Oracles made of others: one for several that are identical, and one whose claims about whole answers are left out.

K machines of one kind need one oracle: their columns are the same, and with them the reduced costs.  What K oracles
would prove, U_1 min(0, β) + ... + U_K min(0, β), one proves with the multiplicity U_1 + ... + U_K.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from colgen.core.duals import Duals
from colgen.core.errors import InputError
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, check_statements, priced


class Identical(Pricing):
    """Several pricing problems that are the same: the first is asked for all."""

    def __init__(self, oracles: Sequence[Pricing]) -> None:
        self.oracle, self.count = oracles[0], len(oracles)
        self.multiplicity = sum(oracle.multiplicity for oracle in oracles)
        self.cost_bound = self.oracle.cost_bound
        self.prices = self.oracle.prices

    @property
    def name(self) -> str:
        return f"{self.oracle.name} (of {self.count})"

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        result = priced(self.oracle, duals, context)
        if result.total is None:
            return result
        return dataclasses.replace(result, total=self.count * result.total)  # it speaks of the columns of one of them


def grouped(oracles: Sequence[Pricing]) -> tuple[Pricing, ...]:
    """The pricing problems, those that are identical put together.

    They are if they say so by ``same_as``, or if they are objects of one class with the same attributes.

    Raises
    ------
    InputError
        If such oracles state other bounds on costs, which speak against it, or if attributes of one are out of their
        domain.
    """
    for oracle in oracles:
        check_statements(oracle)
    groups: list[list[Pricing]] = []
    for oracle in oracles:
        mine = next((group for group in groups if _same(group[0], oracle)), None)
        if mine is None:
            groups.append([oracle])
            continue
        if mine[0].cost_bound != oracle.cost_bound:
            raise InputError(
                f"{mine[0].name} and {oracle.name} are the same_as {oracle.same_as!r}, but state cost_bound = "
                f"{mine[0].cost_bound} and {oracle.cost_bound}: expected the same columns"
            )
        mine.append(oracle)
    return tuple(group[0] if len(group) == 1 else Identical(group) for group in groups)


def _same(one: Pricing, other: Pricing) -> bool:
    if one is other:
        return True
    if one.same_as is not None or other.same_as is not None:
        return bool(one.same_as == other.same_as)
    if type(one) is not type(other):
        return False
    mine, theirs = getattr(one, "__dict__", None), getattr(other, "__dict__", None)
    if not mine or not theirs or mine.keys() != theirs.keys():
        return False  # nothing to be equal in is no sign of being the same
    return all(_equal(value, theirs[name]) for name, value in mine.items())


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    plain = (int, float, str, bytes, bool, np.generic)
    # Objects of other classes may change, each by itself; numbers and names cannot.
    return isinstance(one, plain) and type(one) is type(other) and bool(one == other)


class Unlimited(Pricing):
    """Another oracle without its multiplicity and totals: how many of its columns an answer uses, the rows decide."""

    multiplicity = math.inf

    def __init__(self, oracle: Pricing) -> None:
        self.oracle = oracle
        self.cost_bound, self.prices = oracle.cost_bound, oracle.prices

    @property
    def name(self) -> str:
        return self.oracle.name

    def price(self, duals: Duals, context: PricingContext) -> PricingResult:
        return dataclasses.replace(priced(self.oracle, duals, context), total=None, attained=None, answers=())

"""Which program an order is solved by where it has more than an instance, and how the template hands on to it.

=====================================  ====================================================================
:mod:`.several_rolls`                  rolls of several widths, with costs and supplies
:mod:`.with_conflicts`                 pairs of items that may not be on one roll; of one width or several
:mod:`.few_patterns`                   at most so many different patterns
=====================================  ====================================================================
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from colgen import Problem
from colgen.problems.cutting_stock.parts import Order

Given = ParamSpec("Given")
Found = TypeVar("Found")


def variant_of(order: Order) -> Problem[Any] | None:
    """The program of an order; None: that of the template."""
    # Imported when it is needed: programs bring models and kernels that the plain problem need not wait for.
    if order.conflicts is not None:
        from colgen.problems.cutting_stock.with_conflicts import WithConflicts

        return WithConflicts(order)
    if order.patterns is not None:
        from colgen.problems.cutting_stock.few_patterns import FewPatterns

        return FewPatterns(order)
    if order.stock is not None:
        from colgen.problems.cutting_stock.several_rolls import SeveralRolls

        return SeveralRolls(order)
    return None


def handed_on(method: Callable[Concatenate[Any, Given], Found]) -> Callable[Concatenate[Any, Given], Found]:
    """A method of the template that a variant states anew."""

    @functools.wraps(method)
    def asked(template: Any, /, *args: Given.args, **named: Given.kwargs) -> Found:
        variant = template.variant
        if variant is None:
            return method(template, *args, **named)
        found: Found = getattr(variant, method.__name__)(*args, **named)
        return found

    return asked

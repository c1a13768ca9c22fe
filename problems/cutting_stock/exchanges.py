"""Dual-optimal inequalities of cutting stock: wider pieces can be cut into narrower ones.

A piece of item i replaces one of item j if w_j ≤ w_i, and one each of j and k if w_j + w_k ≤ w_i.  If patterns may have
any number of copies, some optimal dual solution satisfies π_j ≤ π_i and π_j + π_k ≤ π_i.  The oracle limits copies to
the demand, so this need not hold.  The engine therefore verifies the result, and removes exchanges in the end.

Sources: J. M. Valério de Carvalho, *Using extra dual cuts to accelerate column generation*, INFORMS Journal on
Computing 17 (2005); H. Ben Amor, J. Desrosiers, J. M. Valério de Carvalho, *Dual-optimal inequalities for stabilized
column generation*, Operations Research 54 (2006).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

from colgen.problems.cutting_stock.instance import CuttingStockInstance

Exchange: TypeAlias = tuple[int, tuple[int, ...]]
"""An item, and the items whose pieces one of its pieces is cut into."""


def ranks(instance: CuttingStockInstance) -> tuple[Exchange, ...]:
    """Return the exchange of each item for the next narrower one; any other pair follows from these."""
    order = sorted(range(instance.num_items), key=lambda i: -instance.widths[i])
    return tuple((wide, (narrow,)) for wide, narrow in pairwise(order))


def subsets(instance: CuttingStockInstance) -> tuple[Exchange, ...]:
    """Return :func:`ranks`, and the exchange of each item for the two others that fill it best, if two fit."""
    order = sorted(range(instance.num_items), key=lambda i: instance.widths[i])
    widths = [instance.widths[i] for i in order]
    found = list(ranks(instance))
    for item, width in zip(order, widths, strict=True):
        best, pair = 0, None
        for k, first in enumerate(widths):
            if 2 * first > width:
                break
            other = bisect_right(widths, width - first) - 1
            while other > k and order[other] == item:
                other -= 1
            if other > k and first + widths[other] > best:
                best, pair = first + widths[other], (order[k], order[other])
        if pair is not None:
            found.append((item, pair))
    return tuple(found)


EXCHANGES: dict[str, Callable[[CuttingStockInstance], tuple[Exchange, ...]]] = {"ranks": ranks, "subsets": subsets}
"""Exchanges by their name in the template."""

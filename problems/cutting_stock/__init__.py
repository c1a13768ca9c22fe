r"""Cutting stock: cut demanded widths from as few rolls as possible (Gilmore and Gomory, 1961).

Data: a roll width C, and for each item i a width w_i and a demand d_i.  A *pattern* p cuts a_ip pieces of item i from
one roll: Σ_i w_i a_ip ≤ C, a_ip ≤ d_i.  With x_p the number of rolls cut by pattern p,

    min Σ_p x_p
    subject to  Σ_p a_ip x_p ≥ d_i   for each item i     [π_i ≥ 0]
                x_p ≥ 0 integer.

The reduced cost of a pattern is 1 - Σ_i π_i a_ip, so the pricing problem is a bounded knapsack problem: max Σ_i π_i a_i
over the patterns.

Branching is on *arc flows* (Valério de Carvalho, 1999).  Lay the pieces of a pattern out from position 0, widest item
first; y_iq counts the rolls that have a piece of item i at position q.  The y are whole if the x are, and if the y are
whole then the flow decomposes into whole patterns, so that branching on y is complete.  A row on y_iq has a dual value
μ_iq, which the pricing problem pays for a piece of item i at position q: the knapsack becomes a longest path, at no
extra cost (:mod:`colgen.solvers.packing.knapsack`).  Given an incumbent, arcs that no better answer can use are removed
by their reduced costs.

Where the next better plan has as much roll as there is material, every roll of it is full and every item is cut exactly
as often as demanded.  Full patterns alone are left then, and rank-1 cuts over the demand rows,

    Σ_p ⌊Σ_i u_i a_ip / q⌋ x_p ≤ ⌊Σ_i u_i d_i / q⌋    [σ ≤ 0],

whose dual values the labels of the pricing problem pay (:mod:`colgen.problems.cutting_stock.waste`).

Rolls of several widths, conflicts between items and a limit on the number of patterns are parts of the instance.
What a column stands for follows from them (:mod:`colgen.problems.cutting_stock.columns`).

Sources: P. C. Gilmore and R. E. Gomory, *A linear programming approach to the cutting-stock problem*, Operations
Research 9 (1961) and 11 (1963); A. A. Farley, *A note on bounding a class of linear programming problems, including
cutting stock problems*, Operations Research 38 (1990); J. M. Valério de Carvalho, *Exact solution of bin-packing
problems using column generation and branch-and-bound*, Annals of Operations Research 86 (1999).
"""

from typing import Any

from colgen.problems.cutting_stock.generators import bin_packing, critical, natural, near_integer, triplets, uniform
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Stock
from colgen.problems.cutting_stock.pricing import PatternOracle
from colgen.problems.cutting_stock.reading import read, write
from colgen.problems.cutting_stock.template import CuttingStock

__all__ = [
    "CuttingStock",
    "CuttingStockInstance",
    "PatternOracle",
    "Stock",
    "bin_packing",
    "critical",
    "natural",
    "near_integer",
    "read",
    "triplets",
    "uniform",
    "write",
]


def __getattr__(name: str) -> Any:
    part = {"AtMost": "patterns=...", "Conflicts": "conflicts=...", "Order": "stock=..., conflicts=..."}.get(name)
    if part is not None:
        raise ImportError(f"{name} is part of the instance: write CuttingStockInstance(..., {part})")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

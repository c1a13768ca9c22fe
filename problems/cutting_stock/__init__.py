r"""Cutting stock: cut the demanded widths from as few rolls as possible (Gilmore and Gomory, 1961).

Data: a roll width C, and for each item i a width w_i and a demand d_i.  A *pattern* p cuts a_ip pieces of item i from
one roll: Σ_i w_i a_ip ≤ C, a_ip ≤ d_i.  With x_p the number of rolls cut by pattern p,

    min Σ_p x_p
    subject to  Σ_p a_ip x_p ≥ d_i   for each item i     [π_i ≥ 0]
                x_p ≥ 0 integer.

The reduced cost of a pattern is 1 - Σ_i π_i a_ip, so the pricing problem is a bounded knapsack problem: max Σ_i π_i a_i
over the patterns.

Branching is on *arc flows* (Valério de Carvalho, 1999).  The pieces of a pattern are laid out from position 0, widest
item first.  Let y_iq be the number of rolls with a piece of item i at position q.  If x is integer, so is y.  If y is
integer, it decomposes into integer numbers of patterns.  So branching on y is complete.  A row on y_iq has a dual value
μ_iq, which a pattern earns for a piece of item i at position q.  The knapsack becomes a longest path problem, at no
extra cost (:mod:`colgen.solvers.packing.knapsack`).  Reduced cost fixing removes arcs that no plan better than the
incumbent uses.

Suppose the total width of the rolls of the next better plan equals the total width of the demanded pieces.  Then all
its rolls are full, and it cuts every item exactly as often as demanded.  Only full patterns remain, and rank-1 cuts
over the demand rows are valid:

    Σ_p ⌊Σ_i u_i a_ip / q⌋ x_p ≤ ⌊Σ_i u_i d_i / q⌋    [σ ≤ 0].

Their dual values are charges in the labelling algorithm of the pricing problem
(:mod:`colgen.problems.cutting_stock.waste`).

An instance may have rolls of several widths, conflicts between items or a limit on the number of patterns.  The columns
of the master depend on these (:mod:`colgen.problems.cutting_stock.columns`).

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

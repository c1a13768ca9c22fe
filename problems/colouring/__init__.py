r"""Graph colouring by stable sets: use the fewest colours, different ones for neighbours (Mehrotra and Trick, 1996).

Data: a graph (V, E).  A *stable set* S contains no two neighbours, so its vertices can share a colour.  With x_S = 1
if S is a colour class:

    min Σ_S x_S
    subject to  Σ_{S with v} x_S ≥ 1   for each vertex v     [π_v ≥ 0]
                x_S ≥ 0 integer.

A vertex that is covered twice keeps one of its colours.  So covering rows (≥) suffice, and dual values are nonnegative.
The reduced cost of a stable set is 1 - Σ_{v in S} π_v.  The pricing problem is a *maximum weight stable set* problem.
The optimum of the relaxation is the fractional chromatic number.

Branching (Ryan and Foster): two vertices that are not neighbours share a colour or do not.  The first child merges
them, the second makes them neighbours (Zykov, 1949).  The pricing problem remains a stable set problem on a changed
graph.

Bounds need no tolerance: dual values are multiplied by a power of two and rounded up to integers.  The heaviest stable
set is then computed without rounding errors (:mod:`colgen.solvers.graphs.stable_set`).

Sources: A. Mehrotra and M. A. Trick, *A column generation approach for graph coloring*, INFORMS Journal on Computing 8
(1996); E. Malaguti, M. Monaci, P. Toth, *An exact approach for the vertex coloring problem*, Discrete Optimization 8
(2011); S. Held, W. Cook, E. C. Sewell, *Maximum-weight stable sets and safe lower bounds for graph coloring*,
Mathematical Programming Computation 4 (2012).
"""

from colgen.problems.colouring.instance import ColouringInstance, from_networkx, mycielski, queens, random, read, write
from colgen.problems.colouring.pricing import StableSetOracle
from colgen.problems.colouring.template import Colouring

__all__ = [
    "Colouring",
    "ColouringInstance",
    "StableSetOracle",
    "from_networkx",
    "mycielski",
    "queens",
    "random",
    "read",
    "write",
]

r"""Selection and ordering: the heaviest path of k vertices, no two of one class (Deshpande, Barzilay and Karger, 2007).

Data: a digraph with source s and sink t, weights w(u, v) of its arcs, a class of each vertex, a number k.  A *walk* p
has k vertices between s and t and may come back to a class; c_p is its weight, a_cp how often it visits class c.  With
x_p = 1 if walk p is chosen,

    max Σ_p c_p x_p
    subject to  Σ_p x_p = 1                            [π, free]
                Σ_p a_cp x_p ≤ 1   for each class c    [λ_c ≥ 0], separated as they are violated
                x_p ≥ 0 integer.

The reduced cost of a walk is c_p - π - Σ_c λ_c a_cp, so the pricing problem is the heaviest walk of k vertices: a
dynamic program over (position, vertex) in O(k n²).  Its value with penalties λ is the Lagrangian bound, at its best as
strong as the relaxation above (:mod:`colgen.solvers.paths.walks`).  What that leaves open is closed by remembering
visits: with the row of class c comes the memory of c into the state of the dynamic program, and then the row holds for
every walk (decremental state-space relaxation, :mod:`colgen.solvers.paths.elementary_path`).  Walks that cannot beat
the best path known are left out.

Titles are one use of it: vertices are the content words of a text, classes their stems, weights the log-probabilities
that a word is in the title, and that it follows another one (:mod:`colgen.problems.title_path.learning`).

The methods that it is compared with are in :mod:`colgen.problems.title_path.baseline`: colour coding
(:mod:`colgen.solvers.paths.colour_coding`), integer programs with flow variables
(:mod:`colgen.problems.title_path.model`) and with cycles cut off as they appear
(:mod:`colgen.problems.title_path.lazy`), beam search, A* and exhaustive search.

Sources: P. Deshpande, R. Barzilay, D. R. Karger, *Randomized decoding for selection-and-ordering problems*, NAACL
(2007); N. Christofides, A. Mingozzi, P. Toth, *State-space relaxation procedures for the computation of bounds to
routing problems*, Networks 11 (1981); G. Righini, M. Salani, *New dynamic programming algorithms for the resource
constrained elementary shortest path problem*, Networks 51 (2008).
"""

from colgen.problems.title_path.files import read, write
from colgen.problems.title_path.instance import Path, PathInstance, from_graph, random
from colgen.problems.title_path.lazy import LazyPath
from colgen.problems.title_path.outcome import PathResult
from colgen.problems.title_path.template import TitlePath

__all__ = [
    "PathInstance",
    "LazyPath",
    "Path",
    "PathResult",
    "TitlePath",
    "from_graph",
    "random",
    "read",
    "write",
]

r"""Selection and ordering: the heaviest path of k vertices of different classes (Deshpande, Barzilay and Karger, 2007).

Data: a digraph with source s and sink t, arc weights w(u, v), a class for each vertex, and a number k. A *walk* p has k
vertices between s and t and may repeat classes. Let c_p be its weight, and a_cp the number of its visits to class c.
With x_p = 1 if walk p is chosen,

    max Σ_p c_p x_p
    subject to  Σ_p x_p = 1                            [π, free]
                Σ_p a_cp x_p ≤ 1   for each class c    [λ_c ≥ 0], separated when violated
                x_p ≥ 0 integer.

The reduced cost of a walk is c_p - π - Σ_c λ_c a_cp. So the pricing problem is the heaviest walk of k vertices, solved
by a dynamic program over (position, vertex) in O(k n²). Its value with penalties λ is the Lagrangian bound, which is at
best as strong as the relaxation above (:mod:`colgen.solvers.paths.walks`). Decremental state-space relaxation closes
the remaining gap (:mod:`colgen.solvers.paths.elementary_path`). Once the row of class c is in the master, the state of
the dynamic program remembers visits to c, so every priced walk satisfies the row. Walks that cannot beat the best known
path are discarded.

Titles are one application. Vertices are the content words of a text, and classes are their stems. Weights are the
log-probabilities that a word is in the title and that it follows another word
(:mod:`colgen.problems.title_path.learning`).

:mod:`colgen.problems.title_path.baseline` has other methods for comparison: colour coding
(:mod:`colgen.solvers.paths.colour_coding`), integer programs with flow variables
(:mod:`colgen.problems.title_path.model`) and with separated cycles (:mod:`colgen.problems.title_path.lazy`), beam
search, A* and exhaustive search.

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

r"""Dependency parsing with non-local factors (Qian and Liu, 2013): the best tree, proved by branch and bound.

Data: scores of the local parts that a dynamic program supports (arcs; adjacent siblings; outermost or all
grandchildren; grand-siblings), and factors c, which are sets of arcs of any size and shape with a score φ_c of either
sign. With z the arcs of a tree and s(z) the score of its local parts,

    max_z φ(z) = s(z) + Σ_c φ_c Π_{e in c} z_e      over the projective trees z.

A product of binary variables is bounded by functions that are linear in z
(:mod:`colgen.problems.nonlocal_parsing.kernels.products`). If φ_c ≥ 0, they use shares p of φ_c for its arcs; if φ_c <
0, the excess over all arcs but one. So for every p, the dynamic program with modified arc scores gives a bound and a
tree,

    φ(z) ≤ ψ(p, z),     max_z φ(z) ≤ min_p max_z ψ(p, z),

and the dual values are the changes of arc scores by p. Subgradient steps lower the bound
(:mod:`colgen.problems.nonlocal_parsing.kernels.tree_bound`). Branching on the arc that contributes most to the gap
closes the rest. :mod:`colgen.problems.nonlocal_parsing.columns` solves the same relaxation by column generation with
trees as columns.

Beyond the source, p starts with products that are tight if every word has its best head. Steps aim at the best known
tree. Arcs whose max-marginal under ψ does not beat that tree are dropped, together with the positive factors that need
them. Shares move to the arcs whose max-marginals have most slack. Nearly every sentence is then proved at the root,
within a few calls of the dynamic program. Candidate heads are ranked by the max-marginals of a first-order parser.

Sources: X. Qian, Y. Liu, *Branch and bound algorithm for dependency parsing with non-local features*, TACL 1 (2013); M.
Collins, *Discriminative training methods for hidden Markov models*, EMNLP 2002; K. Hall, *K-best spanning tree
parsing*, ACL 2007.
"""

from colgen.problems.nonlocal_parsing.bound import TreeBounding
from colgen.problems.nonlocal_parsing.columns import ParsingByColumns
from colgen.problems.nonlocal_parsing.factors import Factors, either, valency
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance, random, read, write
from colgen.problems.nonlocal_parsing.template import NonlocalParsing
from colgen.solvers.trees.eisner import Parts

__all__ = [
    "Factors",
    "NonlocalInstance",
    "NonlocalParsing",
    "ParsingByColumns",
    "Parts",
    "TreeBounding",
    "either",
    "random",
    "read",
    "valency",
    "write",
]

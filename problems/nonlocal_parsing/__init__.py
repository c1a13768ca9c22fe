r"""Dependency parsing with non-local factors (Qian and Liu, 2013): the best tree, proved by branch and bound.

Data: scores of the local parts that a dynamic program supports (arcs; adjacent siblings; outermost or all
grandchildren; grand-siblings), and factors. A factor c is a set of arcs of any size and shape, with a score φ_c of
either sign. With z the arcs of a tree and s(z) the score of its local parts,

    max_z φ(z) = s(z) + Σ_c φ_c Π_{e in c} z_e      over the projective trees z.

Each product of binary variables is bounded by functions that are linear in z
(:mod:`colgen.problems.nonlocal_parsing.kernels.products`). If φ_c ≥ 0, the bound is φ_c Σ_{e in c} p_e z_e, with shares
p that sum to 1. If φ_c < 0, it is φ_c p (Σ_{e in c} z_e - (r_c - 1)), with 0 ≤ p ≤ 1 and r_c the number of arcs. So for
every p, the dynamic program with modified arc scores gives a bound and a tree,

    φ(z) ≤ ψ(p, z),     max_z φ(z) ≤ min_p max_z ψ(p, z).

The dual values are the changes of arc scores by p. Subgradient steps lower the bound
(:mod:`colgen.problems.nonlocal_parsing.kernels.tree_bound`). Branching closes the remaining gap, on the arc that
contributes most to it. :mod:`colgen.problems.nonlocal_parsing.columns` solves the same relaxation by column generation
with trees as columns.

Some steps are not in Qian and Liu (2013). The initial p makes the bounds of products tight if every word has its best
head. The score of the best known tree is the target that determines step lengths. Arcs whose max-marginal under ψ does
not beat that tree are dropped, together with the positive factors that need them. Shares move to the arcs whose
max-marginals have most slack. Nearly every sentence is then proved at the root, within a few calls of the dynamic
program. Candidate heads are ranked by the max-marginals of a first-order parser.

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

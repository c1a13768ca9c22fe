r"""Dependency parsing with non-local factors (Qian and Liu, 2013): the best tree, proved by branch and bound.

Data: scores of the local parts that a dynamic program holds (arcs; adjacent siblings; outermost or all grandchildren;
grand-siblings), and factors c, sets of arcs of any size and shape with a score φ_c of either sign.  With z the arcs of
a tree and s(z) the score of its local parts,

    max_z φ(z) = s(z) + Σ_c φ_c Π_{e in c} z_e      over the projective trees z.

A product of zero-one variables is bounded by functions that are linear in z
(:mod:`colgen.problems.nonlocal_parsing.kernels.products`): shares p of φ_c for its arcs where φ_c ≥ 0, the excess over
all arcs but one where φ_c < 0.  So for every p the dynamic program with tilted arc scores gives a bound and a tree,

    φ(z) ≤ ψ(p, z),     max_z φ(z) ≤ min_p max_z ψ(p, z),

and a dual value is what p makes of an arc's score.  The bound is brought down by steps against the subgradient
(:mod:`colgen.problems.nonlocal_parsing.kernels.tree_bound`), and what gap is left is closed by branching on the arc
that is most to blame for it.  The same relaxation by column generation, whose columns are trees and whose pricing
problem is the dynamic program, is :mod:`colgen.problems.nonlocal_parsing.columns`.

Beyond the source: p starts where products are tight if every word has its best head; steps aim at the best tree known;
arcs whose max-marginal under ψ does not beat that tree are gone for good, with all positive factors that need them; and
shares move to the arcs whose max-marginals leave most room.  Nearly every sentence is then proved at the root, within a
few calls of the dynamic program.  Candidate heads are ranked by the max-marginals of a first-order parser.

Sources: X. Qian, Y. Liu, *Branch and bound algorithm for dependency parsing with non-local features*, TACL 1 (2013);
M. Collins, *Discriminative training methods for hidden Markov models*, EMNLP 2002; K. Hall, *K-best spanning tree
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

"""Second-order dependency parsing by column and row generation (Riedel, Smith and McCallum, 2012).

Data: n tokens and a root, scores s_hm of arcs, s_gpc of grandparent parts, and s_hsm of consecutive sibling parts.
There is no sibling before m if s = h, and none after s if m = h.

Let z_hm = 1 if the arc (h, m) is in the tree, and u_gpc = 1 if (g, p) and (p, c) are.  Let q_hsm = 1 if s and m are
modifiers of h on one side with none between them.  The problem is

    max Σ s_hm z_hm + Σ s_gpc u_gpc + Σ s_hsm q_hsm
    subject to  Σ_h z_hm = 1                              for each token m                   [one_head, free]
                Σ_{h not in S, m in S} z_hm ≥ 1           for each set S of tokens           [cut, ≤ 0]
                Σ_g u_gpc = z_pc                          for each arc (p, c), p > 0         [one_gp, free]
                u_gpc ≤ z_gp                              for each part                      [gp_arc, ≥ 0]
                Σ_s q_hsm = z_hm                          for each arc (h, m)                [before, free]
                Σ_m q_hsm = z_hs                          for each arc (h, s)                [after, free]
                Σ_m q_hhm ≤ 1                             for each head h and side           [first, ≥ 0]
                z in {0, 1}, u, q ≥ 0.

Parts are columns and add their ``gp_arc`` and ``first`` rows.  Cuts are separated by minimum cuts; a single-commodity
flow can replace them.  Arcs are variables of the initial master, or columns too.  A part that is not in the master has
reduced cost

    s_gpc - π_pc(one_gp)        or        s_hsm - π_hm(before) - π_hs(after) - π_h(first, if s = h).

The pricing problem is to find the parts of positive reduced cost without scoring all parts; factored scores provide
upper bounds for that.  Branching is on arcs.

Without sibling parts, most sentences need no master.  For given π(one_gp), the Lagrangian bound is the value of a
maximum arborescence.  Its minimum over π is the optimum of the relaxation, and usually equals the score of a tree
(:mod:`colgen.problems.grandparent_parsing.kernels.grandparent_dual`).

:func:`parse` finds the same tree without a linear program and is usually faster.  It solves a Lagrangian dual over head
automata, whose multipliers price the arcs outside a candidate set
(:mod:`colgen.problems.grandparent_parsing.kernels.second_order`).  It also lists the k best trees, and finds projective
trees by a dynamic program over the remaining arcs (:mod:`colgen.solvers.trees.eisner_grandsibling`).

Sources: S. Riedel, D. Smith, A. McCallum, *Parse, price and cut: delayed column and row generation for graph based
parsers*, EMNLP 2012; T. Koo, A. M. Rush, M. Collins, T. Jaakkola, D. Sontag, *Dual decomposition for parsing with
non-projective head automata*, EMNLP 2010.
"""

from colgen.problems.grandparent_parsing.automata import AutomataParsing
from colgen.problems.grandparent_parsing.dual import CombinatorialDual
from colgen.problems.grandparent_parsing.instance import (
    GrandparentInstance,
    PartScores,
    from_scores,
    random,
    read,
    tree_objective,
    write,
)
from colgen.problems.grandparent_parsing.pairs import PairParsing
from colgen.problems.grandparent_parsing.parser import parse
from colgen.problems.grandparent_parsing.parses import Parse
from colgen.problems.grandparent_parsing.pricing import Arcs, GrandparentParts, SiblingParts
from colgen.problems.grandparent_parsing.separation import ArcGP, Crossing, TreeCuts
from colgen.problems.grandparent_parsing.standard import StandardScores, standard_scores
from colgen.problems.grandparent_parsing.template import GrandparentParsing
from colgen.problems.grandparent_parsing.tightening import Tightening

__all__ = [
    "ArcGP",
    "Arcs",
    "AutomataParsing",
    "CombinatorialDual",
    "Crossing",
    "TreeCuts",
    "GrandparentParsing",
    "GrandparentParts",
    "GrandparentInstance",
    "PairParsing",
    "Parse",
    "PartScores",
    "SiblingParts",
    "StandardScores",
    "Tightening",
    "from_scores",
    "parse",
    "random",
    "read",
    "standard_scores",
    "tree_objective",
    "write",
]

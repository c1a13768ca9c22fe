"""MAP in chains and trees by column generation.

Data: a tree (a chain, mostly) whose node i has a score θ_i(x) for each label x, and whose edge from i to its parent p
has a score τ_i(x, y) for each pair of labels.  A labelling is worth Σ_i θ_i(x_i) + Σ_i τ_i(x_i, x_p).

The program, for a chain, with one variable for each pair of labels of neighbouring tokens, an edge before the first and
after the last token, and dual values written behind their rows:

    max   Σ_{i,x,y} μ_i(x, y) (τ(x, y) + θ_{i-1}(x) / 2 + θ_i(y) / 2)
    s.t.  Σ_x μ_i(x, y) = Σ_z μ_{i+1}(y, z)      for all i, y      [α_i(y) / 2]
          Σ_x μ_i(x, y) = Σ_z μ_{i+1}(y, z)      for all i, y      [β_i(y) / 2]
          Σ_y μ_1(·, y) = 1                                        [N⁻]
          Σ_x μ_{n+1}(x, ·) = 1                                    [N⁺]
          μ ≥ 0

The second copy of the flow rows changes nothing but the dual values: they are forward and backward messages, α and β,
at once.  With them the reduced cost of a pair is

    2 R_i(x, y) = 2 τ(x, y) + (θ + α - β)_{i-1}(x) + (θ - α + β)_i(y)

which is positive for few pairs only where local scores say most of what is to be known.

The restricted master problem allows each token a domain of labels and is solved by dynamic programming, not by a linear
program; its messages, defined for all labels as maxima over the neighbour's domain, are the dual values.  The pricing
problem finds all pairs of positive reduced cost, from bounds on τ that are known beforehand.  One master holds a whole
batch of chains or trees: a round is one call for their messages and one for their reduced costs.

By default labels are priced one by one *before* they enter: a sweep passes the forward messages, and whether a label
can be of use to anything that may follow is decided by one more bound on τ, by how much exchanging two labels can gain.
What is left is optimal after a single round, and most nodes keep one label.  See
:mod:`colgen.solvers.chains.tree_domains`.

Source: Belanger, Passos, Riedel and McCallum, MAP inference in chains using column generation (NIPS 2012).
"""

from colgen.problems.chain_map.baseline import beam_search, viterbi, viterbi_pruned, viterbi_two_best
from colgen.problems.chain_map.instance import ChainInstance, random, read
from colgen.problems.chain_map.labellings import Labellings
from colgen.problems.chain_map.model import full
from colgen.problems.chain_map.pairwise import Pairwise
from colgen.problems.chain_map.template import ChainMAP, certify, decode

__all__ = [
    "ChainMAP",
    "ChainInstance",
    "Labellings",
    "Pairwise",
    "beam_search",
    "certify",
    "decode",
    "full",
    "random",
    "read",
    "viterbi",
    "viterbi_pruned",
    "viterbi_two_best",
]

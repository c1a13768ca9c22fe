"""MAP inference in chains and trees by column generation.

Data: a tree, usually a chain. Node i has a score θ_i(x) for each label x. The edge from node i to its parent p has a
score τ_i(x, y) for each pair of labels. A labelling scores Σ_i θ_i(x_i) + Σ_i τ_i(x_i, x_p).

The linear program of a chain has one variable per pair of labels of neighbouring tokens. There is one extra edge before
the first token and one after the last. Dual values are in brackets:

    max   Σ_{i,x,y} μ_i(x, y) (τ(x, y) + θ_{i-1}(x) / 2 + θ_i(y) / 2)
    s.t.  Σ_x μ_i(x, y) = Σ_z μ_{i+1}(y, z)      for all i, y      [α_i(y) / 2]
          Σ_x μ_i(x, y) = Σ_z μ_{i+1}(y, z)      for all i, y      [β_i(y) / 2]
          Σ_y μ_1(·, y) = 1                                        [N⁻]
          Σ_x μ_{n+1}(x, ·) = 1                                    [N⁺]
          μ ≥ 0

The flow rows appear twice so that the dual values are forward messages α and backward messages β at the same time. The
reduced cost of a pair is then

    2 R_i(x, y) = 2 τ(x, y) + (θ + α - β)_{i-1}(x) + (θ - α + β)_i(y).

Few pairs have a positive reduced cost if the local scores are informative.

The restricted master problem allows each token a domain of labels. It is solved by dynamic programming, not as a linear
program. Its messages are maxima over the neighbour's domain, are defined for all labels, and serve as dual values. The
pricing problem finds all pairs of positive reduced cost by precomputed bounds on τ. One master holds a whole batch of
chains or trees: each round makes one call for the messages and one for the reduced costs.

By default, labels are priced one by one *before* they enter a domain. A single sweep passes the forward messages. A
label is left out if replacing it by another label of the node never loses, whatever the labels of later nodes. A bound
on the gain of exchanging two labels proves this. The domains then contain an optimal labelling after one round, and
most nodes keep one label. See :mod:`colgen.solvers.chains.tree_domains`.

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

r"""Coreference clustering: group the mentions of a text by the entity they refer to (De Belder and Moens, 2012).

Data: n mentions, and a symmetric score s_ij for each pair, positive if the two seem to belong together. A cluster S
scores c_S = Σ_{i<j in S} s_ij, so each pair counts once. With x_S = 1 if S is a cluster:

    max Σ_S c_S x_S
    subject to  Σ_{S ∋ i} x_S = 1   for each mention i     [π_i, free]
                x_S ≥ 0 integer.

The reduced cost of a cluster is c_S - Σ_{i in S} π_i. So the pricing problem is quadratic optimisation over subsets:
maximise Σ_{i<j in S} s_ij - Σ_{i in S} π_i over S. A heuristic grows clusters, and an exact search proves optimality
for scores of any sign (:mod:`colgen.solvers.clusters.subset`). The integer program of De Belder and Moens for pricing
is available for comparison.

Correlation clustering, clique partitioning and modularity maximisation are the same problem. Any symmetric matrix or
networkx graph with edge scores can be used (:func:`from_graph`, :func:`modularity`).

Branching is Ryan and Foster's, on pairs of mentions. De Belder and Moens state that their matrices are totally
unimodular, and stop at the relaxation. The matrices are not (:mod:`colgen.problems.coreference.model` has
counterexamples), but on real documents the relaxation is nearly always integral.

Reductions precede column generation (:mod:`colgen.solvers.clusters.persistency`). Dual values prove the best clustering
of some components, which are then settled. Mentions that provably share a cluster are contracted. Pairs that provably
do not share one are separated. The master has one row per remaining group of mentions; often no group remains. The
first pricing round verifies all reductions (:mod:`colgen.solvers.clusters.steps`).

Sources: J. De Belder and M.-F. Moens, *Coreference clustering using column generation*, COLING 2012; M. Grötschel and
Y. Wakabayashi, *A cutting plane algorithm for a clustering problem*, Mathematical Programming 45 (1989); A. Mehrotra
and M. A. Trick, *Cliques and clustering: a combinatorial approach*, Operations Research Letters 22 (1998).
"""

from colgen.problems.coreference.clustering import Clustering, cluster
from colgen.problems.coreference.document import Cluster
from colgen.problems.coreference.instance import (
    CoreferenceInstance,
    communities,
    from_graph,
    modularity,
    random,
    random_signs,
    read_matrix,
    write_matrix,
)
from colgen.problems.coreference.items import Items
from colgen.problems.coreference.lazy import LazyAllLink
from colgen.problems.coreference.pricing import ClusterILP, ClusterSearch, GrowingClusters
from colgen.problems.coreference.template import Coreference

__all__ = [
    "Cluster",
    "ClusterILP",
    "ClusterSearch",
    "Clustering",
    "Coreference",
    "GrowingClusters",
    "CoreferenceInstance",
    "Items",
    "LazyAllLink",
    "cluster",
    "communities",
    "from_graph",
    "modularity",
    "random",
    "random_signs",
    "read_matrix",
    "write_matrix",
]

r"""Loopy belief propagation on dependency trees with grandchild scores: approximate sums and marginals.

Each arc is a binary variable.  One global factor requires that the arcs form a tree, projective or not.  One factor per
pair of arcs g → h → m adds its score if both are present.  Messages are log-odds.  Let n be the cavity log-odds of one
arc of a pair with score s.  The pair's message to the other is log((1 + exp(n + s)) / (1 + exp n)).  The message of the
tree factor is the log-odds of a marginal over all trees minus the arc's own.  One iteration takes O(n³).  Exact sums
over projective trees with grandchildren take O(n⁴), and those over all trees are intractable.

Sources: D. A. Smith, J. Eisner, *Dependency parsing by belief propagation*, EMNLP 2008.  For the free energy:
J. S. Yedidia, W. T. Freeman, Y. Weiss, *Constructing free-energy approximations and generalized belief propagation
algorithms*, IEEE Transactions on Information Theory 51 (2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_floats, as_integer
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_sums import projective_sums
from colgen.solvers.trees.matrix_tree import tree_sums

Floats = NDArray[np.float64]

_SURE = 36.0
"""Limit of messages: log-odds beyond it are indistinguishable from certainty in 64-bit marginals."""


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Approximate marginals.

    Attributes
    ----------
    log_partition : Bethe approximation; -inf if there is no tree (all beliefs are then zero)
    arcs : (N, N) array
        Exact marginals of trees at the arc scores changed by the messages of the pairs.
    grandchildren : (N, N, N) array
        Belief of each pair of arcs g → h → m.  For h = 0, where g is 0 too, the belief of the arc.
    residual : largest change of an arc's belief in the last iteration
    """

    log_partition: float
    arcs: Floats
    grandchildren: Floats
    residual: float


def tree_beliefs(
    arcs: ArrayLike,
    grandchildren: ArrayLike,
    *,
    projective: bool = False,
    single_root: bool = False,
    iterations: int = 10,
) -> Beliefs:
    """Compute approximate sums over dependency trees with grandchild scores.

    Parameters
    ----------
    arcs : (N, N) array by head and modifier, root 0; -inf marks a missing arc
    grandchildren : (N, N, N) array by grandparent, head and modifier
        The root's modifiers are at [0, 0, m].  -inf forbids a pair.
    projective : whether the tree factor contains projective trees only
    iterations : number of updates of all pair messages, followed by those of the tree factor
    """
    theta = np.array(as_floats(arcs, "arcs", shape=("N", "N"), minus_infinity=True))
    size = len(theta)
    scores = as_floats(grandchildren, "grandchildren", shape=(size,) * 3, minus_infinity=True)
    iterations = as_integer(iterations, "iterations", low=1)
    theta[0] += scores[0, 0]
    theta[:, 0] = -np.inf
    np.fill_diagonal(theta, -np.inf)
    allowed = theta > -np.inf
    pairs = allowed[:, :, np.newaxis] & allowed[np.newaxis]
    pairs[:, 0] = False
    words = np.arange(size)
    pairs[words, :, words] = False  # a word is not its own grandparent
    g, h, m = np.nonzero(pairs)
    upper, lower = g * size + h, h * size + m  # the two arcs of each pair
    score = scores[g, h, m]
    unary = theta[allowed]
    place = np.cumsum(allowed).reshape(-1) - 1  # index of an arc among the allowed ones
    upper, lower = place[upper], place[lower]
    count = len(unary)
    tree, to_upper, to_lower = np.zeros(count), np.zeros(len(score)), np.zeros(len(score))
    cavity, marginals, log_partition = unary, np.zeros(count), -np.inf
    residual = np.inf
    odds = unary
    for iteration in range(iterations + 1):  # the first evaluates the tree factor alone
        if iteration:
            of_upper, of_lower = odds[upper] - to_upper, odds[lower] - to_lower
            to_upper = _softplus(of_lower + score) - _softplus(of_lower)
            to_lower = _softplus(of_upper + score) - _softplus(of_upper)
        cavity = np.asarray(
            unary + np.bincount(upper, to_upper, count) + np.bincount(lower, to_lower, count), dtype=np.float64
        )
        before = marginals
        log_partition, marginals = _tree_factor(cavity, allowed, projective, single_root)
        if log_partition == -np.inf:
            return Beliefs(-np.inf, np.zeros(theta.shape), np.zeros(scores.shape), 0.0)
        with np.errstate(divide="ignore"):
            odds = np.clip(np.log(marginals) - np.log1p(-np.minimum(marginals, 1.0)), -_SURE, _SURE)
        tree = odds - cavity
        residual = float(np.abs(marginals - before).max(initial=0.0))
    odds = cavity + tree
    of_upper, of_lower = odds[upper] - to_upper, odds[lower] - to_lower
    none = np.logaddexp(_softplus(of_upper), of_lower)  # not both
    both = of_upper + of_lower + score
    degree = np.bincount(upper, minlength=count) + np.bincount(lower, minlength=count)
    bethe = log_partition + float(np.logaddexp(none, both).sum()) - float(degree @ _softplus(odds))
    by_arc, by_pair = np.zeros(theta.shape), np.zeros(scores.shape)
    by_arc[allowed] = marginals
    by_pair[g, h, m] = np.exp(both - np.logaddexp(none, both))
    by_pair[0, 0] = by_arc[0]
    return Beliefs(bethe, by_arc, by_pair, residual)


def _tree_factor(
    cavity: Floats, allowed: NDArray[np.bool_], projective: bool, single_root: bool
) -> tuple[float, Floats]:
    """Return log-partition function and marginals of all trees at the cavity log-odds of the arcs."""
    theta = np.full(allowed.shape, -np.inf)
    theta[allowed] = cavity
    if projective:
        sums = projective_sums(Parts(theta), single_root=single_root)
        return sums.log_partition, sums.means["arcs"][allowed]
    found, means = tree_sums(theta[np.newaxis], single_root=single_root)
    return float(found[0]), means[0][allowed]


def _softplus(x: Floats) -> Floats:
    """Return log(1 + exp x)."""
    result: Floats = np.logaddexp(0.0, x)
    return result

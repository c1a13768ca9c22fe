r"""Losses of scores against a gold structure, with their gradients.

All but the last have the form max_y [s(y) + Δ(y) ...] - s(gold).  They are convex in the scores, and zero only if the
gold structure wins by the margin.  The gradient is a mean of structures minus the gold one.

    structured hinge    max_y s(y) + Δ(y) - s(gold)               Δ: Hamming loss, given costs, or 0/1 loss
    perceptron          the same without Δ
    Fenchel-Young       Ω*(θ) + Ω(gold) - s(gold)                 Ω = ½ ‖·‖² (SparseMAP), -entropy (Gibbs: conditional
                                                                  random fields), or a mean of maxima (perturbed)
    SPO+                max_y (2s - t)(y) - (2s - t)(gold)       t: true scores, at which the gold structure is best;
                                                                  at least the regret t(gold) - t(best at s)
    cone-aligned        1 - cos(s, p(s))                          p: projection onto the scores for which the gold
                                                                  structure is best over the linear relaxation

Sources: B. Taskar, C. Guestrin, D. Koller, *Max-margin Markov networks*, NIPS 2003; M. Blondel, A. F. T. Martins,
V. Niculae, *Learning with Fenchel-Young losses*, JMLR 21 (2020); Q. Berthet and others, *Learning with differentiable
perturbed optimizers*, NeurIPS 2020; A. N. Elmachtoub, P. Grigas, *Smart "Predict, then Optimize"*, Management Science
68 (2022); B. Tang, E. B. Khalil, *CaVE: a cone-aligned approach for fast predict-then-optimize with binary linear
programs*, CPAIOR 2024.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from colgen.core.errors import InputError, OracleBeatenError
from colgen.core.tolerances import TOLERANCES, size
from colgen.learning.marginals import marginals
from colgen.learning.oracles import (
    Chains,
    Structure,
    StructureOracle,
    check_scores,
    decode,
    gold_structure,
    scores_for,
    structure_from,
)
from colgen.learning.perturbing import perturbed
from colgen.learning.sparsemap import sparsemap
from colgen.solvers.arrays import ArrayError, as_floats
from colgen.solvers.chains.viterbi import two_best

Floats: TypeAlias = NDArray[np.float64]

Margin: TypeAlias = Literal["hamming", "zero_one", "none"]
"""Cost of a wrong structure: its number of wrong parts, 1, or 0."""

Regularization: TypeAlias = Literal["sparsemap", "gibbs", "beliefs", "perturbed"]


@dataclass(frozen=True, eq=False)
class Loss:
    """A loss at given scores.

    Attributes
    ----------
    value
        At least 0 up to rounding, if the gold structure is one of the oracle's.
    gradients
        Derivatives with respect to each array of scores, in its shape.
    structure
        For a hinge: the structure that violates the margin most (the gold one if none does).
    cost
        The cost Δ of ``structure``.
    """

    value: float
    gradients: tuple[Floats, ...]
    structure: Structure | None = None
    cost: float = 0.0


@dataclass(frozen=True, eq=False)
class Violator:
    """The structure of largest score plus cost, and its cost."""

    structure: Structure
    cost: float


def augmented(
    oracle: StructureOracle, gold: Any, *scores: Any, margin: Margin = "hamming", costs: ArrayLike | None = None
) -> Violator:
    """Return a structure of largest score plus cost (loss-augmented decoding), by one call of the oracle.

    Parameters
    ----------
    gold
        The gold structure: labels or parts, see :mod:`colgen.learning.oracles`.
    margin
        ``"hamming"``: each missed gold part of the first array costs 1.  ``"zero_one"``: every structure but the gold
        one costs 1.  This may need the second best, see :func:`second_best`.
    costs
        Costs of the parts of the first array, in its shape, instead of the margin.

    Raises
    ------
    InputError
        If an argument is invalid, or every structure is forbidden.
    """
    theta = scores_for(oracle, scores)
    return _violator(oracle, gold_structure(oracle, gold, theta), theta, margin, costs)


def hinge(
    oracle: StructureOracle, gold: Any, *scores: Any, margin: Margin = "hamming", costs: ArrayLike | None = None
) -> Loss:
    """Return the structured hinge, max_y s(y) + Δ(y) - s(gold); for parameters see :func:`augmented`."""
    theta = scores_for(oracle, scores)
    gold = gold_structure(oracle, gold, theta)
    found = _violator(oracle, gold, theta, margin, costs)
    own = _gold_score(gold, theta)
    value = found.structure.score(theta) + found.cost - own
    at_gold = (
        float(_costs(gold, theta, costs)[0].ravel()[gold.parts[0][0]] @ gold.parts[0][1]) if costs is not None else 0.0
    )
    scale = size(1.0, own, found.cost)
    if value < at_gold - TOLERANCES.diagnostic * scale:
        raise OracleBeatenError(
            f"{type(oracle).__name__}.best returned a structure of score and cost {value + own:.9g}, but the gold one "
            f"has {own + at_gold:.9g}: the oracle is not exact, or it cannot find the gold structure"
        )
    return Loss(value, _difference(found.structure, gold, theta), found.structure, found.cost)


def fenchel_young(
    oracle: Any,
    gold: Any,
    *scores: Any,
    regularization: Regularization = "sparsemap",
    samples: int = 16,
    spread: float = 1.0,
    seed: int = 0,
    rounds: int | None = None,
) -> Loss:
    """Return a Fenchel-Young loss.  Its gradient is a mean of structures minus the gold one.

    Parameters
    ----------
    oracle
        Any oracle; ``"gibbs"`` needs one with sums over its structures.
    regularization
        ``"sparsemap"``: the mean is a :func:`~colgen.learning.sparsemap.sparsemap`.  ``"gibbs"``: marginals.  The loss
        is -log P(gold).  ``"beliefs"``: approximate marginals of trees with grandchildren by loopy belief propagation
        (an oracle with a method ``beliefs(*scores)``). The value uses Bethe's free energy and may be negative.
        ``"perturbed"``: the mean of best structures at perturbed scores.  The value has an unknown constant and may be
        negative.
    samples, spread, seed
        Number of perturbations, factor of their noise, and seed.
    rounds
        Maximum number of rounds of SparseMAP, whose mean has very many structures if scores are nearly equal.  The
        value is then too small by at most the mean's gap.
    """
    theta = scores_for(oracle, scores)
    gold = gold_structure(oracle, gold, theta)
    own = _gold_score(gold, theta)
    if regularization == "gibbs":
        distribution = marginals(oracle, *theta)
        value, means = distribution.log_partition - own, distribution.means
    elif regularization == "beliefs":
        value, means = _beliefs(oracle, theta)
        value -= own
    elif regularization == "sparsemap":
        sparse = sparsemap(oracle, *theta, rounds=rounds)
        counts = gold.parts[0][1]
        value, means = sparse.value + 0.5 * float(counts @ counts) - own, sparse.means
    elif regularization == "perturbed":
        mean = perturbed(oracle, *theta, samples=samples, spread=spread, generator=np.random.default_rng(seed))
        value, means = mean.value - own, mean.means
    else:
        raise InputError(
            f"regularization: expected 'sparsemap', 'gibbs', 'beliefs' or 'perturbed', got {str(regularization)[:40]!r}"
        )
    return Loss(value, tuple(m - gold.array(k, m.shape) for k, m in enumerate(means)))


def spo_plus(oracle: StructureOracle, gold: Any, *scores: Any, true: Any) -> Loss:
    """Return the SPO+ loss of predicted scores, an upper bound on their :func:`regret` that is convex in them.

    Its gradient is twice the best structure at 2 · predicted - true scores minus twice the gold one.  Where costs are
    minimised, scores are their negatives.

    Parameters
    ----------
    gold
        The best structure at the true scores; None: it is computed.
    scores
        The predicted scores; -inf forbids a part.
    true
        The true scores, in the shapes of the predicted ones: one array, or a tuple with one for each.
    """
    theta = scores_for(oracle, scores)
    known = true_scores(theta, true)
    at = reflected(theta, known)
    correct = decode(oracle, known) if gold is None else gold_structure(oracle, gold, theta)
    own = _gold_score(correct, at)
    found = decode(oracle, at)
    value = found.score(at) - own
    refuse_beaten(oracle, value, size(1.0, own))
    return Loss(value, tuple(2.0 * d for d in _difference(found, correct, theta)), found)


def cone_aligned(oracle: Any, gold: Any, scores: Any) -> Loss:
    """Return 1 minus the cosine of the angle between scores and the cone of those for which a structure is best.

    The cone is that of the linear relaxation.  It is generated by the normals of the constraints that bind at the gold
    structure.  The loss is 0 if the scores are in it, and 1 if no score in it is nearer than 0.  It takes a nonnegative
    least-squares problem, and no call of the oracle.

    Parameters
    ----------
    oracle
        An oracle of one array of scores with a method ``normals(counts)``, such as
        :class:`~colgen.learning.GraphPaths` and :class:`~colgen.learning.Knapsacks`.
    gold
        The gold structure.
    scores
        Finite scores, for which structures are maximised.
    """
    if not hasattr(oracle, "normals"):
        raise InputError(
            "cone_aligned: expected an oracle with a method normals(counts), such as Knapsacks, not "
            f"{type(oracle).__name__}"
        )
    (theta,) = scores_for(oracle, (scores,))
    if np.isneginf(theta).any():
        raise InputError("scores: expected finite numbers, because the cone has no place for forbidden parts")
    counts = gold_structure(oracle, gold, (theta,)).array(0, theta.shape)
    try:
        normals = as_floats(oracle.normals(counts), f"{type(oracle).__name__}.normals", shape=(None, theta.size))
    except ArrayError as error:
        raise InputError(str(error)) from None
    largest = float(np.abs(theta).max(initial=0.0))
    if largest == 0.0:
        return Loss(1.0, (np.zeros(theta.shape),))
    length = largest * float(np.linalg.norm(theta / largest))
    unit = theta.ravel() / length
    shares, _ = nnls(normals.T, unit) if len(normals) else (np.zeros(0), 0.0)
    projection = shares @ normals
    cosine = min(float(np.linalg.norm(projection)), 1.0)
    if cosine <= TOLERANCES.diagnostic:
        return Loss(1.0, (np.zeros(theta.shape),))
    # The gradient of half the squared length of a projection onto a cone is the projection.
    gradient = (cosine * unit - projection / cosine) / length
    return Loss(1.0 - cosine, (gradient.reshape(theta.shape),))


def regret(oracle: StructureOracle, *scores: Any, true: Any) -> float:
    """Return the true score of the best structure minus that of the structure which is best at the predicted scores.

    Arguments are those of :func:`spo_plus`.
    """
    theta = scores_for(oracle, scores)
    known = true_scores(theta, true)
    return decode(oracle, known).score(known) - decode(oracle, theta).score(known)


def true_scores(theta: Sequence[Floats], true: Any) -> tuple[Floats, ...]:
    """Return true scores as arrays, after checking that they have the predicted ones' shapes and places of -inf."""
    known = check_scores(true if isinstance(true, tuple) else (true,), ("true",))
    if [t.shape for t in known] != [s.shape for s in theta]:
        raise InputError(
            f"true: expected scores of shapes {[s.shape for s in theta]} as predicted, got {[t.shape for t in known]}"
        )
    if any((np.isneginf(s) != np.isneginf(t)).any() for s, t in zip(theta, known, strict=True)):
        raise InputError("true: expected scores of -inf where the predicted ones are -inf, and nowhere else")
    return known


def reflected(theta: Sequence[Floats], true: Sequence[Floats]) -> tuple[Floats, ...]:
    """Return 2 · predicted - true scores; -inf where both are."""
    finite = (np.where(np.isneginf(t), 0.0, t) for t in true)
    return tuple(2.0 * s - t for s, t in zip(theta, finite, strict=True))


def refuse_beaten(oracle: StructureOracle, value: float, scale: float) -> None:
    """Raise an OracleBeatenError if a loss is negative by more than rounding."""
    if value < -TOLERANCES.diagnostic * scale:
        raise OracleBeatenError(
            f"{type(oracle).__name__}.best returned a structure whose score is {-value:.9g} below that of the gold "
            "one: the oracle is not exact, or it cannot find the gold structure"
        )


def second_best(oracle: StructureOracle, first: Structure, *scores: Any) -> Structure | None:
    """Return the best structure other than ``first``; None if there is no other.

    For chains with shared transitions a two-best Viterbi algorithm is used.  Otherwise the oracle is called once for
    each part of ``first`` in the first array, with this part forbidden.  Then no structure may contain all parts of
    ``first`` and further ones, and the oracle must respect -inf.
    """
    theta = scores_for(oracle, scores)
    if isinstance(oracle, Chains) and theta[1].ndim == 2:
        tokens, num = theta[0].shape
        one, _, two, values = two_best(theta[0], np.array([0, tokens]), theta[1])
        best = structure_from(Chains.structure(one.astype(np.int64), num), theta)
        if best.key != first.key:
            return best
        return None if values[0] == -np.inf else structure_from(Chains.structure(two.astype(np.int64), num), theta)
    found: Structure | None = None
    value = -np.inf
    for place in first.parts[0][0].tolist():
        without = theta[0].copy()
        without.ravel()[place] = -np.inf
        answer = oracle.best(without, *theta[1:])
        if answer is None:
            continue
        other = structure_from(answer, theta)
        if place not in other.parts[0][0] and other.score(theta) > value:
            found, value = other, other.score(theta)
    return found


def _violator(
    oracle: StructureOracle, gold: Structure, theta: tuple[Floats, ...], margin: Margin, costs: ArrayLike | None
) -> Violator:
    if costs is None and margin in ("none", "zero_one"):
        best = decode(oracle, theta)
        if margin == "none" or best.key != gold.key:
            return Violator(best, 0.0 if margin == "none" or best.key == gold.key else 1.0)
        other = second_best(oracle, gold, *theta)
        if other is not None and other.score(theta) + 1.0 > gold.score(theta):
            return Violator(other, 1.0)
        return Violator(gold, 0.0)
    if costs is None and margin != "hamming":
        raise InputError(f"margin: expected 'hamming', 'zero_one' or 'none', got {str(margin)[:40]!r}")
    cost, constant = _costs(gold, theta, costs)
    found = decode(oracle, (theta[0] + cost, *theta[1:]))
    places, counts = found.parts[0]
    return Violator(found, constant + float(cost.ravel()[places] @ counts))


def _costs(gold: Structure, theta: tuple[Floats, ...], costs: ArrayLike | None) -> tuple[Floats, float]:
    """Return the cost of each part, and a constant cost of all structures."""
    if costs is None:
        return -gold.array(0, theta[0].shape), float(gold.parts[0][1] @ gold.parts[0][1])
    try:
        return as_floats(costs, "costs", shape=theta[0].shape), 0.0
    except ArrayError as error:
        raise InputError(str(error)) from None


def _beliefs(oracle: Any, theta: tuple[Floats, ...]) -> tuple[float, tuple[Floats, ...]]:
    """Return Bethe's log-partition function, and beliefs in the shapes of the scores."""
    if not hasattr(oracle, "beliefs"):
        raise InputError(
            "beliefs: expected ProjectiveTrees('grandchildren') or another oracle with a method beliefs(*scores), not "
            f"{type(oracle).__name__}"
        )
    try:
        found = oracle.beliefs(*theta)
    except ArrayError as error:
        raise InputError(str(error)) from None
    if found.log_partition == -np.inf:
        raise InputError("every structure is forbidden by scores of -inf")
    return found.log_partition, (found.arcs, found.grandchildren)


def _gold_score(gold: Structure, theta: tuple[Floats, ...]) -> float:
    own = gold.score(theta)
    if not np.isfinite(own):
        raise InputError("the gold structure has a forbidden part, of score -inf")
    return own


def _difference(found: Structure, gold: Structure, theta: tuple[Floats, ...]) -> tuple[Floats, ...]:
    result = tuple(found.array(k, t.shape) for k, t in enumerate(theta))
    for array, (places, counts) in zip(result, gold.parts, strict=True):
        array.ravel()[places] -= counts
    return result


__all__ = [
    "Loss",
    "Violator",
    "Margin",
    "Regularization",
    "augmented",
    "hinge",
    "fenchel_young",
    "spo_plus",
    "cone_aligned",
    "regret",
    "second_best",
]

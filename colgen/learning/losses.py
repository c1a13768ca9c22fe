r"""Losses of scores against a right structure, with their gradients by the scores.

All have the form max_y [s(y) + Δ(y) ...] - s(right): they are convex in the scores, zero only where the scores say what
is right (with a margin), and their gradient is a mean of structures less the right one.

    structured hinge    max_y s(y) + Δ(y) - s(right)              Δ: Hamming loss, given costs, or 0/1 loss
    perceptron          the same without Δ
    Fenchel-Young       Ω*(θ) + Ω(right) - s(right)               Ω = ½ ‖·‖² (SparseMAP), -entropy (Gibbs: conditional
                                                                  random fields), or a mean of maxima (perturbed)

Sources: B. Taskar, C. Guestrin, D. Koller, *Max-margin Markov networks*, NIPS 2003; M. Blondel, A. F. T. Martins,
V. Niculae, *Learning with Fenchel-Young losses*, JMLR 21 (2020); Q. Berthet and others, *Learning with differentiable
perturbed optimizers*, NeurIPS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.core.errors import InputError, OracleBeatenError
from colgen.core.tolerances import TOLERANCES, size
from colgen.learning.marginals import marginals
from colgen.learning.oracles import (
    Chains,
    Structure,
    StructureOracle,
    decoded,
    right_structure,
    scores_for,
    structure_from,
)
from colgen.learning.perturbing import perturbed
from colgen.learning.sparsemap import sparsemap
from colgen.solvers.arrays import ArrayError, as_floats
from colgen.solvers.chains.viterbi import two_best

Floats: TypeAlias = NDArray[np.float64]

Margin: TypeAlias = Literal["hamming", "zero_one", "none"]
"""What a wrong structure costs: as many as it has wrong parts, 1, nothing."""

Regularization: TypeAlias = Literal["sparsemap", "gibbs", "beliefs", "perturbed"]


@dataclass(frozen=True, eq=False)
class Loss:
    """A loss at some scores.

    Attributes
    ----------
    value
        Never negative but for rounding, where the right structure is one that the oracle can find.
    gradients
        For each array of scores, the derivatives by it, in its shape.
    structure
        Of a hinge: the structure that violates the margin most (the right one, if none does).
    cost
        Its Δ.
    """

    value: float
    gradients: tuple[Floats, ...]
    structure: Structure | None = None
    cost: float = 0.0


@dataclass(frozen=True, eq=False)
class Violator:
    """The structure of largest score and cost, and its cost."""

    structure: Structure
    cost: float


def augmented(
    oracle: StructureOracle, right: Any, *scores: Any, margin: Margin = "hamming", costs: ArrayLike | None = None
) -> Violator:
    """Loss-augmented decoding: a structure of largest score plus cost, by one call of the oracle.

    Parameters
    ----------
    right
        The right structure: labels, or its parts, see :mod:`colgen.learning.oracles`.
    margin
        ``"hamming"``: the right parts of the first array that are missed count 1 each.  ``"zero_one"``: all that is
        not the right structure costs 1; then the second best may be asked for, see :func:`second_best`.
    costs
        What each part of the first array costs, in its shape, instead of the margin.

    Raises
    ------
    InputError
        If something is not what is expected, or every structure is forbidden.
    """
    theta = scores_for(oracle, scores)
    return _violator(oracle, right_structure(oracle, right, theta), theta, margin, costs)


def hinge(
    oracle: StructureOracle, right: Any, *scores: Any, margin: Margin = "hamming", costs: ArrayLike | None = None
) -> Loss:
    """The structured hinge, max_y s(y) + Δ(y) - s(right); parameters as of :func:`augmented`."""
    theta = scores_for(oracle, scores)
    gold = right_structure(oracle, right, theta)
    found = _violator(oracle, gold, theta, margin, costs)
    own = _right_score(gold, theta)
    value = found.structure.score(theta) + found.cost - own
    at_right = (
        float(_costs(gold, theta, costs)[0].ravel()[gold.parts[0][0]] @ gold.parts[0][1]) if costs is not None else 0.0
    )
    scale = size(1.0, own, found.cost)
    if value < at_right - TOLERANCES.diagnostic * scale:
        raise OracleBeatenError(
            f"{type(oracle).__name__}.best found a structure of score and cost {value + own:.9g} where the right one "
            f"has {own + at_right:.9g}: it is not exact, or the right structure is none that it can find"
        )
    return Loss(value, _difference(found.structure, gold, theta), found.structure, found.cost)


def fenchel_young(
    oracle: Any,
    right: Any,
    *scores: Any,
    regularization: Regularization = "sparsemap",
    samples: int = 16,
    spread: float = 1.0,
    seed: int = 0,
    rounds: int | None = None,
) -> Loss:
    """A Fenchel-Young loss: its gradient is a mean of structures less the right one.

    Parameters
    ----------
    oracle
        Any; for ``"gibbs"`` one whose structures can be summed over.
    regularization
        ``"sparsemap"``: the mean is a :func:`~colgen.learning.sparsemap.sparsemap`.  ``"gibbs"``: the marginals; the
        loss is -log P(right).  ``"beliefs"``: of trees with grandchildren (an oracle with a method
        ``beliefs(*scores)``) the approximate marginals of loopy belief propagation, and Bethe's free energy for the
        value, which may fall below zero.  ``"perturbed"``: the
        mean of best structures at perturbed scores; the value is up to a constant, and may be negative.
    samples, spread, seed
        Of perturbations.
    rounds
        Of SparseMAP, at most: where scores are nearly equal the mean of all rounds has very many structures.  The value
        is then too small by the mean's gap at most.
    """
    theta = scores_for(oracle, scores)
    gold = right_structure(oracle, right, theta)
    own = _right_score(gold, theta)
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


def second_best(oracle: StructureOracle, first: Structure, *scores: Any) -> Structure | None:
    """The best structure other than ``first``; None if there is no other.

    By one call for each part of the first array that ``first`` has, which is forbidden there; of chains by two values a
    label.  No structure may have all of the first one's parts and more, and the oracle must heed -inf.
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
        best = decoded(oracle, theta)
        if margin == "none" or best.key != gold.key:
            return Violator(best, 0.0 if margin == "none" or best.key == gold.key else 1.0)
        other = second_best(oracle, gold, *theta)
        if other is not None and other.score(theta) + 1.0 > gold.score(theta):
            return Violator(other, 1.0)
        return Violator(gold, 0.0)
    if costs is None and margin != "hamming":
        raise InputError(f"margin: expected 'hamming', 'zero_one' or 'none', got {str(margin)[:40]!r}")
    cost, constant = _costs(gold, theta, costs)
    found = decoded(oracle, (theta[0] + cost, *theta[1:]))
    places, counts = found.parts[0]
    return Violator(found, constant + float(cost.ravel()[places] @ counts))


def _costs(gold: Structure, theta: tuple[Floats, ...], costs: ArrayLike | None) -> tuple[Floats, float]:
    """What each part costs, and what every structure does."""
    if costs is None:
        return -gold.array(0, theta[0].shape), float(gold.parts[0][1] @ gold.parts[0][1])
    try:
        return as_floats(costs, "costs", shape=theta[0].shape), 0.0
    except ArrayError as error:
        raise InputError(str(error)) from None


def _beliefs(oracle: Any, theta: tuple[Floats, ...]) -> tuple[float, tuple[Floats, ...]]:
    """Bethe's log-partition function, and beliefs in the shapes of the scores."""
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
        raise InputError("every structure is forbidden: the scores of -inf leave none")
    return found.log_partition, (found.arcs, found.grandchildren)


def _right_score(gold: Structure, theta: tuple[Floats, ...]) -> float:
    own = gold.score(theta)
    if not np.isfinite(own):
        raise InputError("the right structure has a part that is forbidden: its score is -inf")
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
    "second_best",
]

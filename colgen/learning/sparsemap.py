r"""SparseMAP: the mean of structures that is nearest to the scores, by column generation with a quadratic master.

    max  θᵀ μ + ηᵀ ν - ½ ‖μ‖²        over (μ, ν) in the convex hull of the structures' arrays (a, b)

MAP returns one structure; SparseMAP returns a mean of a few.  The mean is a function of the scores that has a gradient
almost everywhere.  The part of the mean for the first scores θ is penalised.  The parts for other scores η, such as
those of transitions or pairs of arcs, are not.

The master is a quadratic program over the simplex of the weights of the structures seen
(:mod:`colgen.solvers.quadratic.over_simplex`).  Its dual values are θ - μ.  The oracle returns a structure of largest
score (θ - μ)ᵀa + ηᵀb.  If it is not better than those in the mean, the mean is optimal.  The difference bounds the
objective's gap, and with it the distance: ½ ‖μ - μ*‖² ≤ gap.

Source: V. Niculae, A. F. T. Martins, M. Blondel, C. Cardie, *SparseMAP: differentiable sparse structured inference*,
ICML 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError, OracleBeatenError
from colgen.core.tolerances import ROUNDING, TOLERANCES
from colgen.learning.oracles import (
    Chains,
    Occurrences,
    Structure,
    StructureOracle,
    Trees,
    check_derivatives,
    decode,
    scores_for,
)
from colgen.solvers.arrays import ArrayError, as_integer
from colgen.solvers.quadratic.over_simplex import ActiveSet
from colgen.solvers.quadratic.sparse_means import BeatenError, NearestMean, nearest_labelling, nearest_tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDINGS = 16.0
"""Multiple of a structure's rounding error up to which a gain does not count."""


@dataclass(frozen=True, eq=False)
class SparseMean:
    """A mean of few structures.

    Attributes
    ----------
    means
        For each array of scores the mean counts of its parts, in its shape.  The first is μ.
    weights
        Positive weights of the structures, with sum 1.
    value
        The objective.
    gap
        Upper bound on the improvement left, from the last call of an exact oracle.  The objective is within it of the
        optimum, and μ within the square root of twice the gap.
    rounds
        Number of calls of the oracle.
    is_exact
        Whether the last structure improved nothing beyond rounding; False if ``rounds`` ended the search.
    """

    means: tuple[Floats, ...]
    weights: Floats
    value: float
    gap: float
    rounds: int
    is_exact: bool
    _parts: tuple[_Parts, ...]
    _active: ActiveSet

    @cached_property
    def structures(self) -> tuple[Structure, ...]:
        """The structures of the mean, in the order of their weights."""
        each = [parts.by_structure() for parts in self._parts]
        return tuple(Structure(tuple(own)) for own in zip(*each, strict=True))

    @property
    def marginals(self) -> Floats:
        """μ: mean counts of the parts of the first array of scores."""
        return self.means[0]

    def gradient(self, *means: Any) -> tuple[Floats, ...]:
        """Return a function's derivatives with respect to the scores, given those with respect to the means.

        At a tie, where the set of structures changes, the derivatives are those for the present set.  The mean is
        linear between such points, so they are a limit of derivatives nearby.

        Parameters
        ----------
        means
            Derivatives with respect to each mean, in its shape.  Trailing ones may be omitted; None stands for zeros.
        """
        right = np.zeros(len(self.weights))
        for part, given in zip(self._parts, check_derivatives(means, self.means), strict=True):
            right += part.products(given)
        return _means(self._parts, self._active.solve(right), self.means)


def sparsemap(
    oracle: StructureOracle, *scores: Any, rounds: int | None = None, warm: SparseMean | None = None
) -> SparseMean:
    """Return the mean of structures that is nearest to the scores, exact up to rounding.

    Parameters
    ----------
    oracle
        Finds structures of largest score, see :mod:`colgen.learning.oracles`.
    scores
        θ, penalised, and further arrays that are not; -inf forbids a part.
    rounds
        Maximum number of calls of the oracle; by default until nothing improves.
    warm
        A mean of the same instance at other scores, whose structures are used from the start.  This saves calls if
        scores change little.  It is ignored for :class:`~colgen.learning.Chains` and :class:`~colgen.learning.Trees`,
        where all rounds are compiled and a new start is faster.

    Raises
    ------
    InputError
        If scores are NaN or +inf, every structure is forbidden, or the oracle's result is invalid.
    OracleBeatenError
        If an earlier structure beats the oracle's best one, so that the oracle is not exact.
    """
    if rounds is not None:
        try:
            rounds = as_integer(rounds, "rounds", low=1)
        except ArrayError as error:
            raise InputError(str(error)) from None
    theta = scores_for(oracle, scores)
    if (type(oracle) is Chains and len(theta) == 2) or (type(oracle) is Trees and len(theta) == 1):
        return _compiled(oracle, theta, rounds)
    return _by_calls(oracle, theta, rounds, () if warm is None else _allowed_structures(warm, theta))


def _allowed_structures(warm: SparseMean, theta: tuple[Floats, ...]) -> list[Structure]:
    """Return the structures of a mean without a forbidden part at these scores."""
    shapes = [array.shape for array in warm.means]
    if shapes != [array.shape for array in theta]:
        raise InputError(f"warm: expected a mean of scores of shapes {[a.shape for a in theta]}, got one of {shapes}")
    return [structure for structure in warm.structures if np.isfinite(structure.score(theta))]


def _compiled(oracle: Chains | Trees, theta: tuple[Floats, ...], rounds: int | None) -> SparseMean:
    """Return the mean for an oracle that is a kernel, with all rounds compiled."""
    name = type(oracle).__name__
    try:
        found: NearestMean | None
        limits: dict[str, Any] = {"rounding": _ROUNDINGS * ROUNDING, "beaten": TOLERANCES.diagnostic, "rounds": rounds}
        if isinstance(oracle, Chains):
            found = nearest_labelling(*theta, **limits)
        else:
            found = nearest_tree(*theta, single_root=oracle.single_root, **limits)
    except ArrayError as error:
        raise InputError(str(error)) from None
    except BeatenError:
        raise OracleBeatenError(f"{name}.best returned a lower score than before: it is not exact here") from None
    if found is None:
        raise InputError(f"every structure is forbidden: {name}.best found none")
    parts = [_Parts.of_rows(found.places)]
    if len(theta) > 1:
        num = theta[0].shape[1]
        labels = found.places % num
        steps = labels[:, :-1] * num + labels[:, 1:]
        if theta[1].ndim == 3:
            steps = steps + np.arange(steps.shape[1]) * num * num
        parts.append(_Parts.of_rows(steps))
    means = _means(parts, found.weights, theta)
    return SparseMean(
        means, found.weights, found.value, found.gap, found.rounds, found.is_exact, tuple(parts), found.active
    )


def _by_calls(
    oracle: StructureOracle, theta: tuple[Floats, ...], rounds: int | None, known: Sequence[Structure]
) -> SparseMean:
    """Return the mean for any oracle, by column generation."""
    master, seen = ActiveSet(), list(known) or [decode(oracle, theta)]
    numbers = {structure.key: place for place, structure in enumerate(seen)}
    rows = np.zeros((max(8, len(seen)), theta[0].size))
    scale = 0.0
    for place, structure in enumerate(seen):
        scale = _enlist(master, structure, theta, rows, place, scale)
    calls, gap, exact = 0 if known else 1, np.inf, False
    reduced = theta[0].copy()
    while True:
        members, weights = master.members, master.weights
        mean = weights @ rows[members]
        np.subtract(theta[0], mean.reshape(reduced.shape), out=reduced)
        held = master.gains
        average = float(weights @ held[members])
        if gap < np.inf and (exact or calls == rounds):
            break
        at = (reduced, *theta[1:])
        new = decode(oracle, at)
        calls += 1
        score = new.score(at)
        zero = _ROUNDINGS * ROUNDING * scale
        if score < float(held.max()) - max(TOLERANCES.diagnostic * scale, zero):
            raise OracleBeatenError(
                f"{type(oracle).__name__}.best returned a structure of score {score:.9g}, but an earlier one has "
                f"{float(held.max()):.9g}: the oracle is not exact, so there is no bound"
            )
        gap = max(score - average, 0.0)
        before, place = numbers.get(new.key), len(seen)
        if gap <= zero or (before is not None and bool((members == before).any())):
            exact = True
            continue
        if before is None:
            numbers[new.key] = place
            if place == len(rows):
                rows = np.concatenate([rows, np.zeros_like(rows)])
            scale = _enlist(master, new, theta, rows, place, scale)
            seen.append(new)
            entered = bool((master.members == place).any())
        else:
            entered = master.enter(before)
        exact = not entered  # it improves only within rounding errors
    parts = tuple(_Parts.of_structures([seen[j].parts[k] for j in members]) for k in range(len(theta)))
    means = _means(parts, weights, theta)
    return SparseMean(means, weights.copy(), master.value, gap, calls, exact, parts, master)


def _enlist(
    master: ActiveSet, new: Structure, theta: tuple[Floats, ...], rows: Floats, place: int, scale: float
) -> float:
    """Add a structure to the master and to the rows.  Return the scale of scores seen so far."""
    places, counts = new.parts[0]
    rows[place, places] = counts
    products = rows[: place + 1, places] @ counts
    score = new.score(theta)
    largest = max(float(np.abs(t.ravel()[p] * c).sum()) for t, (p, c) in zip(theta, new.parts, strict=True))
    master.add(products, score)
    return max(scale, abs(score), largest, float(products[-1]))


@dataclass(frozen=True, eq=False)
class _Parts:
    """Parts of several structures in one array of scores: the rows of a sparse matrix."""

    owners: Ints
    places: Ints
    counts: Floats
    count: int

    @classmethod
    def of_rows(cls, places: Ints) -> _Parts:
        """Return structures with equally many parts, including repeated ones."""
        owners = np.repeat(np.arange(len(places)), places.shape[1])
        return cls(owners, places.ravel(), np.ones(places.size), len(places))

    @classmethod
    def of_structures(cls, parts: Sequence[Occurrences]) -> _Parts:
        lengths = [len(places) for places, _ in parts]
        places, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return cls(np.repeat(np.arange(len(parts)), lengths), places, counts, len(parts))

    def products(self, array: Floats) -> Floats:
        """Return the product of each structure with an array in the shape of the scores."""
        values = array.ravel()[self.places] * self.counts
        return np.bincount(self.owners, values, self.count).astype(np.float64)

    def mean(self, weights: Floats, shape: tuple[int, ...]) -> Floats:
        """Return Σ_s w_s a_s."""
        size = int(np.prod(shape))
        return np.bincount(self.places, weights[self.owners] * self.counts, size).astype(np.float64).reshape(shape)

    def by_structure(self) -> list[Occurrences]:
        """Return for each structure its distinct parts and their counts."""
        result = []
        for k in range(self.count):
            own = self.owners == k
            places, inverse = np.unique(self.places[own], return_inverse=True)
            result.append((places, np.bincount(inverse, self.counts[own], len(places)).astype(np.float64)))
        return result


def _means(parts: Sequence[_Parts], weights: Floats, theta: tuple[Floats, ...]) -> tuple[Floats, ...]:
    return tuple(own.mean(weights, t.shape) for own, t in zip(parts, theta, strict=True))

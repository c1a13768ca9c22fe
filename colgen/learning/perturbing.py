"""Perturb-and-MAP: means of best structures at perturbed scores, for any oracle.

Sources: G. Papandreou, A. Yuille, *Perturb-and-MAP random fields*, ICCV 2011; Q. Berthet and others, *Learning with
differentiable perturbed optimizers*, NeurIPS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.oracles import Structure, StructureOracle, check_derivative, decode, scores_for

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Perturbed:
    """Best structures at perturbed scores.

    Attributes
    ----------
    means
        For each array of scores the mean counts of its parts.
    value
        The mean of the best perturbed scores.  Its gradient is the means.
    structures
        One per sample.
    """

    means: tuple[Floats, ...]
    value: float
    structures: tuple[Structure, ...]
    _noise: tuple[Floats, ...]
    _spread: float

    def gradient(self, *means: Any) -> tuple[Floats, ...]:
        """Return a function's derivatives with respect to the scores, given those with respect to the first mean.

        With these given derivatives g, the same samples estimate E[Z (a(θ + σ Z)ᵀ g)] / σ, for normal noise only.
        Subtracting the mean of aᵀg lowers the variance.
        """
        derivative = check_derivative(means[0], self.means[0].shape).ravel()
        values = np.array([derivative[places] @ counts for places, counts in (s.parts[0] for s in self.structures)])
        values -= values.mean()
        count = max(len(values) - 1, 1)
        first = np.tensordot(values, np.stack(self._noise), 1) / (count * self._spread)
        return first, *(np.zeros(mean.shape) for mean in self.means[1:])


def perturbed(
    oracle: StructureOracle,
    *scores: Any,
    samples: int = 16,
    spread: float = 1.0,
    noise: Literal["normal", "gumbel"] = "normal",
    generator: np.random.Generator,
) -> Perturbed:
    """Return best structures at perturbations of the first array of scores.

    Parameters
    ----------
    samples
        Number of samples.
    spread
        Factor of the noise.
    noise
        ``"normal"``, or ``"gumbel"``, with which the structures are samples of a distribution near the Gibbs one.
    generator
        Random generator of the noise.
    """
    theta = scores_for(oracle, scores)
    if samples < 1 or not spread > 0.0 or noise not in ("normal", "gumbel"):
        raise InputError(
            f"expected samples of 1 or more, a spread above 0, and noise 'normal' or 'gumbel', got {samples}, "
            f"{spread} and {str(noise)[:40]!r}"
        )
    shape = theta[0].shape
    drawn = tuple(
        generator.standard_normal(shape) if noise == "normal" else generator.gumbel(-np.euler_gamma, 1.0, shape)
        for _ in range(samples)
    )
    structures, value = [], 0.0
    for each in drawn:
        at = (theta[0] + spread * each, *theta[1:])
        structures.append(decode(oracle, at))
        value += structures[-1].score(at) / samples
    means = tuple(
        sum((s.array(k, t.shape) for s in structures), np.zeros(t.shape)) / samples for k, t in enumerate(theta)
    )
    return Perturbed(means, value, tuple(structures), drawn, spread)

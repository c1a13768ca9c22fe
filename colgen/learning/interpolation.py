"""Best structures with gradients by interpolation: differentiation of a combinatorial solver as a black box.

The best structure y(s) is piecewise constant in the scores.  For derivatives g of a loss with respect to it, and a
length λ, the loss is replaced by the piecewise linear function whose gradient is (y(s) - y(s - λ g)) / λ.  This takes
one more call of the oracle.

Source: M. Vlastelica and others, *Differentiation of blackbox combinatorial solvers*, ICLR 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.learning.oracles import Structure, StructureOracle, check_derivatives, decode, scores_for
from colgen.solvers.arrays import ArrayError, as_float

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Interpolated:
    """A best structure with a gradient.

    Attributes
    ----------
    means
        For each array of scores the counts of the structure's parts, in its shape.
    structure
        The structure.
    """

    means: tuple[Floats, ...]
    structure: Structure
    _oracle: StructureOracle
    _scores: tuple[Floats, ...]
    _length: float

    def gradient(self, *means: Any) -> tuple[Floats, ...]:
        """Return a loss's derivatives with respect to the scores, given those with respect to the means.

        Parameters
        ----------
        means
            Derivatives with respect to each mean, in its shape.  Trailing ones may be omitted; None stands for zeros.
        """
        derivatives = check_derivatives(means, self.means)
        at = [theta - self._length * given for theta, given in zip(self._scores, derivatives, strict=True)]
        other = decode(self._oracle, at)
        return tuple((mean - other.array(k, mean.shape)) / self._length for k, mean in enumerate(self.means))


def interpolated(oracle: StructureOracle, *scores: Any, length: float = 10.0) -> Interpolated:
    """Return a best structure, whose gradient interpolates the loss over a length.

    Parameters
    ----------
    scores
        Arrays of scores; -inf forbids a part.
    length
        λ: how far the scores move along the loss's derivatives.  Larger ones give fewer gradients of zero, and a
        coarser approximation of the loss.
    """
    theta = scores_for(oracle, scores)
    step = check_length(length)
    found = decode(oracle, theta)
    return Interpolated(tuple(found.array(k, t.shape) for k, t in enumerate(theta)), found, oracle, theta, step)


def check_length(length: Any) -> float:
    """Return the length of an interpolation, checked: a positive number."""
    try:
        return as_float(length, "length", low=float(np.finfo(np.float64).tiny))
    except ArrayError:
        raise InputError(f"length: expected a positive number, got {str(length)[:40]}") from None

"""The parser as the decoder of a training step: good trees of few candidate arcs, quickly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.problems.dependency.features.vocabulary import Encoded
from colgen.problems.dependency.scorer import Weights
from colgen.problems.grandparent_parsing.kernels.second_order import narrowed, restricted
from colgen.problems.grandparent_parsing.kernels.tree_parts import lazy_parts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class NarrowDecoder:
    """The best tree of the most promising arcs, as far as a few iterations of the Lagrangian find it.

    Bounds would have to follow every step of the learning, so there is no proof, nor need for one.

    Parameters
    ----------
    width
        Heads a modifier, by the arcs' own scores; the right heads are always among the candidates.
    iterations
        Of the Lagrangian.
    """

    def __init__(self, width: int = 8, iterations: int = 25) -> None:
        self.width = width
        self.iterations = iterations

    def __call__(self, encoded: Encoded, arcs: Floats, weights: Weights, right: Ints) -> Ints:
        candidates = narrowed(arcs, self.width)
        candidates[right[1:], np.arange(1, len(right))] = True
        parts = lazy_parts(encoded.codes, weights.grandparents, weights.siblings, keep=False)
        heads, _, _ = restricted(arcs, candidates, parts, self.iterations, weights.single_root, 1.0)
        return heads

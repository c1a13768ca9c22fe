"""Polyak's steps."""

import numpy as np

from colgen.bounding.ascent import DualEvaluation
from colgen.bounding.subgradient import SubgradientAscent


def test_a_step_aims_at_the_target():
    """With slope g and a gap to the target the step is gap / ‖g‖² along g (Polyak 1969)."""
    ascent = SubgradientAscent(np.zeros(2), np.full(2, -np.inf), np.full(2, np.inf), unit=1e3, target=3.0)
    ascent.update(DualEvaluation(np.zeros(2), 1.0, np.array([2.0, 0.0]), None))
    assert ascent.point.tolist() == [1.0, 0.0]


def test_without_improvement_it_returns_to_the_best_point_with_shorter_steps():
    ascent = SubgradientAscent(np.zeros(1), np.full(1, -np.inf), np.full(1, np.inf), unit=1.0)
    ascent.update(DualEvaluation(np.zeros(1), 1.0, np.ones(1), None))
    first = float(ascent.point[0])
    for _ in range(10):
        ascent.update(DualEvaluation(ascent.point, 0.5, np.ones(1), None))
    assert 0.0 < float(ascent.point[0]) < first

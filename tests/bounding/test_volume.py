"""The volume algorithm: the colours of its steps, and its averages."""

import numpy as np

from colgen.bounding.ascent import DualEvaluation
from colgen.bounding.volume import VolumeAscent


def started(slope=(1.0, 0.0)):
    ascent = VolumeAscent(np.zeros(2), np.full(2, -np.inf), np.full(2, np.inf), unit=1.0)
    ascent.update(DualEvaluation(np.zeros(2), 0.0, np.array(slope), "first"))
    return ascent


def length(ascent):
    return float(np.linalg.norm(ascent.point - ascent.best.point))


def test_steps_grow_while_the_function_is_a_plane_and_shrink_where_that_was_too_far():
    ascent = started()
    before = length(ascent)
    ascent.update(DualEvaluation(ascent.point, before, np.array([1.0, 0.0]), "plane"))
    assert length(ascent) > 2.0 * before
    long = length(ascent)
    ascent.update(DualEvaluation(ascent.point, -1.0, np.array([-1.0, 0.0]), "too far"))
    assert length(ascent) == 0.5 * long


def test_green_steps_are_followed_by_longer_ones_and_yellow_ones_are_not():
    factors = []
    for slope in ((0.5, 0.0), (-0.5, 0.0)):
        ascent = started()
        ascent.update(DualEvaluation(ascent.point, 0.002, np.array([1.0, 0.0]), "bent"))  # the search is over
        before = ascent._factor
        ascent.update(DualEvaluation(ascent.point, ascent.best.value + 0.001, np.array(slope), "colour"))
        factors.append(ascent._factor / before)
    assert factors[0] > 1.0 == factors[1]


def test_a_single_red_step_does_not_change_the_length():
    ascent = started()
    ascent.update(DualEvaluation(ascent.point, 0.002, np.array([1.0, 0.0]), "bent"))
    before, centre = ascent._factor, ascent.best
    ascent.update(DualEvaluation(ascent.point, -1.0, np.array([1.0, 0.0]), "red"))
    assert ascent._factor == before
    assert ascent.best is centre
    for _ in range(5):
        ascent.update(DualEvaluation(ascent.point, -1.0, np.array([1.0, 0.0]), "red"))
    assert ascent._factor < before


def test_opposite_slopes_are_averaged_to_rest():
    """max -|p|: the average of both sides' solutions is the optimum, and its slope zero."""
    ascent = VolumeAscent(np.array([-1.0]), np.array([-9.0]), np.array([9.0]), unit=1.0)
    for _ in range(200):
        point = ascent.point
        ascent.update(DualEvaluation(point, -abs(float(point[0])), -np.sign(point), float(np.sign(point[0]))))
        if ascent.converged:
            break
    assert abs(ascent.best.value) < 0.01
    assert abs(sum(weight * solution for weight, solution in ascent.average)) < 0.3


def test_a_solution_from_far_away_counts_little():
    """Its linear piece lies high above the centre: what it says there is not worth much, however its slope points."""
    shares = []
    for error in (0.0, 0.9):
        ascent = started()
        ascent.update(DualEvaluation(ascent.point, 0.002, np.array([1.0, 0.0]), "bent"))
        centre, here, slope = ascent.best, ascent.point, np.array([-1.0, 0.5])
        value = centre.value - (1.0 - error) * float(slope @ (centre.point - here))
        ascent.update(DualEvaluation(here, value, slope, "far"))
        shares.append({solution: weight for weight, solution in ascent.average}["far"])
    assert shares[1] < 0.6 * shares[0]

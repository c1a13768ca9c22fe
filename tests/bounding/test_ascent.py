"""What the ascents of concave functions share."""

import math

import numpy as np
import pytest

from colgen.bounding.ascent import Average, DualEvaluation
from colgen.bounding.bundle import BundleAscent
from colgen.bounding.subgradient import SubgradientAscent
from colgen.bounding.volume import VolumeAscent

KINDS = [SubgradientAscent, VolumeAscent, BundleAscent]


class Roof:
    """min_i (b_i + g_i·p): a concave function of which all is known, finite where the first entry is above a wall."""

    def __init__(self, seed, size=4, pieces=12, wall=-math.inf):
        rng = np.random.default_rng(seed)
        self.slopes = rng.normal(size=(pieces, size))
        self.slopes -= self.slopes.mean(axis=0)  # so that it has a maximum
        self.constants = rng.random(pieces) * 10.0
        self.wall = wall

    def evaluate(self, point):
        values = self.constants + self.slopes @ point
        least = int(values.argmin())
        value = values[least] if point[0] > self.wall else -math.inf
        return DualEvaluation(point, float(value), self.slopes[least], least)


def run(kind, roof, rounds, lower=-math.inf, upper=math.inf, start=0.0, unit=1.0):
    size = roof.slopes.shape[1]
    full = np.full(size, 1.0)
    ascent = kind(start * full, lower * full, upper * full, unit=unit)
    for _ in range(rounds):
        ascent.update(roof.evaluate(ascent.point))
        if ascent.converged:
            break
    return ascent


def optimum(roof, lower=-50.0, upper=50.0):
    from scipy.optimize import linprog

    pieces, size = roof.slopes.shape
    answer = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.hstack([-roof.slopes, np.ones((pieces, 1))]),
        b_ub=roof.constants,
        bounds=[(lower, upper)] * size + [(None, None)],
    )
    return -answer.fun


@pytest.mark.parametrize(("kind", "near"), [(SubgradientAscent, 0.1), (VolumeAscent, 0.05), (BundleAscent, 1e-3)])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("box", [(-50.0, 50.0), (0.0, 50.0), (-0.5, 0.25)])
def test_the_maximum_is_neared_and_never_passed(kind, near, seed, box):
    roof = Roof(seed)
    best, first = optimum(roof, *box), roof.evaluate(np.zeros(4)).value
    found = run(kind, roof, 300, *box).best.value
    assert found <= best + 1e-9
    assert best - found <= near * max(best - first, 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_points_stay_in_the_box(kind):
    roof = Roof(3)
    ascent = kind(np.full(4, 9.0), np.full(4, -0.5), np.full(4, 0.25), unit=1.0)
    for _ in range(40):
        assert (ascent.point >= -0.5).all()
        assert (ascent.point <= 0.25).all()
        ascent.update(roof.evaluate(ascent.point))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("power", [-40, -3, 17, 40])
def test_scales_change_no_bit(kind, power):
    factor = 2.0**power
    one, other = Roof(5), Roof(5)
    other.constants = factor * one.constants
    here = run(kind, one, 60)
    there = run(kind, other, 60, unit=factor)
    assert there.best.value == factor * here.best.value
    assert there.best.point.tolist() == (factor * here.best.point).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_where_the_function_is_not_finite_shorter_steps_are_tried(kind):
    roof = Roof(1, wall=-0.01)
    ascent = run(kind, roof, 100)
    assert math.isfinite(ascent.best.value)
    assert ascent.best.value > roof.evaluate(np.zeros(4)).value


@pytest.mark.parametrize("kind", KINDS)
def test_nowhere_finite_is_the_end(kind):
    ascent = run(kind, Roof(1, wall=math.inf), 5)
    assert ascent.converged
    assert ascent.best is None


@pytest.mark.parametrize("kind", KINDS)
def test_it_converges_at_the_maximum(kind):
    ascent = kind(np.zeros(2), np.zeros(2), np.ones(2), unit=1.0)
    ascent.update(DualEvaluation(np.zeros(2), 1.0, np.array([-1.0, 0.0]), None))
    assert ascent.converged


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_the_average_sum_to_one(kind):
    ascent = run(kind, Roof(2), 50)
    assert sum(weight for weight, _ in ascent.average) == pytest.approx(1.0)


def test_an_average_keeps_the_heaviest():
    average = Average(most=3)
    for k in range(10):
        average.blend(0.5, k)
    assert [solution for _, solution in average] == [7, 8, 9]

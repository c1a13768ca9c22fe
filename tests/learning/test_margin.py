"""Support vector machines: the objective is recomputed, the bound holds, and both trainers meet."""

import numpy as np
import pytest

from colgen import IterationLimit, Method, NoStabilization
from colgen.core.errors import InputError
from colgen.learning import cutting_planes, frank_wolfe, hinge
from tests.learning.small_examples import chain_examples, choices


def objective(examples, weights, regularization, margin="hamming"):
    losses = [hinge(e.oracle, e.gold, *e.scores(weights), margin=margin).value for e in examples]
    return 0.5 * regularization * weights @ weights + np.mean(losses)


@pytest.mark.parametrize("margin", ["hamming", "zero_one"])
@pytest.mark.parametrize("make", [chain_examples, choices])
def test_the_optimum_is_proved(make, margin):
    examples, size = make(0) if make is choices else make(0, noise=1.0)
    planes = cutting_planes(examples, size, regularization=0.05, margin=margin)
    assert planes.objective == pytest.approx(objective(examples, planes.weights, 0.05, margin), rel=1e-9)
    assert 0.0 <= planes.gap <= 1e-6 * planes.objective
    steps = frank_wolfe(examples, size, regularization=0.05, margin=margin, gap=2e-2, passes=60)
    assert steps.bound <= planes.objective * (1.0 + 1e-9)
    assert planes.bound <= steps.objective * (1.0 + 1e-9)
    assert steps.objective == pytest.approx(planes.objective, rel=5e-2)
    rng = np.random.default_rng(1)
    for _ in range(10):  # nothing nearby is better
        near = planes.weights + 0.01 * rng.normal(size=size)
        assert objective(examples, near, 0.05, margin) >= planes.bound


def test_full_passes_reduce_the_gap():
    examples, size = choices(1)
    exact = cutting_planes(examples, size)
    found = frank_wolfe(examples, size, blocks=False, passes=300, gap=2e-2)
    assert found.gap <= 2.1e-2 * found.objective
    assert found.bound <= exact.objective * (1.0 + 1e-9) <= found.objective * (1.0 + 1e-8)


def test_invalid_arguments_raise_errors():
    examples, size = choices(0, 2)
    for trainer in (cutting_planes, frank_wolfe):
        with pytest.raises(InputError, match="expected a regularization above 0"):
            trainer(examples, size, regularization=0.0)
        with pytest.raises(InputError, match="examples: expected one example"):
            trainer([], size)


def test_cutting_planes_are_a_run_of_the_engine():
    """Its limits, its log, its own bound: and smoothed or not, the optimum is one."""
    examples, size = chain_examples(0, noise=1.0)
    rounds = []
    smoothed = cutting_planes(examples, size, progress=rounds.append)
    plain = cutting_planes(examples, size, method=Method(stabilization=NoStabilization()))
    assert smoothed.objective == pytest.approx(plain.objective, rel=1e-6)
    assert len(rounds) <= smoothed.passes
    early = cutting_planes(examples, size, stop=IterationLimit(2))
    assert len(early.losses) < smoothed.passes
    assert early.bound <= smoothed.objective * (1.0 + 1e-9) <= early.objective * (1.0 + 2e-9)

"""Perturb and MAP: means, values, and estimates of gradients."""

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import EnumeratedStructures, perturbed


def test_gumbel_noise_on_single_choices_is_the_gibbs_distribution():
    scores = np.array([1.0, 0.0, -1.0])
    found = perturbed(
        EnumeratedStructures(np.eye(3)), scores, samples=4000, noise="gumbel", generator=np.random.default_rng(0)
    )
    assert found.means[0] == pytest.approx(np.exp(scores) / np.exp(scores).sum(), abs=0.03)
    assert found.value == pytest.approx(np.logaddexp.reduce(scores), abs=0.1)


def test_gradients_are_estimated():
    oracle, scores = EnumeratedStructures(np.eye(2)), np.array([0.3, 0.0])
    found = perturbed(oracle, scores, samples=4000, generator=np.random.default_rng(0))
    # P(0) = Φ(0.3 / √2): its derivative with respect to the first score is the normal density there
    slope = np.exp(-(0.3**2) / 4.0) / np.sqrt(4.0 * np.pi)
    assert found.gradient(np.array([1.0, 0.0]))[0] == pytest.approx([slope, -slope], abs=0.05)


@pytest.mark.parametrize("wrong", [{"samples": 0}, {"spread": 0.0}, {"noise": "uniform"}])
def test_invalid_arguments_raise_errors(wrong):
    with pytest.raises(InputError, match="expected samples of 1 or more"):
        perturbed(EnumeratedStructures(np.eye(2)), np.zeros(2), generator=np.random.default_rng(0), **wrong)

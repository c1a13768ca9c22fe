"""Marginals of models: entropies, gradients and samples; the sums themselves are tested where they are computed."""

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import Chains, EnumeratedStructures, ProjectiveTrees, Trees, marginals

MODELS = [
    (Chains(), [(4, 3), (3, 3)]),
    (Chains(), [(4, 3), (4, 3, 3)]),
    (Trees(single_root=True), [(4, 4)]),
    (ProjectiveTrees("grandchildren"), [(4, 4), (4, 4, 4)]),
]


@pytest.mark.parametrize(("model", "shapes"), MODELS)
def test_means_are_derivatives_and_have_derivatives(model, shapes):
    rng = np.random.default_rng(0)
    scores, along, by = ([rng.normal(size=shape) for shape in shapes] for _ in range(3))
    found = marginals(model, *scores)
    ahead, behind = (marginals(model, *(s + e * d for s, d in zip(scores, along, strict=True))) for e in (1e-5, -1e-5))
    slope = (ahead.log_partition - behind.log_partition) / 2e-5
    assert sum((m * d).sum() for m, d in zip(found.means, along, strict=True)) == pytest.approx(slope, abs=1e-7)
    change = sum(((a - b) * c).sum() for a, b, c in zip(ahead.means, behind.means, by, strict=True)) / 2e-5
    gradient = found.gradient(*by)
    assert sum((g * d).sum() for g, d in zip(gradient, along, strict=True)) == pytest.approx(change, abs=1e-7)
    sample = found.sample(rng)
    assert sample.score(found.scores) <= found.log_partition
    assert sample.array(0, shapes[0]).sum() == found.marginals.sum().round()


@pytest.mark.parametrize(("model", "shapes"), MODELS)
def test_entropy_of_equal_scores(model, shapes):
    found = marginals(model, *(np.zeros(shape) for shape in shapes))
    assert found.entropy == pytest.approx(found.log_partition)
    certain = marginals(model, *(1e4 * np.random.default_rng(1).normal(size=shape) for shape in shapes))
    assert certain.entropy == pytest.approx(0.0, abs=1e-6)


def test_oracles_without_sums_raise_an_error():
    with pytest.raises(InputError, match=r"sums over its structures.* not Enumerated"):
        marginals(EnumeratedStructures(np.eye(2)), np.zeros(2))
    with pytest.raises(InputError, match="every structure is forbidden"):
        marginals(Trees(), np.full((3, 3), -np.inf))
    with pytest.raises(InputError, match="transitions: expected the shape"):
        marginals(Chains(), np.zeros((3, 2)), np.zeros((3, 3)))
    with pytest.raises(InputError, match="expected at most 1 arrays"):
        marginals(Trees(), np.zeros((3, 3))).gradient(np.zeros((3, 3)), np.zeros(1))

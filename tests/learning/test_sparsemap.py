"""SparseMAP: values, means and gradients against an interior-point method over all structures, and its certificate."""

import numpy as np
import pytest

from benchmarks.learning.reference import labellings, nearest_mean, trees
from colgen.core.errors import InputError, OracleBeatenError
from colgen.learning import Chains, EnumeratedStructures, ProjectiveTrees, Trees, best_structure, sparsemap
from tests.sweeps import seeds

MODELS = {
    "chain": (Chains(), [(4, 3), (3, 3)], lambda: (Chains.structure(np.array(x), 3) for x in labellings(4, 3))),
    "tree": (Trees(), [(5, 5)], lambda: (Trees.structure(np.array(x)) for x in trees(4))),
    "one root": (
        Trees(single_root=True),
        [(5, 5)],
        lambda: (Trees.structure(np.array(x)) for x in trees(4, single_root=True)),
    ),
    "second order": (
        ProjectiveTrees("siblings", "grandchildren"),
        [(5, 5), (5, 5, 5), (5, 5, 5)],
        lambda: (
            ProjectiveTrees("siblings", "grandchildren").structure(np.array(x)) for x in trees(4, projective=True)
        ),
    ),
}


def complete(name):
    """All structures of a model, one matrix an array of scores."""
    _, shapes, everything = MODELS[name]
    structures = list(everything())
    matrices = [np.zeros((int(np.prod(shape)), len(structures))) for shape in shapes]
    for k, structure in enumerate(structures):
        for matrix, places in zip(matrices, structure if isinstance(structure, tuple) else (structure,), strict=True):
            np.add.at(matrix[:, k], places, 1.0)
    return matrices


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", seeds(6))
def test_is_the_mean_nearest_to_the_scores(name, seed):
    rng = np.random.default_rng(seed)
    model, shapes, _ = MODELS[name]
    scores = [rng.normal(size=shape) * (3.0 if k == 0 else 1.0) for k, shape in enumerate(shapes)]
    matrices = complete(name)
    linear = sum(matrix.T @ theta.ravel() for matrix, theta in zip(matrices, scores, strict=True))
    p = nearest_mean(matrices[0], linear)
    found = sparsemap(model, *scores)
    assert found.is_exact
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.marginals.ravel() == pytest.approx(matrices[0] @ p, abs=1e-6)
    assert found.value == pytest.approx(linear @ p - 0.5 * np.sum((matrices[0] @ p) ** 2), abs=1e-7)
    # the certificate: one call at what the scores are less the mean finds nothing that is better than the mean
    reduced = [scores[0] - found.marginals, *scores[1:]]
    average = sum(float(theta.ravel() @ mean.ravel()) for theta, mean in zip(reduced, found.means, strict=True))
    assert best_structure(model, reduced).score(reduced) - average == pytest.approx(found.gap, abs=1e-12)
    assert found.gap < 1e-12
    # gradients, in a direction, against differences of the other method
    direction = [rng.normal(size=shape) for shape in shapes]
    by_mean = rng.normal(size=shapes[0])
    moved = sum(matrix.T @ d.ravel() for matrix, d in zip(matrices, direction, strict=True))
    slope = by_mean.ravel() @ matrices[0] @ (nearest_mean(matrices[0], linear + 1e-4 * moved) - p) / 1e-4
    gradient = found.gradient(by_mean)
    assert sum((g * d).sum() for g, d in zip(gradient, direction, strict=True)) == pytest.approx(slope, abs=1e-3)


class Called:
    """An oracle that is called round by round, for comparison with the compiled one."""

    def __init__(self, oracle):
        self.best = oracle.best


@pytest.mark.parametrize(
    ("oracle", "shapes"),
    [
        (Chains(), [(9, 6), (6, 6)]),
        (Chains(), [(9, 6), (9, 6, 6)]),
        (Chains(), [(1, 3), (3, 3)]),
        (Trees(), [(12, 12)]),
        (Trees(single_root=True), [(12, 12)]),
    ],
)
@pytest.mark.parametrize("seed", seeds(6))
@pytest.mark.parametrize("rounds", [None, 1, 4])
def test_compiled_rounds_match_calls_of_the_oracle(oracle, shapes, seed, rounds):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=shape) for shape in shapes]
    if seed % 2:
        scores[0][rng.random(shapes[0]) < 0.2] = -np.inf
        scores[0][0] = np.maximum(scores[0][0], -5.0)  # something is left
        if len(scores) == 1:
            scores[0][np.arange(len(scores[0]) - 1), np.arange(1, len(scores[0]))] = -1.0
        else:
            scores[0][:, 0] = -1.0
    found, called = sparsemap(oracle, *scores, rounds=rounds), sparsemap(Called(oracle), *scores, rounds=rounds)
    assert found.value == pytest.approx(called.value, abs=1e-9)
    assert found.gap == pytest.approx(called.gap, abs=1e-7)
    assert (found.is_exact, found.rounds) == (called.is_exact, called.rounds) or rounds is None
    for own, other in zip(found.means, called.means, strict=True):
        assert own == pytest.approx(other, abs=1e-7)
    by = [rng.normal(size=shape) for shape in shapes]
    for own, other in zip(found.gradient(*by), called.gradient(*by), strict=True):
        assert own == pytest.approx(other, abs=1e-6)
    total = sum(weight * s.array(0, shapes[0]) for weight, s in zip(found.weights, found.structures, strict=True))
    assert total == pytest.approx(found.marginals)
    assert len({structure.key for structure in found.structures}) == len(found.weights)


def test_gradients_of_means_that_are_not_penalised():
    rng = np.random.default_rng(7)
    scores = [rng.normal(size=(6, 4)), rng.normal(size=(4, 4))]
    direction = [rng.normal(size=(6, 4)), rng.normal(size=(4, 4))]
    by = [rng.normal(size=(6, 4)), rng.normal(size=(4, 4))]
    ahead, behind = (
        sparsemap(Chains(), *(s + e * d for s, d in zip(scores, direction, strict=True))) for e in (1e-6, -1e-6)
    )
    slope = sum(((a - b) * c).sum() for a, b, c in zip(ahead.means, behind.means, by, strict=True)) / 2e-6
    gradient = sparsemap(Chains(), *scores).gradient(*by)
    assert sum((g * d).sum() for g, d in zip(gradient, direction, strict=True)) == pytest.approx(slope, abs=1e-6)


def test_a_tie_has_one_of_the_gradients_nearby():
    # the two structures tie with the third, which would enter: gradients are those without it
    found = sparsemap(EnumeratedStructures(np.eye(3)), np.array([1.0, 1.0, 0.0]))
    assert found.marginals == pytest.approx([0.5, 0.5, 0.0])
    assert found.gradient(np.array([1.0, 0.0, 0.0]))[0] == pytest.approx([0.5, -0.5, 0.0])


def test_simplex_is_projected_on():
    scores = np.array([0.9, 0.6, -1.0, 0.3])
    assert sparsemap(EnumeratedStructures(np.eye(4)), scores).marginals == pytest.approx([19 / 30, 1 / 3, 0.0, 1 / 30])


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scores_of_any_size_end(scale):
    rng = np.random.default_rng(0)
    found = sparsemap(Chains(), scale * rng.normal(size=(6, 5)), scale * rng.normal(size=(5, 5)))
    assert found.is_exact
    assert found.gap <= 1e-12 * max(scale, 1.0) * 30


@pytest.mark.parametrize("scale", [1e6, 1e8, 1e10, 1e12, 1e13, 1e20])
@pytest.mark.parametrize("seed", range(12))
def test_weights_of_large_scores_sum_to_one(scale, seed):
    """A common part of all scores loses no weight to rounding, compiled or not."""
    rng = np.random.default_rng(seed)
    draw = (lambda shape: rng.integers(-1, 2, shape)) if seed % 2 else (lambda shape: rng.normal(size=shape))
    chain, arcs = (scale * draw((4, 3)), scale * draw((3, 3))), scale * draw((5, 5))
    for oracle, scores in ((Chains(), chain), (Trees(), (arcs,)), (ProjectiveTrees(), (arcs,))):
        mean = sparsemap(oracle, *scores)
        assert (mean.weights > 0.0).all()
        assert mean.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert mean.gap <= 1e-12 * scale or not mean.is_exact


def test_forbidden_parts_have_no_mean_and_no_gradient():
    scores = np.random.default_rng(1).normal(size=(5, 5))
    scores[0, 1:4] = -np.inf
    found = sparsemap(Trees(), scores)
    assert found.marginals[0, 1:].tolist() == [0.0, 0.0, 0.0, pytest.approx(1.0)]
    assert not found.gradient(np.ones((5, 5)))[0][0, 1:4].any()


def test_rounds_end_it_with_a_gap_that_holds():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(8, 6)), rng.normal(size=(6, 6))
    exact = sparsemap(Chains(), *scores)
    early = sparsemap(Chains(), *scores, rounds=3)
    assert early.rounds == 3
    assert not early.is_exact
    assert early.value <= exact.value <= early.value + early.gap
    assert np.sum((early.marginals - exact.marginals) ** 2) <= 2.0 * early.gap


class Wavering:
    """Finds good structures twice, and then the worst."""

    def __init__(self):
        self.calls = 0

    def best(self, scores):
        self.calls += 1
        return np.eye(3)[{1: 0, 2: 1}.get(self.calls, 2)]


def test_an_inexact_oracle_raises_an_error():
    with pytest.raises(OracleBeatenError, match=r"Wavering\.best.*score"):
        sparsemap(Wavering(), np.array([5.0, 4.9, -9.0]))


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([np.array([1.0, np.nan])], "scores: expected finite numbers, or -inf, got nan"),
        ([np.array([1.0, np.inf])], "got inf"),
        ([], "expected one array or more"),
        ([["a"]], "scores: expected numbers"),
    ],
)
def test_invalid_scores_raise_errors(scores, said):
    with pytest.raises(InputError, match=said):
        sparsemap(EnumeratedStructures(np.eye(2)), *scores)


def test_invalid_arguments_raise_errors():
    with pytest.raises(InputError, match=r"rounds: expected .*at least 1"):
        sparsemap(EnumeratedStructures(np.eye(2)), np.zeros(2), rounds=0)
    found = sparsemap(EnumeratedStructures(np.eye(2)), np.zeros(2))
    with pytest.raises(InputError, match="expected at most 1 arrays"):
        found.gradient(np.zeros(2), np.zeros(2))
    with pytest.raises(InputError, match=r"expected the shape \(2,\)"):
        found.gradient(np.zeros(3))


class Counted:
    """An oracle that counts its calls."""

    def __init__(self, oracle):
        self.oracle, self.calls = oracle, 0

    def best(self, *scores):
        self.calls += 1
        return self.oracle.best(*scores)


@pytest.mark.parametrize("change", [0.0, 0.05, 3.0])
@pytest.mark.parametrize("name", ["second order", "tree"])
def test_a_warm_start_finds_the_same_mean(name, change):
    rng = np.random.default_rng(5)
    oracle, shapes, _ = MODELS[name]
    before = [rng.normal(size=shape) for shape in shapes]
    now = [array + change * rng.normal(size=array.shape) for array in before]
    counted = Counted(oracle)
    held = sparsemap(counted, *before)
    counted.calls = 0
    cold = sparsemap(counted, *now)
    asked, counted.calls = counted.calls, 0
    warm = sparsemap(counted, *now, warm=held)
    assert (warm.rounds, cold.rounds) == (counted.calls, asked)
    assert warm.is_exact
    assert warm.gap < 1e-12
    assert warm.value == pytest.approx(cold.value)
    assert warm.marginals == pytest.approx(cold.marginals, abs=1e-9)
    if change == 0.0:
        assert counted.calls == 1  # the proof alone


def test_a_warm_start_drops_forbidden_structures():
    rng = np.random.default_rng(6)
    oracle, scores = Counted(Trees()), rng.normal(size=(5, 5))
    held = sparsemap(oracle, scores)
    now = scores.copy()
    now[held.marginals > 0.5] = -np.inf
    now[0, 1:] = 0.0
    assert sparsemap(oracle, now, warm=held).marginals == pytest.approx(sparsemap(oracle, now).marginals, abs=1e-9)
    now[1:] = -np.inf  # none of them is left but perhaps that of all roots
    assert sparsemap(oracle, now, warm=held).marginals[0, 1:].tolist() == [1.0] * 4
    with pytest.raises(InputError, match=r"warm: expected .* shapes"):
        sparsemap(oracle, np.zeros((3, 3)), warm=held)

"""Viterbi's algorithm, two-best and plain, beams and vectors, against naive Python."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from solvers import beam, perceptron, vectors, viterbi
from solvers.vectors import WIDTH


def labellings(scores, steps):
    """``[(score, labels), ...]``, best first; ``steps[i]`` from token i to the next."""
    n, num = scores.shape
    found = []
    for labels in itertools.product(range(num), repeat=n):
        total = sum(float(scores[i, x]) for i, x in enumerate(labels))
        total += sum(float(steps[i][labels[i], labels[i + 1]]) for i in range(n - 1))
        found.append((total, labels))
    return sorted(found, reverse=True)


def draw(seed, dtype):
    rng = np.random.default_rng(seed)
    num, lengths = int(rng.integers(1, 6)), rng.integers(1, 5, size=3)
    scores, tau = (rng.normal(size=shape).astype(dtype) for shape in ((int(lengths.sum()), num), (num, num)))
    if seed % 3 == 0:
        scores, tau = scores.round(), tau.round()
    if seed % 4 == 0:
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        tau[rng.random(tau.shape) < 0.2] = -np.inf
    return scores, np.concatenate([[0], np.cumsum(lengths)]), tau


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(40))
def test_best_and_second_best_labellings(seed, dtype):
    scores, starts, tau = draw(seed, dtype)
    labels, values = viterbi.viterbi(scores, starts, tau)
    plain_labels, plain_values = viterbi.plain(scores, starts, tau)
    first, first_values, second, second_values = viterbi.two_best(scores, starts, tau)
    for k in range(len(starts) - 1):
        part = slice(starts[k], starts[k + 1])
        found = labellings(scores[part], [tau] * 10)
        assert values[k] == pytest.approx(found[0][0], abs=1e-5)
        assert plain_values[k] == pytest.approx(found[0][0], abs=1e-5)
        assert first_values[k] == pytest.approx(found[0][0], abs=1e-5)
        runner_up = found[1][0] if len(found) > 1 else -np.inf
        assert second_values[k] == pytest.approx(runner_up, abs=1e-5)
        by_labels = {c: s for s, c in found}
        for chosen, value in (
            (labels, values),
            (plain_labels, plain_values),
            (first, first_values),
            (second, second_values),
        ):
            if value[k] == -np.inf:
                assert (chosen[part] == -1).all()
            else:
                assert by_labels[tuple(chosen[part].tolist())] == pytest.approx(value[k], abs=1e-5)
        if second_values[k] > -np.inf:
            assert (first[part] != second[part]).any()


@pytest.mark.parametrize("seed", range(10))
def test_transitions_may_differ_from_step_to_step(seed):
    scores, starts, tau = draw(seed, float)
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(len(scores), *tau.shape))
    _, values = viterbi.viterbi(scores, starts, steps)
    for k in range(len(starts) - 1):
        part = slice(starts[k], starts[k + 1])
        assert values[k] == pytest.approx(labellings(scores[part], steps[part])[0][0])


@pytest.mark.parametrize("seed", range(20))
def test_a_beam_of_all_labels_is_exact_and_a_narrow_one_is_honest(seed):
    scores, starts, tau = draw(seed, float)
    _, best = viterbi.viterbi(scores, starts, tau)
    _, all_labels = beam.beam_search(scores, starts, tau, 100)
    np.testing.assert_allclose(all_labels, best)
    for width in (1, 2):
        labels, values = beam.beam_search(scores, starts, tau, width)
        assert (values <= best + 1e-9).all()
        for k in range(len(starts) - 1):
            part = slice(starts[k], starts[k + 1])
            if values[k] > -np.inf:
                mine = {c: s for s, c in labellings(scores[part], [tau] * 10)}[tuple(labels[part].tolist())]
                assert values[k] == pytest.approx(mine)


def test_a_beam_of_one_follows_the_best_next_label():
    scores = np.array([[1.0, 0.0], [0.0, 0.5]])
    tau = np.array([[0.0, 0.0], [3.0, 3.0]])
    labels, values = beam.beam_search(scores, np.array([0, 2]), tau, 1)
    assert labels.tolist() == [0, 1]
    assert values.tolist() == [1.5]
    assert viterbi.viterbi(scores, np.array([0, 2]), tau)[1].tolist() == [3.5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("num", [1, 5, 15, 16, 17, 48, 49])
def test_vector_instructions_compute_what_their_definitions_say(num, dtype):
    from numba import njit

    rng = np.random.default_rng(num)
    left, right = rng.normal(size=(3, num)).astype(dtype), rng.normal(size=(4, num)).astype(dtype)
    left[0, 0] = -np.inf
    width = vectors.padded(num)
    table = np.full((2, width), -np.inf, dtype=dtype)
    table[:, :num] = rng.normal(size=(2, num))
    table[1, 0] = np.inf

    @njit
    def compiled(a, left, i, right, j, out, table, bound):
        best = vectors.sum_rows(a, left, i, right, j, out)
        bits = np.empty((2, len(out) // WIDTH), dtype=np.int64)
        for k in range(0, len(out), WIDTH):
            bits[0, k // WIDTH] = vectors.reaching(out, k, bound)
            bits[1, k // WIDTH] = vectors.above(out, k, table, 1, bound)
        return best, vectors.row_max(out), bits

    a, bound = dtype(0.5), dtype(0.25)
    out, plain = (np.full(width, -np.inf, dtype=dtype) for _ in range(2))
    best, most, bits = compiled(a, left, 0, right, 2, out, table, bound)
    assert best == vectors.sum_rows(a, left, 0, right, 2, plain)
    np.testing.assert_array_equal(out, plain)
    assert most == vectors.row_max(plain)
    for k in range(0, width, WIDTH):
        assert bits[0, k // WIDTH] == vectors.reaching(plain, k, bound)
        assert bits[1, k // WIDTH] == vectors.above(plain, k, table, 1, bound)
        for word in bits[:, k // WIDTH].tolist():
            if word:
                assert vectors.lowest_bit(word) == min(b for b in range(WIDTH) if word >> b & 1)


def test_local_scores_are_sums_of_weights():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(7, 3)).astype(np.float32)
    weights[rng.random(weights.shape) < 0.5] = 0.0
    features = rng.integers(-1, 7, size=(5, 4)).astype(np.int32)
    dense, sparse = (np.empty((5, 3), dtype=np.float32) for _ in range(2))
    perceptron.add_up(features, weights, dense)
    rows, labels = np.nonzero(weights)
    starts = np.searchsorted(rows, np.arange(8))
    perceptron.add_up_sparse(features, starts, labels.astype(np.int32), weights[rows, labels], sparse)
    expected = [sum((weights[f] for f in token if f >= 0), np.zeros(3)) for token in features]
    np.testing.assert_allclose(dense, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sparse, expected, rtol=1e-5, atol=1e-6)


def test_kernels_run_without_the_compiler():
    here = Path(__file__)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    domains = here.with_name("test_tree_domains.py")
    chosen = (
        "(test_best_and_second or test_a_beam or test_sweep or test_prices or test_messages) and (1- or 2- or 1] or 2])"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(here), str(domains), "-k", chosen]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=here.parents[2], check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout

"""Best labellings that an automaton accepts, against all labellings."""

import itertools

import numpy as np
import pytest

from colgen.solvers.chains.automaton import accepted_labelling
from colgen.solvers.chains.viterbi import viterbi
from tests.solvers.small_chains import draw, labellings
from tests.sweeps import seeds


def final_state(symbols, moves, labels):
    """Return the state after the symbols of a labelling, -1 if a move is missing."""
    state = 0
    for i, x in enumerate(labels):
        state = moves[symbols[i, x], state] if state >= 0 else -1
    return state


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", seeds(40))
def test_best_accepted_labellings(seed, dtype):
    scores, starts, tau = draw(seed, dtype)
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(len(scores), *tau.shape)).astype(dtype) if seed % 2 else None
    states, kinds = rng.integers(1, 5, size=2)
    for first, end in itertools.pairwise(starts):
        theta, each = scores[first:end], [tau] * 10 if steps is None else steps[first:end]
        symbols = rng.integers(0, kinds, size=theta.shape)
        moves = rng.integers(-1, states, size=(kinds, states))
        accepted = rng.random(states) < 0.6
        labels, value = accepted_labelling(theta, tau if steps is None else each, symbols, moves, accepted)
        found = {x: total for total, x in labellings(theta, each)}
        possible = [x for x in found if (s := final_state(symbols, moves, x)) >= 0 and accepted[s]]
        best = max((found[x] for x in possible), default=-np.inf)
        assert value == pytest.approx(best, abs=1e-5 if dtype is np.float32 else 1e-9)
        if best == -np.inf:
            assert (labels == -1).all()
        else:
            assert tuple(labels.tolist()) in possible
            assert found[tuple(labels.tolist())] == pytest.approx(best, abs=1e-5 if dtype is np.float32 else 1e-9)


@pytest.mark.parametrize("size", [1e-290, 1.0, 1e290])
def test_an_automaton_that_accepts_everything_changes_nothing(size):
    rng = np.random.default_rng(5)
    scores, tau = size * rng.normal(size=(7, 6)), size * rng.normal(size=(6, 6))
    labels, value = accepted_labelling(scores[:, ::2], tau[::2, ::2], np.zeros((7, 3), int), [[0]], [True])
    expected, values = viterbi(scores[:, ::2], [0, 7], tau[::2, ::2])
    assert labels.tolist() == expected.tolist()
    assert value == values[0]

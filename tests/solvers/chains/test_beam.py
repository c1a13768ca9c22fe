"""Beam search against all labellings."""

import numpy as np
import pytest

from colgen.solvers.chains import beam, viterbi
from tests.solvers.small_chains import draw, labellings


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

"""The k best structures compared with lists of all structures."""

import itertools

import numpy as np
import pytest

from colgen.solvers.ranking import k_best_choices, k_best_of_scores


def test_each_structure_is_found_once_in_the_order_of_values():
    """Structures are words over three letters without two equal neighbours."""
    words = [
        np.array(x) for x in itertools.product(range(3), repeat=4) if all(a != b for a, b in itertools.pairwise(x))
    ]
    rng = np.random.default_rng(0)
    for values in (rng.normal(size=len(words)), rng.integers(3, size=len(words)).astype(float), np.zeros(len(words))):

        def best(prefix, excluded, values=values):
            size = len(prefix)
            own = [
                (value, word)
                for value, word in zip(values, words, strict=True)
                if np.array_equal(word[:size], prefix) and word[size:][:1].tolist()[0] not in excluded
            ]
            return max(own, key=lambda pair: pair[0], default=None)

        for k in (1, 7, 24, 30):
            found = k_best_choices(best, k)
            assert [value for value, _ in found] == sorted(values, reverse=True)[:k]
            assert len({tuple(word) for _, word in found}) == len(found) == min(k, len(words))


def test_scores_of_positions():
    rng = np.random.default_rng(1)
    scores = np.where(rng.random((3, 4)) < 0.3, -np.inf, rng.normal(size=(3, 4)))

    def best(theta):
        most = theta.max(axis=1)
        return None if np.isneginf(most).any() else (most.sum(), theta.argmax(axis=1))

    every = [sum(scores[i, x] for i, x in enumerate(word)) for word in itertools.product(range(4), repeat=3)]
    expected = sorted((value for value in every if value > -np.inf), reverse=True)
    found = k_best_of_scores(scores, best, 100)
    assert [value for value, _ in found] == pytest.approx(expected, abs=1e-12)
    assert k_best_of_scores(np.full((2, 2), -np.inf), best, 3) == []

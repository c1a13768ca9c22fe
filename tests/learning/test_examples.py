"""Linear examples: scores and joint features are each other's transposes."""

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import EnumeratedStructures, LinearExample, best_structure
from colgen.learning.examples import nonzero_entries, subtract_features
from tests.learning.small_examples import chain_examples


def test_scores_are_products_of_joint_features_and_weights():
    (example, *_), size = chain_examples(0)
    weights = np.random.default_rng(1).normal(size=size)
    scores = example.scores(weights)
    best = best_structure(example.oracle, scores)
    numbers, values = example.joint(best.parts)
    assert values @ weights[numbers] == pytest.approx(best.score(scores))
    numbers, values = subtract_features(example, example.gold, best)
    assert values @ weights[numbers] == pytest.approx(example.gold.score(scores) - best.score(scores))
    arrays = [best.array(k, theta.shape) for k, theta in enumerate(scores)]
    numbers, values = example.joint(nonzero_entries(arrays))
    assert values @ weights[numbers] == pytest.approx(best.score(scores))


def test_features_of_wrong_shapes_raise_errors():
    with pytest.raises(InputError, match="features: expected 3 rows"):
        LinearExample(EnumeratedStructures(np.eye(3)), [np.zeros((2, 4))], [(3,)], np.array([0]))
    with pytest.raises(InputError, match="expected a shape for each matrix"):
        LinearExample(EnumeratedStructures(np.eye(3)), [np.zeros((3, 4))], [], np.array([0]))
    with pytest.raises(InputError, match="gold: expected places from 0 to 2"):
        LinearExample(EnumeratedStructures(np.eye(3)), [np.zeros((3, 4))], [(3,)], np.array([3]))

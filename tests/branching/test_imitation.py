"""A scorer that imitates strong branching: its examples, and weights that least squares finds."""

import copy
import math

import numpy as np
import pytest

from colgen import InputError, Method, solve
from colgen.branching.imitation import BranchingExample, LinearScorer, StrongExamples, fit_scorer
from colgen.branching.learned import FEATURES, CandidateFeatures
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from colgen.reporting.ablation import ablation


def test_examples_of_an_ablation_are_kept_and_fitted():
    examples = StrongExamples()
    assert copy.deepcopy(examples) is examples
    found = ablation({"one": Unguessed(random(4, 18, 0))}, {"strong": Method(choice=examples)})
    assert found.lines[0].objective == solve(Unguessed(random(4, 18, 0))).objective
    scorer = fit_scorer(examples.examples)
    for each in examples.examples:
        assert each.values.shape == (len(each.merits), len(FEATURES))
        assert np.isfinite(each.merits).all()
    assert np.isfinite([scorer.first, scorer.second]).all()
    assert not scorer.first[[name.startswith("trial_") for name in FEATURES]].any()


def test_fitting_recovers_the_feature_that_decides():
    """Merits that are one feature: its weight is the largest, also if others are of size 1e290."""
    rng = np.random.default_rng(0)
    examples = []
    for _ in range(60):
        values = rng.normal(size=(12, len(FEATURES)))
        values[:, 1] *= 1e290
        values[:, 0] = 3.0  # equal for all candidates of a node
        examples.append(BranchingExample(values, values[:, 7].copy()))
    scorer = fit_scorer(examples, ridge=1e-3)
    assert int(np.abs(scorer.first).argmax()) == 7
    assert scorer.first[0] == pytest.approx(0.0)
    features = CandidateFeatures((None,) * 12, examples[0].values)
    assert int(scorer.score(features).argmax()) == int(examples[0].merits.argmax())


@pytest.mark.parametrize("values", [np.zeros((1, 3)), np.zeros(3), np.full(len(FEATURES), math.nan)])
def test_weights_are_checked(values):
    with pytest.raises(InputError, match="first: expected"):
        LinearScorer(values, np.zeros(len(FEATURES)))


def test_fitting_needs_examples_and_a_ridge():
    with pytest.raises(InputError, match="examples"):
        fit_scorer([])
    with pytest.raises(InputError, match="ridge"):
        fit_scorer([BranchingExample(np.zeros((2, len(FEATURES))), np.zeros(2))], ridge=0.0)

"""Learned branching: the optimum never depends on the learner, and bad answers of learners are refused."""

import math

import numpy as np
import pytest

from colgen import InputError, Method, solve
from colgen.branching.imitation import LinearScorer
from colgen.branching.learned import FEATURES, LearnedBranching
from colgen.branching.selection import PseudoCostBranching
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.problems.vehicle_routing.instance import random as routing
from tests.branching.test_strong_branching import Packing, program


class Scripted:
    """Returns what a function makes of the features, and keeps them."""

    def __init__(self, answer):
        self.answer, self.seen = answer, []

    def score(self, features):
        self.seen.append(features)
        return self.answer(features)


def random_scores(seed):
    rng = np.random.default_rng(seed)
    return lambda features: rng.normal(size=len(features.candidates))


ADVERSARIES = {
    "random": random_scores(0),
    "the worst pseudo-cost": lambda features: -features.values[:, FEATURES.index("pseudo_cost_merit")],
    "the worst trial": lambda features: -features.values[:, FEATURES.index("trial_merit")],
    "not a number": lambda features: np.full(len(features.candidates), math.nan),
    "some not a number": lambda features: [math.nan, *range(len(features.candidates) - 1)],
    "infinite": lambda features: [(-1.0) ** k * math.inf for k in range(len(features.candidates))],
    "huge integers": lambda features: [10**300 * (k % 3) for k in range(len(features.candidates))],
}


@pytest.mark.parametrize(("tried", "rounds"), [(0, 0), (3, 0), (3, 1), (2, 100)])
@pytest.mark.parametrize("answer", ADVERSARIES.values(), ids=ADVERSARIES)
def test_no_learner_changes_an_optimum(answer, tried, rounds):
    for seed in range(4):
        problem = Packing(program(seed))
        expected = solve(problem, method=Method(choice=PseudoCostBranching()))
        found = solve(problem, method=Method(choice=LearnedBranching(Scripted(answer), tried=tried, rounds=rounds)))
        assert found.termination is expected.termination
        assert found.objective == pytest.approx(expected.objective, abs=1e-9)
        assert found.dual_bound == pytest.approx(expected.dual_bound, abs=1e-9)


def test_no_learner_changes_a_bound_of_assignment_or_routing():
    for make in (lambda: Unguessed(random(4, 14, 1)), lambda: VehicleRouting(routing(2, customers=9), cuts=False)):
        objectives = {
            solve(make(), method=Method(choice=choice, enumeration=())).objective
            for choice in (None, LearnedBranching(Scripted(random_scores(1))))
        }
        assert len(objectives) == 1


def test_pseudo_costs_learn_from_children_that_were_solved_to_the_end():
    """A choice that returns solved children without learning from them would lose their gains."""
    seen = []
    learner = Scripted(lambda features: seen.append(features.values.copy()) or np.zeros(len(features.candidates)))
    solve(Unguessed(random(4, 18, 0)), method=Method(choice=LearnedBranching(learner, rounds=100)))
    assert max(values[:, FEATURES.index("pseudo_cost_count")].max() for values in seen) > 1


def test_features_are_finite_and_ordered():
    learner = Scripted(random_scores(2))
    solve(Unguessed(random(4, 18, 0)), method=Method(choice=LearnedBranching(learner, tried=2)))
    assert {features.tried for features in learner.seen} == {False, True}
    trial = [FEATURES.index(name) for name in FEATURES if name.startswith("trial_")]
    for features in learner.seen:
        assert features.values.shape == (len(features.candidates), len(FEATURES))
        assert np.isfinite(features.values).all()
        for name in ("distance", "pseudo_cost", "displaced", "displaced_columns", "overlap"):
            least, most = (features.values[:, FEATURES.index(f"{name}_{end}")] for end in ("min", "max"))
            assert (least <= most + 1e-12).all()
        if not features.tried:
            assert not features.values[:, trial].any()


def test_displaced_columns_of_a_forbidden_variable_are_counted():
    """In a packing program each variable has one column: the child that forbids it displaces its value."""
    learner = Scripted(random_scores(3))
    solve(Packing(program(1)), method=Method(choice=LearnedBranching(learner, tried=0)))
    features = learner.seen[0]
    parts = [candidate.moves for candidate in features.candidates]
    values = [next(distance for direction, distance in moves if direction == 0) for moves in parts]
    least = features.values[:, FEATURES.index("displaced_min")]
    assert least == pytest.approx([min(value, least[k]) for k, value in enumerate(values)])
    assert (features.values[:, FEATURES.index("displaced_columns_min")] >= 1).all()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda features: None, "returned None"),
        (lambda features: 1.0, r"shape \(\)"),
        (lambda features: features.values, r"shape \(\d+, \d+\)"),
        (lambda features: ["best"] * len(features.candidates), "expected numbers"),
        (lambda features: np.zeros(len(features.candidates) + 1), "one per candidate"),
    ],
)
def test_bad_scores_are_refused(answer, message):
    with pytest.raises(InputError, match=message):
        solve(Unguessed(random(4, 18, 0)), method=Method(choice=LearnedBranching(Scripted(answer))))


@pytest.mark.parametrize("scorer", [None, 3, LinearScorer, lambda features: 0])
def test_a_scorer_needs_its_method(scorer):
    with pytest.raises(InputError, match="score"):
        LearnedBranching(scorer)

"""Best labels of chains under constraints on numbers of labels, compared with enumeration."""

import numpy as np
import pytest

from benchmarks.learning.reference import labellings
from colgen.learning import Chains, Constraint, Parts, Trees, at_least, at_most, constrained, constrained_best
from colgen.learning.constraints import place
from colgen.learning.counting import counted_labels
from colgen.learning.oracles import structure_from
from tests.sweeps import seeds

SHAPES = (4, 3), (3, 3)
EVERY = [Chains.structure(np.array(x), 3) for x in labellings(4, 3)]


def labels_of(found):
    return (found.structures["tags"].parts[0][0] % 3).tolist()


def placed(constraint):
    return place(constraint, (("tags", SHAPES),))


@pytest.mark.parametrize("seed", seeds(60))
def test_the_best_labels_satisfy_all_constraints(seed):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(size=shape) for shape in SHAPES]
    scores[0][rng.random(SHAPES[0]) < 0.1] = -np.inf
    links = []
    for _ in range(rng.integers(1, 4)):
        unit = rng.choice([1.0, -1.0, 0.1])
        terms = [(Parts("tags", rng.random(SHAPES[0]) < 0.5), unit * rng.integers(1, 4)) for _ in range(2)]
        lower, upper = sorted(unit * rng.integers(-1, 7, size=2))
        links.append(placed(Constraint(terms, *((lower, np.inf), (-np.inf, upper), (lower, upper))[rng.integers(3)])))
    links = [link for link in links if len(link.terms[0][2])]
    values = []
    for places in EVERY:
        own = structure_from(places, scores)
        if all(link.allows({("tags", 0): own.array(0, (12,))}) for link in links):
            values.append(own.score(scores))
    found = counted_labels(Chains(), scores, links)
    best = max(values, default=-np.inf)
    if best == -np.inf:
        assert found is None
    elif found is not None:  # None if some coefficients are no multiples of the least one
        own = structure_from(found, scores)
        assert own.score(scores) == pytest.approx(best, abs=1e-9)
        assert all(link.allows({("tags", 0): own.array(0, (12,))}) for link in links)


def test_other_oracles_and_constraints_are_not_counted():
    scores = [np.zeros(shape) for shape in SHAPES]
    labels, transitions = Parts("tags", np.s_[:, 1]), Parts("tags", 0, array=1)
    assert counted_labels(Chains(), scores, [placed(at_least(labels, 2))]) is not None
    assert counted_labels(Trees(), scores, [placed(at_least(labels, 2))]) is None
    assert counted_labels(Chains(), scores, [placed(at_least(transitions, 2))]) is None
    assert counted_labels(Chains(), scores, [placed(at_least(labels, 32))]) is None
    assert counted_labels(Chains(), scores, [placed(at_most(labels, 5))] * 2) is None
    for other in (-1.0, 0.3, 1.5):
        mixed = Constraint([(labels, 1.0), (Parts("tags", (0, 0)), other)], 1.0)
        assert counted_labels(Chains(), scores, [placed(mixed)]) is None


def test_labels_are_counted_if_transitions_differ_from_step_to_step():
    rng = np.random.default_rng(2)
    scores, transitions = rng.normal(size=(4, 3)), rng.normal(size=(4, 3, 3))
    chain = {"tags": (Chains(), scores, transitions)}
    found = constrained_best(chain, [at_least(Parts("tags", np.s_[:, 2]), 3)])
    values = [
        scores[range(4), x].sum() + transitions[range(3), x[:-1], x[1:]].sum()
        for x in map(list, labellings(4, 3))
        if x.count(2) >= 3
    ]
    assert found.objective == pytest.approx(max(values), abs=1e-9)


def test_numbers_of_labels_of_a_chain_are_counted_without_relaxation(monkeypatch):
    monkeypatch.setattr(constrained, "best_with_one_link", None)
    monkeypatch.setattr(constrained, "solve", None)
    scores = np.array([[0.0, 2.0, -9.0], [0.0, 2.0, -9.0], [0.0, 1.9, -8.0], [5.0, 0.0, 0.0]])
    tags = {"tags": (Chains(), scores, np.zeros((3, 3)))}
    ones, twos = Parts("tags", np.s_[:, 1]), Parts("tags", np.s_[:, 2])
    found = constrained_best(tags, [at_most(ones, 2)])
    assert (labels_of(found), found.bound, found.proved, found.columns) == ([1, 1, 0, 0], 9.0, True, 1)
    # each constraint is violated only once the one before it is satisfied
    zeros = Parts("tags", np.s_[:3, 0])
    found = constrained_best(tags, [at_most(ones, 1.5), at_most(zeros, 1), Constraint([(twos, -3.0)], -5.0, 0.0)])
    assert (labels_of(found), found.objective, found.columns) == ([1, 0, 2, 0], -1.0, 2)
    found = constrained_best(tags, [Constraint([(ones, 0.1), (Parts("tags", (3, 1)), 0.1)], 0.2, 0.2)])
    assert (labels_of(found), found.objective) == ([1, 1, 0, 0], 9.0)  # label 1 counts twice at the end
    twice = {"first": tags["tags"], "second": tags["tags"]}
    found = constrained_best(twice, [at_most(Parts(name, np.s_[:, 1]), 2) for name in twice])
    assert (found.objective, found.columns) == (18.0, 2)


def test_counters_with_too_many_states_are_left_to_pricing():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(60, 2)) + np.array([1.0, 0.0])
    tags = {"tags": (Chains(), scores, np.zeros((2, 2)))}
    expected = np.maximum(scores[:, 0], scores[:, 1])
    gaps = np.sort(np.where(scores[:, 1] > scores[:, 0], 0.0, scores[:, 0] - scores[:, 1]))[:45]
    found = constrained_best(tags, [at_least(Parts("tags", np.s_[:, 1]), 45)])
    assert found.objective == pytest.approx(expected.sum() - gaps.sum(), abs=1e-9)
    assert found.proved

"""The learned choice of branching candidates is measured on instances that it was not trained on."""

from benchmarks.engine import learners
from colgen.branching.learned import FEATURES


def test_training_and_test_instances_are_disjoint():
    for family in learners._FAMILIES.values():
        assert family.test <= learners._TRAINING


def test_a_scorer_is_learned_and_its_proof_is_complete():
    family = learners._FAMILIES["assignment"]
    scorer = learners.learn(family, 1, lambda line: None)
    assert scorer.first.shape == scorer.second.shape == (len(FEATURES),)
    assert learners._is_certified(family.make(0), scorer)

import numpy as np
import pytest

from colgen import InputError
from colgen.learning import train
from colgen.problems.dependency import MiraLearner, MiraSettings, Sentence
from colgen.problems.grandparent_parsing.training import NarrowDecoder, accuracy
from tests.problems.dependency.treebank import sentences


def learner(text, **how):
    return MiraLearner(text, NarrowDecoder(), MiraSettings(**how))


def test_a_regular_language_is_learned():
    model = learner(sentences(150, 1), epochs=4)
    trained = train(model, 4)
    assert trained.losses[-1] < trained.losses[0]
    assert accuracy(sentences(60, 2), trained.weights) > 85.0


def test_a_step_makes_the_right_tree_score_more():
    text = sentences(20, 3)
    model = learner(text, aggressiveness=100.0)
    encoded, right = model.encoded[0], model._heads[0]
    assert accuracy(text[:1], model.averaged()) < 100.0
    for _ in range(20):
        model.step(encoded, right)
    assert accuracy(text[:1], model.weights) == 100.0


@pytest.mark.parametrize("kinds", [(), ("grandparents",), ("siblings",)])
def test_excluded_part_types_have_no_weights(kinds):
    model = learner(sentences(20, 4), kinds=kinds)
    weights = train(model, 1).weights
    assert ("grandparents" in kinds) == bool((weights.grandparents.keys >= 0).any())
    assert ("siblings" in kinds) == bool((weights.siblings.keys >= 0).any())
    assert weights.parts == kinds


def test_fingerprints_differ_between_trainings():
    one, other, more = learner(sentences(10, 6)), learner(sentences(11, 7)), learner(sentences(10, 6), epochs=3)
    assert one.fingerprint() != other.fingerprint()
    assert one.fingerprint() == more.fingerprint()


def test_training_needs_annotated_sentences():
    with pytest.raises(InputError, match="sentences is empty"):
        learner([])
    with pytest.raises(InputError, match="sentence 1 has no heads"):
        learner([Sentence(("a",))])


def test_single_root_is_detected():
    assert learner([Sentence(("a", "b"), heads=(0, 1))]).averaged().single_root
    assert not learner([Sentence(("a", "b"), heads=(0, 0))]).averaged().single_root


def test_small_weights_are_dropped():
    models = [learner(sentences(30, 3), cutoff=cutoff) for cutoff in (0.0, 0.05)]
    everything, large = (train(model, 1).weights for model in models)
    # The threshold of arc features also applies to triples.
    least = 0.05 * np.quantile(np.abs(everything.arcs.values[everything.arcs.keys >= 0]).max(axis=1), 0.99)
    for name in ("arcs", "grandparents", "siblings"):
        all_rows, rows = (getattr(weights, name) for weights in (everything, large))
        held = np.abs(all_rows.values[all_rows.keys >= 0]).max(axis=1)
        kept = np.abs(rows.values[rows.keys >= 0]).max(axis=1)
        assert 0 < len(kept) < len(held)
        np.testing.assert_allclose(np.sort(kept), np.sort(held[held > 0.99 * least])[-len(kept) :])
        assert kept.min() > 0.99 * least
        assert len(kept) >= (held > 1.01 * least).sum()


def test_attenuated_triples_learn_less():
    sizes = []
    for attenuation in (1.0, 0.25):
        model = learner(sentences(30, 3), attenuation=attenuation, cutoff=0.0)
        weights = train(model, 1).weights
        sizes.append([np.abs(table.values).mean() for table in (weights.arcs, weights.grandparents)])
    assert sizes[1][1] / sizes[1][0] < 0.2 * sizes[0][1] / sizes[0][0]

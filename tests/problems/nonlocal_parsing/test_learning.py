"""Scores from weights, and weights from sentences."""

import numpy as np
import pytest

from colgen import InputError, solve
from problems.dependency.features import Vocabulary
from problems.dependency.sentence import Sentence
from problems.nonlocal_parsing import NonlocalParsing
from problems.nonlocal_parsing.decoding import accuracy, decode, parse, usable
from problems.nonlocal_parsing.families import COMBINATION, FAMILIES
from problems.nonlocal_parsing.learner import Learner, tree_tuples
from problems.nonlocal_parsing.learning import begin, train
from problems.nonlocal_parsing.scoring import BACKBONES, Model
from solvers.tuple_scores import score_tuples
from tests.problems.nonlocal_parsing.trees import made_up_sentences

SENTENCES = made_up_sentences(40)
QUIET = {"say": lambda line: None}


def random_model(backbone, families, seed=0):
    """A few random steps: weights that have learned nothing."""
    rng = np.random.default_rng(seed)
    learner = Learner(Model.zero(Vocabulary.of(SENTENCES), backbone, families))
    for sentence in SENTENCES[:8]:
        n = len(sentence)
        wrong = np.array([-1, *(int(rng.integers(0, m)) for m in range(1, n + 1))])
        learner.number["rest"] += 1
        learner._step(sentence, np.array([-1, *sentence.heads]), wrong)
    return learner


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_tree_s_score_is_the_sum_of_its_features_weights(backbone):
    """What decoding adds up, part by part, is what learning counts."""
    families = () if backbone == "first" else tuple(FAMILIES)
    model = random_model(backbone, families).averaged()
    for sentence in SENTENCES[8:14]:
        instance = model.instance(sentence, None)
        encoded = model.vocabulary.encode(sentence)
        heads = np.array([-1, *sentence.heads])
        modifiers = np.arange(1, len(heads))
        expected = instance.parts.arcs[heads[1:], modifiers].sum()
        for name, (columns, relation) in tree_tuples(model, sentence, heads).items():
            expected += score_tuples(encoded.codes, model.tables[name], columns, relation).sum()
        if backbone == "third":
            kinds, table = encoded.tags, model.triples
            for h, m, s in adjacent(heads):
                g = heads[h] if h else 0
                last = table.shape[5] - 1 if s == h else kinds[s]
                expected += table[int(g > h), int(m > h), kinds[g], kinds[h], kinds[m], last]
        assert instance.check(sentence.heads) == pytest.approx(expected, rel=1e-5, abs=1e-5)
        assert abs(expected) > 0.0


def adjacent(heads):
    for m in range(1, len(heads)):
        h = heads[m]
        between = range(m - 1, h, -1) if h < m else range(m + 1, h)
        yield h, m, next((w for w in between if heads[w] == h), h)


def test_the_average_is_that_of_the_weights_after_each_sentence():
    seen = []
    rng = np.random.default_rng(0)
    learner = Learner(Model.zero(Vocabulary.of(SENTENCES), "grandchild", ("siblings",)))
    sentence = SENTENCES[0]
    for _ in range(4):
        wrong = np.array([-1, *(int(rng.integers(0, m)) for m in range(1, len(sentence) + 1))])
        # The weights that decode sentence number t are those of t - 1 steps.
        seen.append(learner.model.instance(SENTENCES[1], None).check(SENTENCES[1].heads))
        learner.number["rest"] += 1
        learner._step(sentence, np.array([-1, *sentence.heads]), wrong)
    averaged = learner.averaged().instance(SENTENCES[1], None).check(SENTENCES[1].heads)
    assert averaged == pytest.approx(np.mean(seen), rel=1e-4, abs=1e-4)


def test_pruned_scores_are_those_of_all_arcs():
    model = train(SENTENCES, families=COMBINATION, epochs=1, family_epochs=1, **QUIET)
    for sentence in SENTENCES[:5]:
        pruned, whole = model.instance(sentence, 3), model.instance(sentence, None)
        assert pruned.usable.sum() < whole.usable.sum()
        assert (pruned.usable <= whole.usable).all()
        found = solve(NonlocalParsing(pruned)).answer
        assert pruned.check(found) == pytest.approx(whole.check(found), rel=1e-6)
        assert solve(NonlocalParsing(whole)).objective >= pruned.check(found) - 1e-9
        kept = model.instance(sentence, 1, gold=True)
        assert kept.check(sentence.heads) == pytest.approx(whole.check(sentence.heads), rel=1e-6)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_small_grammar_is_learned(backbone):
    families = ("siblings", "grandchildren") if backbone == "grandchild" else ()
    model = train(SENTENCES, backbone=backbone, families=families, epochs=3, family_epochs=2, **QUIET)
    fresh = made_up_sentences(30, seed=1)
    reached = accuracy(fresh, parse(model, fresh))
    assert reached.all > 97.0
    assert reached.without_punctuation > 97.0


def test_going_on_with_families_leaves_the_learner_as_it_is():
    learner = begin(SENTENCES, filter_epochs=1, **QUIET)
    learner.learn(SENTENCES, 1, np.random.default_rng(0), lambda line: None)
    before = [decode(learner.model.instance(s)) for s in SENTENCES[:10]]
    other = learner.with_families(("siblings",))
    averaged = learner.averaged()
    for sentence in SENTENCES[:10]:
        score = averaged.instance(sentence, gold=True).check(sentence.heads)
        assert other.model.instance(sentence, gold=True).check(sentence.heads) == pytest.approx(score)
        assert other.averaged().instance(sentence, gold=True).check(sentence.heads) == pytest.approx(score)
    other.learn(made_up_sentences(20, seed=5), 2, np.random.default_rng(0), lambda line: None)
    assert [decode(learner.model.instance(s)) for s in SENTENCES[:10]] == before


@pytest.mark.parametrize("backbone", ["grandchild", "third"])
def test_models_are_written_and_read(backbone, tmp_path):
    model = random_model(backbone, ("siblings", "combs")).averaged()
    model.save(tmp_path / "model")
    again = Model.load(tmp_path / "model")
    assert again.backbone == backbone
    assert again.families == ("siblings", "combs")
    for sentence in SENTENCES[8:12]:
        assert again.instance(sentence).check(sentence.heads) == pytest.approx(
            model.instance(sentence).check(sentence.heads)
        )


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Model.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(InputError, match="expected a model"):
        Model.load(tmp_path / "text")
    np.savez(tmp_path / "other.npz", arcs=np.ones(3))
    with pytest.raises(InputError, match="expected a model"):
        Model.load(tmp_path / "other.npz")


def test_accuracy_counts_words_and_punctuation():
    sentence = Sentence(("a", "b", "."), coarse=("X", "X", "PUNCT"), heads=(2, 0, 2))
    reached = accuracy([sentence, sentence], [(2, 0, 1), (0, 1, 2)])
    assert reached.all == pytest.approx(50.0)
    assert reached.without_punctuation == pytest.approx(50.0)
    with pytest.raises(InputError, match="with heads"):
        accuracy([Sentence(("a",))], [(0,)])


def test_what_cannot_be_learned_from_is_left_out():
    crossing = Sentence(("a", "b", "c", "d"), heads=(3, 4, 0, 3))
    several = Sentence(("a", "b"), heads=(0, 0))
    assert usable([crossing, several, Sentence(("a",)), SENTENCES[0]]) == [SENTENCES[0]]
    with pytest.raises(InputError, match="projective"):
        begin([crossing, several], **QUIET)


def test_unknown_names_are_refused():
    vocabulary = Vocabulary.of(SENTENCES)
    with pytest.raises(InputError, match="backbone"):
        Model.zero(vocabulary, "fourth")
    with pytest.raises(InputError, match="no family"):
        Model.zero(vocabulary, "third", ("cousins",))

"""Scores from weights, and weights from sentences."""

from dataclasses import replace

import numpy as np
import pytest

from colgen import InputError, learning, solve
from colgen.problems.dependency.evaluation import attachment
from colgen.problems.dependency.features.mixed_radix import keys_of
from colgen.problems.dependency.features.tags_between import score_between
from colgen.problems.dependency.features.tuple_scores import score_tuples
from colgen.problems.dependency.features.vocabulary import Vocabulary
from colgen.problems.dependency.sentence import Sentence
from colgen.problems.nonlocal_parsing import NonlocalParsing
from colgen.problems.nonlocal_parsing.decoding import accuracy, decode, parse, usable
from colgen.problems.nonlocal_parsing.decoding import labelled as with_relations
from colgen.problems.nonlocal_parsing.examples import ParsedExamples, tree_tuples
from colgen.problems.nonlocal_parsing.families import COMBINATION, FAMILIES, Words
from colgen.problems.nonlocal_parsing.learner import FilterLearner, ParserLearner
from colgen.problems.nonlocal_parsing.learning import NonlocalSettings, train
from colgen.problems.nonlocal_parsing.local_parts import BACKBONES
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.solvers.trees.eisner import Parts, best_tree, max_marginals
from tests.problems.dependency.treebank import labelled
from tests.problems.nonlocal_parsing.trees import made_up_sentences

SENTENCES = made_up_sentences(40)
QUIET = {"say": lambda line: None}


def random_tree(rng, length):
    """Return some tree: each word is attached to a preceding one."""
    return np.array([-1, *(int(rng.integers(0, m)) for m in range(1, length + 1))])


def unfiltered(backbone="grandchild", families=(), sentences=SENTENCES, least=1):
    """Return a learner with an untrained filter."""
    examples = ParsedExamples(sentences, least)
    return ParserLearner(examples, FilterLearner(examples).averaged(), backbone, families)


def random_model(backbone, families, seed=0):
    """Return a model with random weights."""
    rng = np.random.default_rng(seed)
    learner = unfiltered(backbone, families)
    for example in learner.examples.examples[:8]:
        learner.steps += 1
        learner.step(example, random_tree(rng, len(example.encoded)))
    return learner


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_tree_s_score_is_the_sum_of_its_features_weights(backbone):
    """Decoding sums the same parts that learning counts."""
    families = () if backbone == "first" else tuple(FAMILIES)
    model = random_model(backbone, families).averaged()
    for sentence in SENTENCES[8:14]:
        instance = model.instance(sentence, None)
        encoded = model.vocabulary.encode(sentence)
        heads = np.array([-1, *sentence.heads])
        modifiers = np.arange(1, len(heads))
        expected = 0.0
        for name, tuples in tree_tuples(model, Words(sentence), heads).items():
            table = model.tables[name]
            scores = score_tuples(encoded.codes, table.features, table.weights, *tuples)
            if name == "arcs":
                between = scores.sum() - instance.parts.arcs[heads[1:], modifiers].sum()
                allowed = np.ones((len(heads), len(heads)), dtype=bool)
                other = np.zeros((len(heads), len(heads)))
                score_between(encoded.tags, model.between["arcs"], allowed, other)
                assert between == pytest.approx(-other[heads[1:], modifiers].sum(), abs=1e-4)
                expected -= between
            expected += scores.sum()
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
    learner = unfiltered("grandchild", ("siblings",))
    example = learner.examples.examples[0]
    for _ in range(4):
        # The weights that decode sentence number t are those of t - 1 steps.
        seen.append(learner.model.instance(SENTENCES[1], None).check(SENTENCES[1].heads))
        learner.steps += 1
        learner.step(example, random_tree(rng, len(example.encoded)))
    for model in (learner.averaged(), learner.averaged().compact()):
        averaged = model.instance(SENTENCES[1], None).check(SENTENCES[1].heads)
        assert averaged == pytest.approx(np.mean(seen), rel=1e-4, abs=1e-4)


def test_features_are_those_that_right_trees_have_often_enough():
    once, twice = (unfiltered(least=least) for least in (1, 2))
    example = once.examples.examples[0]
    for name, tuples in tree_tuples(once.model, example.words, example.heads).items():
        found = {}
        for e in once.examples.examples:
            of_tree = tree_tuples(once.model, e.words, e.heads)[name]
            radix = once.model.tables[name].radix
            for key in keys_of(radix, e.encoded.codes, of_tree.columns, of_tree.relation).tolist():
                found[key] = found.get(key, 0) + 1
        assert once.model.tables[name].keys.tolist() == sorted(found)
        assert twice.model.tables[name].keys.tolist() == sorted(key for key, count in found.items() if count > 1)
        assert len(tuples.columns) > 0


def test_steps_leave_features_of_wrong_trees_alone():
    """Features outside the index have no weight, before and after a step."""
    learner = unfiltered(sentences=SENTENCES[:3])
    before = {name: table.keys.copy() for name, table in learner.model.tables.items()}
    learner.steps += 1
    example = learner.examples.examples[0]
    learner.step(example, random_tree(np.random.default_rng(0), len(example.encoded)))
    for name, keys in before.items():
        assert (learner.model.tables[name].keys == keys).all()


def test_pruned_scores_are_those_of_all_arcs():
    model = train(SENTENCES, NonlocalSettings(families=COMBINATION, epochs=1, family_epochs=1), **QUIET)
    for sentence in SENTENCES[:5]:
        pruned, whole = model.instance(sentence, 3), model.instance(sentence, None)
        assert pruned.usable.sum() < whole.usable.sum()
        assert (pruned.usable <= whole.usable).all()
        found = solve(NonlocalParsing(pruned)).answer
        assert pruned.check(found) == pytest.approx(whole.check(found), rel=1e-6)
        assert solve(NonlocalParsing(whole)).objective >= pruned.check(found) - 1e-9
        kept = model.instance(sentence, 1, gold=True)
        assert kept.check(sentence.heads) == pytest.approx(whole.check(sentence.heads), rel=1e-6)


def test_candidates_are_heads_of_good_trees():
    examples = ParsedExamples(SENTENCES)
    model = learning.train(FilterLearner(examples), 1).weights
    for sentence in made_up_sentences(10, seed=3):
        encoded, n = model.vocabulary.encode(sentence), len(sentence)
        everywhere = model.candidates(encoded, None)
        parts = Parts(model.score_arcs("filter", encoded, everywhere))
        marginals, best = max_marginals(parts), best_tree(parts)[1]
        allowed = model.candidates(encoded, 3, [max(m - 1, 0) for m in range(1, n + 1)])
        for m in range(1, n + 1):
            ranked = sorted((h for h in range(n + 1) if h != m), key=lambda h: -marginals[h, m])[:3]
            assert allowed[ranked, m].all()
            assert allowed[best[m], m]
            assert allowed[max(m - 1, 0), m]
            others = [h for h in range(n + 1) if allowed[h, m] and h not in (*ranked, max(m - 1, 0))]
            assert all(marginals[h, m] == marginals[ranked[-1], m] for h in others)
        assert not allowed[:, 0].any()


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_small_grammar_is_learned(backbone):
    families = ("siblings", "grandchildren") if backbone == "grandchild" else ()
    model = train(SENTENCES, NonlocalSettings(backbone, families, epochs=3, family_epochs=2, least=1), **QUIET)
    fresh = made_up_sentences(30, seed=1)
    reached = accuracy(fresh, parse(model, fresh))
    assert reached.uas > 97.0
    assert reached.uas_without_punctuation > 97.0


def test_with_families_does_not_change_the_learner():
    examples = ParsedExamples(SENTENCES)
    learner = ParserLearner(examples, learning.train(FilterLearner(examples), 1).weights)
    learning.train(learner, 1)
    before = [decode(learner.model.instance(s)) for s in SENTENCES[:10]]
    other = learner.with_families(("siblings",))
    averaged = learner.averaged()
    for sentence in SENTENCES[:10]:
        score = averaged.instance(sentence, gold=True).check(sentence.heads)
        assert other.model.instance(sentence, gold=True).check(sentence.heads) == pytest.approx(score)
        assert other.averaged().instance(sentence, gold=True).check(sentence.heads) == pytest.approx(score)
    other.learn(np.arange(20))
    assert [decode(learner.model.instance(s)) for s in SENTENCES[:10]] == before


def test_another_backbone_has_the_same_filter():
    examples = ParsedExamples(SENTENCES)
    filtered = learning.train(FilterLearner(examples), 1).weights
    third = ParserLearner(examples, filtered, "third")
    third.learn(np.arange(5))
    for sentence in SENTENCES[:5]:
        encoded = filtered.vocabulary.encode(sentence)
        assert (third.averaged().candidates(encoded, 2) == filtered.candidates(encoded, 2)).all()


@pytest.mark.parametrize("last", [0, 1, 2, 3])
def test_an_interrupted_training_continues(last, tmp_path):
    settings = NonlocalSettings("third", ("siblings",), filter_epochs=1, epochs=2, family_epochs=2, least=1)
    whole = train(SENTENCES, settings, **QUIET)
    state, passes = tmp_path / "state", []

    def stop(line):
        passes.append(line)
        if len(passes) == last + 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(SENTENCES, settings, state=state, say=stop)
    assert passes[-1].endswith("has the state after the last pass: repeat the command to continue from there")
    assert state.is_file()
    said = []
    again = train(SENTENCES, settings, state=state, say=said.append)
    stage, done = [(0, 1), (1, 1), (1, 2), (2, 1)][last]
    name, most = [("filter", 1), ("third", 2), ("siblings", 2)][stage]
    assert said[0] == f"{name}: continuing after pass {done} of {most}"
    assert len(said) == 1 + 5 - (last + 1)
    assert not state.exists()
    for name, table in whole.tables.items():
        assert (again.tables[name].keys == table.keys).all()
        assert again.tables[name].weights == pytest.approx(table.weights, abs=1e-6)


@pytest.mark.parametrize("relations", ["arcs", "both"])
def test_relations_are_learned_in_the_arcs_scores(relations, tmp_path):
    text = [labelled(sentence) for sentence in made_up_sentences(60)]
    settings = NonlocalSettings("grandchild", ("siblings",), 1, 2, 1, least=1, relations=relations)
    model = train(text[:40], settings, **QUIET)
    assert (model.labels is None) == (relations == "arcs")
    test = text[40:]
    found = parse(model, test)
    reached = attachment(zip(test, with_relations(model, test, found), strict=True))
    plain = train(text[:40], replace(settings, relations="tree"), **QUIET)
    assert reached.uas > accuracy(test, parse(plain, test)).uas - 5.0
    assert reached.las > reached.uas - 5.0
    model.save(tmp_path / "model")
    again = Model.load(tmp_path / "model")
    for sentence in test[:5]:
        one, other = (m.instance(sentence, None) for m in (model, again))
        np.testing.assert_array_equal(one.parts.arcs, other.parts.arcs)
        encoded = model.vocabulary.encode(sentence)
        # Arc scores with relations are the scores without plus the best relation.
        without = replace(model, arc_labels=None).instance(sentence, None)
        best, which = model.arc_labels.best(encoded)
        np.testing.assert_allclose(one.parts.arcs[one.usable], (without.parts.arcs + best)[one.usable], atol=1e-6)
        assert again.relations(encoded, sentence.heads) == model.relations(encoded, sentence.heads)
        if relations == "arcs":
            named = model.relations(encoded, sentence.heads)
            assert named == tuple(model.arc_labels.relations[which[h, m]] for m, h in enumerate(sentence.heads, 1))


@pytest.mark.parametrize("last", [1, 3])
def test_an_interrupted_training_with_relations_continues(last, tmp_path):
    text = [labelled(sentence) for sentence in SENTENCES]
    settings = NonlocalSettings("sibling", ("siblings",), 1, 2, 2, least=1, relations="arcs")
    whole = train(text, settings, **QUIET)
    passes = []

    def stop(line):
        passes.append(line)
        if len(passes) == last + 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(text, settings, state=tmp_path / "state", say=stop)
    again = train(text, settings, state=tmp_path / "state", **QUIET)
    assert again.arc_labels.weights.keys.tolist() == whole.arc_labels.weights.keys.tolist()
    assert again.arc_labels.weights.weights == pytest.approx(whole.arc_labels.weights.weights, abs=1e-6)


def test_relations_need_sentences_that_tell_them():
    with pytest.raises(InputError, match="expected sentences with relations"):
        train(SENTENCES, NonlocalSettings(relations="arcs"), **QUIET)


def test_a_state_of_something_else(tmp_path):
    settings = NonlocalSettings(filter_epochs=1, epochs=1)
    (tmp_path / "state").write_text("no archive")
    with pytest.raises(InputError, match="interrupted training"):
        train(SENTENCES, settings, state=tmp_path / "state", **QUIET)
    lines = []

    def stop(line):
        lines.append(line)
        if len(lines) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(SENTENCES, settings, state=tmp_path / "other", say=stop)
    said = []
    train(SENTENCES[:20], settings, state=tmp_path / "other", say=said.append)
    assert len(said) == 2  # nothing was resumed


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


def test_accuracy_counts_words_and_punctuation():
    sentence = Sentence(("a", "b", "."), coarse=("X", "X", "PUNCT"), heads=(2, 0, 2))
    reached = accuracy([sentence, sentence], [(2, 0, 1), (0, 1, 2)])
    assert reached.uas == pytest.approx(50.0)
    assert reached.uas_without_punctuation == pytest.approx(50.0)
    with pytest.raises(InputError, match="no heads"):
        accuracy([Sentence(("a",))], [(0,)])


def test_unusable_sentences_are_skipped():
    crossing = Sentence(("a", "b", "c", "d"), heads=(3, 4, 0, 3))
    several = Sentence(("a", "b"), heads=(0, 0))
    assert usable([crossing, several, Sentence(("a",)), SENTENCES[0]]) == [SENTENCES[0]]
    with pytest.raises(InputError, match="projective"):
        ParsedExamples([crossing, several])


def test_unknown_names_raise():
    vocabulary = Vocabulary.of(SENTENCES)
    with pytest.raises(InputError, match="backbone"):
        Model.zero(vocabulary, "fourth")
    with pytest.raises(InputError, match="not 'cousins'"):
        Model.zero(vocabulary, "third", ("cousins",))

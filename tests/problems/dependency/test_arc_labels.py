"""Relations in arc scores: against dictionaries and all labelled trees; training and files."""

import dataclasses
import itertools
import pickle

import numpy as np
import pytest

from colgen import InputError
from colgen.learning.weights import FeatureWeights
from colgen.problems.dependency import MiraLearner, MiraSettings, Vocabulary, Weights
from colgen.problems.dependency.arc_labels import TEMPLATES, ArcLabels, GrowingArcLabels
from colgen.problems.dependency.features.label_scores import PLACES
from colgen.problems.grandparent_parsing import parse
from colgen.problems.grandparent_parsing.training import NarrowDecoder, measure_attachment, train
from colgen.solvers.arrays import ArrayError
from tests.problems.dependency.treebank import labelled, random_weights, sentence, sentences
from tests.problems.grandparent_parsing.trees import all_trees


def key(codes, sizes, t, h, m):
    """The key of a feature, computed in Python."""
    head, modifier, places, _ = TEMPLATES[t]
    a, b = int(codes[head, h]), int(codes[modifier, m])
    if a < 0 or b < 0:
        return None
    start = sum(int(sizes[x]) * int(sizes[y]) * many for x, y, many, _ in TEMPLATES[:t])
    place = int(h > m)
    if places == PLACES:
        apart = abs(h - m)
        place += 2 * (apart if apart <= 3 else 4 if apart <= 6 else 5)
    return start + (a * int(sizes[modifier]) + b) * places + place


def scores_by_dictionary(labels, codes, h, m):
    """The score of each relation of an arc."""
    held = labels.weights
    rows = {int(k): slice(*ends) for k, ends in zip(held.keys, itertools.pairwise(held.starts), strict=True)}
    scores = np.zeros(len(labels.relations))
    for t in range(len(TEMPLATES)):
        row = rows.get(key(codes, labels.sizes, t, h, m))
        if row is not None:
            np.add.at(scores, held.labels[row], held.weights[row].astype(float))
    return scores


def random_labels(text, vocabulary, seed, share=0.5):
    """Labels with random weights of the gold trees' features, for a share of the relations each."""
    encoded = [vocabulary.encode(each) for each in text]
    growing = GrowingArcLabels(text, encoded, vocabulary)
    rng = np.random.default_rng(seed)
    num, features = len(growing.relations), growing._keys
    which = [np.flatnonzero(rng.random(num) < share) for _ in features]
    which = [own if len(own) else np.array([0]) for own in which]
    starts = np.cumsum([0, *map(len, which)])
    weights = rng.normal(size=starts[-1]).astype(np.float32)
    held = FeatureWeights(features, starts, np.concatenate(which).astype(np.int32), weights, num)
    return ArcLabels(growing.relations, vocabulary.sizes, held)


@pytest.fixture(scope="module")
def text():
    return [labelled(each) for each in sentences(40, 0)]


@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])  # lists, lists and rows, rows
def test_best_relations_match_dictionaries(text, share):
    vocabulary = Vocabulary.of(text)
    labels = random_labels(text, vocabulary, 1, share)
    rng = np.random.default_rng(2)
    for length in (1, 2, 9):
        encoded = vocabulary.encode(sentence(rng, length))
        best, which = labels.best(encoded)
        for h, m in itertools.product(range(length + 1), range(1, length + 1)):
            if h != m:
                scores = scores_by_dictionary(labels, encoded.codes, h, m)
                assert best[h, m] == pytest.approx(scores.max(), abs=1e-4)
                assert scores[which[h, m]] == pytest.approx(scores.max(), abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("single_root", [True, False])
def test_no_labelled_tree_is_better(text, seed, single_root):
    weights = random_weights(text, seed, single_root=single_root)
    labels = random_labels(text, weights.vocabulary, seed)
    both = dataclasses.replace(weights, arc_labels=labels)
    given = sentence(np.random.default_rng(seed), 4)
    scorer = both.scorer(given)
    found = parse(scorer)
    assert found.is_optimal
    plain = weights.scorer(given)
    tables = [[scores_by_dictionary(labels, plain.encoded.codes, h, m) for m in range(1, 5)] for h in range(5)]
    best = -np.inf
    for heads in all_trees(4):
        if not single_root or heads.count(0) == 1:
            worth = tree_score(plain, heads) + sum(tables[h][m - 1].max() for m, h in enumerate(heads, 1))
            best = max(best, worth)
    assert found.score == pytest.approx(best, abs=1e-4)
    named = [labels.relations.index(name) for name in scorer.relations(found.heads)]
    of_named = sum(tables[h][m - 1][named[m - 1]] for m, h in enumerate(found.heads, 1))
    assert tree_score(plain, found.heads) + of_named == pytest.approx(best, abs=1e-4)


def tree_score(scorer, heads):
    """The score of a tree without relations."""
    n = len(heads)
    total = sum(scorer.arcs[h, m] for m, h in enumerate(heads, 1))
    for m, h in enumerate(heads, 1):
        if h:
            total += float(scorer.grandparents([[heads[h - 1], h, m]])[0])
    for h in range(n + 1):
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1)):
            chain = [h, *(m for m in side if heads[m - 1] == h), h]
            if len(chain) > 2:
                total += float(scorer.siblings([[h, a, b] for a, b in itertools.pairwise(chain)]).sum())
    return total


def test_caches_are_not_saved(text, tmp_path):
    """Caches are neither written nor pickled, and scores are bitwise equal afterwards."""
    weights = random_weights(text, 5)
    both = dataclasses.replace(weights, arc_labels=random_labels(text, weights.vocabulary, 5))
    given = [sentence(np.random.default_rng(seed), 6) for seed in range(4)]
    new = pickle.dumps(both)
    before = [both.scorer(each).arcs for each in given]
    again = pickle.loads(pickle.dumps(both))
    assert len(pickle.dumps(both)) < len(new) + 10_000  # the vocabulary's tables
    both.save(tmp_path / "model")
    for model in (both, again, Weights.load(tmp_path / "model")):
        for each, expected in zip(given, before, strict=True):
            np.testing.assert_array_equal(model.scorer(each).arcs, expected)


def test_losses_of_wrong_heads_and_relations(text):
    vocabulary = Vocabulary.of(text)
    encoded = [vocabulary.encode(each) for each in text]
    growing = GrowingArcLabels(text, encoded, vocabulary)
    k = max(range(len(text)), key=lambda k: len(text[k]))
    heads, right = np.array([-1, *text[k].heads]), growing.right[k]
    best, which, of_right = growing.best_with_losses(encoded[k].codes, heads, right, np.array([0.5, 1.0]))
    n = len(text[k])
    for h, m in itertools.product(range(n + 1), range(1, n + 1)):
        if h != m:  # all weights are 0
            assert best[h, m] == (0.5 if h == heads[m] else 1.0)
            assert (which[h, m] != right[m]) == (h == heads[m]) or h != heads[m]
    assert not of_right.any()


def test_a_step_changes_features_that_differ(text):
    vocabulary = Vocabulary.of(text)
    encoded = [vocabulary.encode(each) for each in text]
    growing = GrowingArcLabels(text, encoded, vocabulary)
    seen = np.concatenate([growing._keys, [-1]])
    rng = np.random.default_rng(3)
    weights, sums, num = {}, {}, len(growing.relations)
    for number in range(1, 12):
        k = int(rng.integers(len(text)))
        heads, right = np.array([-1, *text[k].heads]), growing.right[k]
        n = len(text[k])
        other = np.array([-1, *(int(rng.choice(np.delete(np.arange(n + 1), m))) for m in range(1, n + 1))])
        named = np.array([0, *rng.integers(0, num, n)])
        delta = {}
        for (tree, relations), sign in (((heads, right), 1), ((other, named), -1)):
            for m in range(1, n + 1):
                if heads[m] != other[m] or right[m] != named[m]:
                    for t in range(len(TEMPLATES)):
                        own = key(encoded[k].codes, vocabulary.sizes, t, tree[m], m)
                        if own is not None and own in seen:
                            place = own, int(relations[m])
                            delta[place] = delta.get(place, 0) + sign
        norm = growing.mark(encoded[k].codes, (heads, right), (other, named))
        assert norm == sum(change**2 for change in delta.values())
        growing.step(0.5, float(number))
        for place, change in delta.items():
            weights[place] = weights.get(place, 0.0) + 0.5 * change
            sums[place] = sums.get(place, 0.0) + 0.5 * number * change
        if number == 6:
            kept = {name: np.array(array) for name, array in growing.state().items()}
            growing = GrowingArcLabels(text, encoded, vocabulary)
            growing.restore(kept)
    for steps in (np.inf, 12.0):
        found = growing.averaged(steps).weights
        held = {}
        for feature, (first, end) in zip(found.keys, itertools.pairwise(found.starts), strict=True):
            for y, weight in zip(found.labels[first:end], found.weights[first:end], strict=True):
                held[int(feature), int(y)] = float(weight)
        expected = {place: weight - sums[place] / steps for place, weight in weights.items()}
        expected = {place: weight for place, weight in expected.items() if abs(weight) > 1e-9}
        assert held.keys() == expected.keys()
        assert held == pytest.approx(expected, abs=1e-5)
    # A tree against itself marks nothing.
    assert growing.mark(encoded[0].codes, *2 * [(np.array([-1, *text[0].heads]), growing.right[0])]) == 0.0


@pytest.mark.parametrize("relations", ["arcs", "both"])
def test_relations_are_learned_with_the_trees(text, relations, tmp_path):
    more = [labelled(each) for each in sentences(120, 1)]
    settings = MiraSettings(epochs=3, relations=relations)
    weights = train(more, settings, tune=text, state=tmp_path / "state")
    assert not list(tmp_path.iterdir())
    assert (weights.labels is None) == (relations == "arcs")
    reached = measure_attachment([labelled(each) for each in sentences(60, 2)], weights)
    assert reached.uas > 85.0
    assert reached.las > reached.uas - 4.0
    weights.save(tmp_path / "model")
    again = Weights.load(tmp_path / "model")
    for each in sentences(10, 3):
        one, other = (model.scorer(each) for model in (weights, again))
        np.testing.assert_array_equal(one.arcs, other.arcs)
        assert one.relations(each.heads) == other.relations(each.heads)


def test_training_with_relations_can_be_resumed(text):
    runs = [MiraLearner(text, NarrowDecoder(), MiraSettings(relations="arcs")) for _ in range(2)]
    order = np.arange(len(text))
    runs[0].learn(order)
    runs[1].restore({name: np.array(array) for name, array in runs[0].state().items()})
    first, second = (run.learn(order) for run in runs)
    assert first == second
    one, other = (run.averaged().scorer(text[0]) for run in runs)
    np.testing.assert_allclose(one.arcs, other.arcs)


def test_default_use_of_relations(text):
    for given, expected in ((text, "both"), (sentences(5, 0), "tree"), ([*text, *sentences(1, 0)], "tree")):
        learner = MiraLearner(given, NarrowDecoder(), MiraSettings())
        assert learner.settings.relations == expected
        assert (learner.averaged().arc_labels is None) == (expected == "tree")


def test_sentences_without_relations_are_refused():
    with pytest.raises(InputError, match="sentence 1 has no relations"):
        MiraLearner(sentences(3, 0), NarrowDecoder(), MiraSettings(relations="arcs"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("keys", lambda a: a[::-1].copy()),
        ("starts", lambda a: a + 1),
        ("labels", lambda a: a + 100),
        ("weights", lambda a: a * np.nan),
    ],
)
def test_wrong_arrays_are_refused(text, name, value):
    vocabulary = Vocabulary.of(text)
    labels = random_labels(text, vocabulary, 0)
    arrays, name = labels.arrays(), f"arc_labels.{name}"
    with pytest.raises((InputError, ArrayError), match="arc_labels"):
        ArcLabels.from_arrays(labels.relations, {**arrays, name: value(arrays[name])}, vocabulary)


def test_small_averages_of_relations_are_dropped(text):
    learner = MiraLearner(text, NarrowDecoder(), MiraSettings(cutoff=0.3))
    learner.learn(np.arange(len(text)))
    every, kept = learner._labels.averaged(learner.steps).weights, learner.averaged().arc_labels.weights
    size = np.abs(every.weights)
    assert 0 < len(kept.weights) < len(every.weights)
    expected = size[size > 0.3 * np.quantile(size, 0.99)]
    np.testing.assert_allclose(np.sort(np.abs(kept.weights)), np.sort(expected))

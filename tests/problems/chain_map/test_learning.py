"""Corpora, features, taggers, and the margin oracle."""

from dataclasses import replace

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.problems.chain_map import ChainInstance, decode, viterbi_pruned, viterbi_two_best
from colgen.problems.chain_map.corpus import TASKS, Tagged, read_tagged
from colgen.problems.chain_map.features import NUM_KINDS, UNKNOWN, build_index, features, shape
from colgen.problems.chain_map.learning import TaggedExamples, Tagger, margin_violations, train_perceptron, train_svm
from colgen.problems.chain_map.synthetic import first_chains, resize_labels
from colgen.problems.chain_map.training import examples_of, read_corpus
from colgen.solvers.chains.forest import chains
from colgen.solvers.chains.viterbi import viterbi
from tests.problems.chain_map.sentences import look_up, write_corpus
from tests.sweeps import seeds
from tests.twins.chain_map import draw, scores_of


def quiet(_):
    """Print nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def test_tags_are_read_by_task(tmp_path):
    path = tmp_path / "two-train.tsv"
    path.write_text("Anna\tNNP\tB-PER\tU-PER\nran\tVBD\tO\tO\n\n\nto\tTO\tB-OTH\tU-OTH\nMali\tNNP\tI-LOC\tL-LOC\n")
    words = [("Anna", "ran"), ("to", "Mali")]
    by_task = {name: [(s.words, s.tags) for s in read_tagged(path, task)] for name, task in TASKS.items()}
    assert by_task["pos"] == [(words[0], ("NNP", "VBD")), (words[1], ("TO", "NNP"))]
    assert by_task["joint"] == [(words[0], ("NNP|B-PER", "VBD|O")), (words[1], ("TO|O", "NNP|I-LOC"))]
    assert by_task["joint_bilou"][1][1] == ("TO|O", "NNP|L-LOC")
    assert TASKS["pos"].tags(["b", "a", "b"]) == ("a", "b")
    assert len(TASKS["joint"].tags(["a|O", "b|B-PER"])) == 2 * 7
    assert len(TASKS["joint_bilou"].tags(["a|O", "b|U-PER"])) == 2 * 13


@pytest.mark.parametrize(("text", "line"), [("a\tX\n\nb\n", 3), ("a\t\n", 1), ("a X\n", 1)])
def test_a_malformed_line_is_named(tmp_path, text, line):
    path = tmp_path / "bad.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"line {line}: expected at least 2 fields"):
        read_tagged(path, TASKS["pos"])


def test_corpora_are_found_by_their_names(folder, tmp_path):
    assert len(read_corpus(folder, TASKS["pos"], "train")) == 200
    with pytest.raises(InputError, match=r"-test\.tsv"):
        read_corpus(tmp_path, TASKS["pos"], "test")


def test_features_look_at_the_word_and_around_it():
    assert shape("McDonald's-2") == "XxXx'x-d"
    first, second = features(["Anna", "1999"])
    assert len(first) == len(second) == NUM_KINDS
    assert "w Anna" in first
    assert "l anna" in first
    assert "s3 nna" in first
    assert "+1 0000" in first
    assert "-1 anna" in second
    assert "x d last" in second
    index = build_index([["a", "b"], ["a", "c"]], min_count=2)
    assert "w a" in index
    assert "w b" not in index
    rows = look_up([["a", "b"]], index)
    assert rows.shape == (2, NUM_KINDS)
    assert rows[0, 1] == index["w a"]
    assert rows[1, 1] == UNKNOWN


@pytest.mark.parametrize("task", ["pos", "joint"])
@pytest.mark.parametrize("learner", [train_perceptron, train_svm])
def test_taggers_learn_a_little_grammar(folder, task, learner, tmp_path):
    examples = examples_of(read_corpus(folder, TASKS[task], "train"), TASKS[task])
    tagger = learner(task, examples, epochs=6, say=quiet)
    test = read_corpus(folder, TASKS[task], "test")
    assert tagger.accuracy(test) > 0.97
    tagger.save(tmp_path / "tagger.npz")
    again = Tagger.load(tmp_path / "tagger.npz")
    sentences = [sentence.words for sentence in test]
    assert again.tag(sentences) == tagger.tag(sentences)
    assert (again.task, again.tags) == (task, tagger.tags)
    instance = tagger.instance(sentences)
    assert instance.labels == tagger.tags
    assert instance.nodes[0] == sentences[0][0]


def test_the_perceptron_is_the_average_of_its_weights(folder):
    """Repeat one pass over the sentences in the same order."""
    examples = examples_of(read_corpus(folder, TASKS["pos"], "train")[:20], TASKS["pos"])
    tagger = train_perceptron("pos", examples, epochs=1, seed=3, say=quiet)
    num = len(examples.tags)
    weights, tau = np.zeros((len(examples.index), num)), np.zeros((num, num))
    sums, tau_sums = np.zeros_like(weights), np.zeros_like(tau)
    for k in np.random.default_rng((3, 0)).permutation(len(examples)):
        part = slice(examples.starts[k], examples.starts[k + 1])
        tokens, gold = examples.features[part], examples.gold[part]
        local = np.array([weights[token[token >= 0]].sum(axis=0) for token in tokens])
        found, _ = viterbi(local, np.array([0, len(gold)]), tau)
        sums += weights
        tau_sums += tau
        for labels, sign in ((gold, 1.0), (found, -1.0)):
            for i, label in enumerate(labels):
                np.add.at(weights, (tokens[i][tokens[i] >= 0], label), sign)
                if i:
                    tau[labels[i - 1], label] += sign
    rounds = len(examples) + 1  # the average counts the weights after the last sentence too
    np.testing.assert_allclose(tagger.weights.dense(), (sums + weights) / rounds, atol=1e-5)
    np.testing.assert_allclose(tagger.transitions, (tau_sums + tau) / rounds, atol=1e-5)


@pytest.mark.parametrize("task", ["pos", "joint"])
def test_sentences_have_the_tags_of_a_proved_run_together_and_alone(folder, task):
    examples = examples_of(read_corpus(folder, TASKS[task], "train"), TASKS[task])
    tagger = train_perceptron(task, examples, epochs=1, say=quiet)
    words = [sentence.words for sentence in read_corpus(folder, TASKS[task], "test")]
    proved = decode(tagger.instance(words))
    np.testing.assert_array_equal(proved.values, proved.bounds)
    tags = [[tagger.tags[label] for label in labels] for labels in proved]
    assert tagger.tag(words) == tags
    assert [tagger.tag([one])[0] for one in words] == tags
    together = [tagger.instance([one]).forest for one in words]
    for one, forest in zip(words, together, strict=True):
        fresh = chains(np.array([len(one)]))
        assert all(np.array_equal(a, b) for a, b in zip(forest, fresh, strict=True))


def test_stronger_regularisation_makes_smaller_transitions(folder):
    examples = examples_of(read_corpus(folder, TASKS["pos"], "train"), TASKS["pos"])
    sizes = [
        float(np.abs(train_svm("pos", examples, transition_l2=strength, epochs=4, say=quiet).transitions).sum())
        for strength in (0.1, 10.0, 1000.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]


@pytest.mark.parametrize("seed", seeds(60))
def test_violated_margins_agree_with_enumeration(seed):
    instance = draw(seed, forbidden=False)
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, instance.num_labels, size=instance.forest.num_nodes).astype(np.int32)
    if seed % 2:  # usually the best labelling is the correct one
        gold = viterbi_pruned(instance).labels
    labels, violating = margin_violations(instance, gold)
    values = instance.values(gold)
    for k in range(instance.num_trees):
        rivals = scores_of(instance, k)
        rivals.remove(min(rivals, key=lambda score: abs(score - values[k])))  # the correct one
        worst = max(rivals, default=-np.inf)
        if abs(worst - (values[k] - 1.0)) < 1e-9:
            continue
        assert (k in violating) == (worst > values[k] - 1.0)
        if k in violating:
            assert instance.values(labels)[k] == pytest.approx(worst)


@pytest.mark.parametrize("seed", [0, 1, 4, 5])
def test_two_best_behind_pruning(seed):
    instance = draw(seed, forbidden=False)
    if len(instance.pairwise.tables) == 1:
        near = viterbi_two_best(instance)
        found = viterbi_pruned(instance, margin=5.0)
        within = near.runner_up.values > near.values - 5.0
        np.testing.assert_allclose(found.runner_up.values[within], near.runner_up.values[within])


def test_training_without_sentences_raises():
    with pytest.raises(InputError, match="one tagged sentence"):
        TaggedExamples.of([], ("a",))
    examples = TaggedExamples.of([Tagged(("a", "b"), ("X", "Y"))] * 2, ("X", "Y"))
    tagger = train_perceptron("pos", examples, epochs=1, say=quiet)
    for sentences in ([], [["a"], []]):
        with pytest.raises(InputError, match="at least one word"):
            tagger.instance(sentences)


def test_synthetic_chains_keep_the_best_scores():
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=(4, 12)) for _ in range(3)]
    instance = first_chains(ChainInstance.from_chains(scores, rng.normal(size=(12, 12))), 2)
    assert instance.num_trees == 2
    assert instance.forest.num_nodes == 8
    for num in (5, 12, 40):
        wider = resize_labels(instance, num, seed=1)
        assert wider.scores.shape == (8, num)
        assert wider.pairwise.num_labels == num
        best = min(num, 10)
        np.testing.assert_allclose(
            -np.sort(-wider.scores, axis=1)[:, :best], -np.sort(-instance.scores, axis=1)[:, :best]
        )


@pytest.mark.parametrize(
    "text",
    [
        "a|b\tN|V\tO\tO\nrun\tV|\tB-PER\tU-PER\n\nit\t|\tO\tO\n" * 2,  # the sign that joins a tag and an entity
        "word\tN\tO\tO\n",  # one word, one tag, no feature that occurs twice
        "\n\n\nword\tN\tO\tO\n\n\n\nword\tN\tO\tO\n\n",
        f"{'x' * 100_000}\tN\tO\tO\n\n\u2028\u0085 \tV\tO\tO\n",
    ],
)
@pytest.mark.parametrize("learner", [train_perceptron, train_svm])
@pytest.mark.parametrize("task", ["pos", "joint"])
def test_odd_corpora_are_learned_from(tmp_path, text, learner, task):
    (tmp_path / "odd.tsv").write_text(text, encoding="utf-8")
    sentences = read_tagged(tmp_path / "odd.tsv", TASKS[task])
    tagger = learner(task, examples_of(sentences, TASKS[task]), epochs=2, say=quiet)
    tagger.save(tmp_path / "odd.npz")
    again = Tagger.load(tmp_path / "odd.npz")
    words = [sentence.words for sentence in sentences]
    assert again.tag(words) == tagger.tag(words)
    assert 0.0 <= again.accuracy(sentences) <= 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\tN\tO\tO\nb\0\tN\tO\tO\n", "line 2: .* NUL"),
        ("a\tN\tE-PER\tO\n", "line 1: expected an entity label among O"),
    ],
)
def test_odd_lines_are_named(tmp_path, text, words):
    (tmp_path / "odd.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_tagged(tmp_path / "odd.tsv", TASKS["joint"])


CONLLU = """1-2\tal\t_\t_\t_\t_\t_\t_\t_\t_
1\ta\ta\tADP\tE\t_\t3\tcase\t_\t_
2\til\til\tDET\tRD\t_\t3\tdet\t_\t_
2.1\tx\tx\tX\t_\t_\t_\t_\t1:dep\t_
3\tmare\tmare\tNOUN\tS\t_\t0\troot\t_\t_

"""


@pytest.mark.parametrize("comments", ["", "# sent_id = 1\n# text = al\tmare\n"])
def test_a_tagger_learns_words_and_universal_tags_from_conllu(tmp_path, comments):
    path = tmp_path / "train.conllu"
    path.write_text(2 * (comments + CONLLU), encoding="utf-8")
    assert read_tagged(path, TASKS["pos"]) == 2 * [Tagged(("a", "il", "mare"), ("ADP", "DET", "NOUN"))]
    with pytest.raises(InputError, match="joint needs entity labels"):
        read_tagged(path, TASKS["joint"])
    untagged = (line.split("\t") for line in CONLLU.split("\n"))
    path.write_text("\n".join("\t".join([*row[:3], "_", *row[4:]]) if row[1:] else "" for row in untagged))
    with pytest.raises(InputError, match="expected UPOS in column 4 of the CoNLL-U file, found none"):
        read_tagged(path, TASKS["pos"])


NAMED = """# text = Anna lives in New York .
1\tAnna\t_\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tNER=B-PER
2\tlives\t_\tVERB\tVBZ\t_\t0\troot\t_\t_
3\tin\t_\tADP\tIN\t_\t4\tcase\t_\tStart
4-5\tNewYork\t_\t_\t_\t_\t_\t_\t_\tNER=no
4\tNew\t_\tPROPN\tNNP\tNumber=Sing\t2\tobl\t_\tNER=B-LOC
5\tYork\t_\tPROPN\tNNP\tNumber=Sing\t4\tflat\t_\tSpaceAfter=No|NER=I-LOC
6\t.\t_\tPUNCT\t.\t_\t2\tpunct\t_\tNER=

"""


def test_tags_are_a_column_of_conllu_or_a_key_of_its_last_one(tmp_path):
    path = tmp_path / "named.conllu"
    path.write_text(NAMED, encoding="utf-8")
    expected = {
        "UPOS": "PROPN VERB ADP PROPN PROPN PUNCT",
        "XPOS": "NNP VBZ IN NNP NNP .",
        "FEATS": "Number=Sing _ _ Number=Sing Number=Sing _",
        "DEPREL": "nsubj root case obl flat punct",
        "NER": "B-PER O O B-LOC I-LOC O",
        "SpaceAfter": "O O O O No O",
    }
    for column, tags in expected.items():
        (sentence,) = read_tagged(path, replace(TASKS["pos"], column=column))
        assert sentence.tags == tuple(tags.split())
        assert sentence.words == ("Anna", "lives", "in", "New", "York", ".")
    with pytest.raises(InputError, match=r"no column 'Entity': expected UPOS, .* or a key of MISC \(NER, SpaceAfter\)"):
        read_tagged(path, replace(TASKS["pos"], column="Entity"))
    path.write_text("a\tX\n", encoding="utf-8")
    with pytest.raises(InputError, match="the option column needs a file in CoNLL-U"):
        read_tagged(path, replace(TASKS["pos"], column="XPOS"))
    with pytest.raises(InputError, match=r"-train\.conllu, found none"):
        read_corpus(tmp_path, TASKS["pos"], "train")
    (tmp_path / "xx-ud-train.conllu").write_text(NAMED, encoding="utf-8")
    assert read_corpus(tmp_path, replace(TASKS["pos"], column="NER"), "train")[0].tags[0] == "B-PER"
    assert read_corpus(tmp_path, TASKS["pos"], "train")[0].tags[0] == "PROPN"

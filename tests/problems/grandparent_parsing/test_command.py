"""Training, solving and parsing from the command line, on a small language."""

import dataclasses
import io
import json
import sys

import pytest

from colgen.certificate.checker import TRUSTED
from colgen.cli.arguments import NOT_PROVED
from colgen.cli.main import main
from colgen.problems.dependency import MiraLearner, MiraSettings, Weights, parse_conll, read_conll, write_conll
from colgen.problems.dependency.evaluation import attachment
from colgen.problems.grandparent_parsing import parse, random, write
from colgen.problems.grandparent_parsing.training import accuracy, train
from tests.problems.dependency.treebank import labelled, sentences


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("treebank")
    for seed, (kind, count) in enumerate((("train", 60), ("dev", 10), ("test", 10))):
        write_conll(map(labelled, sentences(count, seed)), path / f"xx-ud-{kind}.conllu")
    return path


@pytest.fixture(scope="module")
def model(folder):
    path = folder / "model"
    arguments = ["train", "grandparent_parsing", "--data", str(folder), "--model", str(path), "--option", "epochs=3"]
    assert main(arguments) == 0
    assert not (folder / "model.training").exists()
    return path


def test_train_from_files(folder, tmp_path, capsys):
    arguments = ["--train", str(folder / "xx-ud-train.conllu"), "--dev", str(folder / "xx-ud-dev.conllu")]
    arguments += ["--model", str(tmp_path / "m"), "--quick", "--json", "-", "--option", "parts=grandparents"]
    assert main(["train", "grandparent_parsing", *arguments]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert "tune.accuracy" in json.dumps(figures)


def test_a_sentence_is_solved(folder, model, capsys):
    path = folder / "xx-ud-test.conllu"
    assert main(["solve", "grandparent_parsing", str(path), "--model", str(model), "--option", "sentence=2"]) == 0
    shown = capsys.readouterr().out
    assert read_conll(path)[1].forms[0] in shown


def test_scores_are_solved(tmp_path, capsys):
    write(random(5, 0), tmp_path / "scores.npz")
    assert main(["solve", "grandparent_parsing", str(tmp_path / "scores.npz"), "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["answer"]) == 5


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--option", "sentence=99"], "has 10 sentences"),
        (["--option", "sentence=x"], "integer"),
        (["--option", "word=1"], "there is no option"),
        (["--option", "best=0"], "option best: expected an integer ≥ 1, not '0'"),
        (["--option", "best=few"], "option best: expected an integer"),
        (["--option", "projective=maybe"], "option projective: expected yes or no, not 'maybe'"),
        (["--option", "roots=two"], "option roots: expected one or any, not 'two'"),
        (["--option", "roots=two", "--option", "sentence=1"], "option roots: expected one or any, not 'two'"),
    ],
)
def test_impossible_options(folder, model, arguments, says, capsys):
    path = str(folder / "xx-ud-test.conllu")
    assert main(["solve", "grandparent_parsing", path, "--model", str(model), *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_text_needs_a_model(folder, capsys):
    assert main(["solve", "grandparent_parsing", str(folder / "xx-ud-test.conllu")]) == 2
    assert "colgen train grandparent_parsing" in capsys.readouterr().err


@pytest.mark.parametrize("piped", [False, True])
def test_all_sentences_are_parsed(folder, model, piped, monkeypatch, capsys):
    path = folder / "xx-ud-test.conllu"
    arguments = [str(path), "--model", str(model)]
    if piped:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        arguments = [str(model)]
    assert main(["solve", "grandparent_parsing", *arguments]) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("colgen: 10 instances, 10 proved optimal, ")
    parsed, given = list(parse_conll(shown.out.splitlines())), read_conll(path)
    assert [sentence.forms for sentence in parsed] == [sentence.forms for sentence in given]
    weights = Weights.load(model)
    assert [sentence.heads for sentence in parsed] == [parse(weights.scorer(sentence)).heads for sentence in given]
    expected = [weights.labels.of(weights.vocabulary.encode(each), each.heads) for each in parsed]
    assert [sentence.relations for sentence in parsed] == expected
    reached = attachment(zip(given, parsed, strict=True))
    assert reached.uas >= reached.las > 0.8 * reached.uas


def test_one_sentence_and_all_of_them_agree(folder, model, tmp_path, capsys):
    path, out = folder / "xx-ud-test.conllu", tmp_path / "out.jsonl"
    assert main(["solve", "grandparent_parsing", str(path), "--model", str(model), "--json", str(out)]) == 0
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    arguments = ["--model", str(model), "--option", "sentence=7", "--json", str(out)]
    assert main(["solve", "grandparent_parsing", str(path), *arguments]) == 0
    one = json.loads(out.read_text(encoding="utf-8"))
    assert one["answer"] == records[6]["answer"]
    assert all(word["relation"] for word in one["answer"])
    assert one["objective"] == pytest.approx(records[6]["objective"])


@pytest.mark.parametrize("options", [{"projective": True}, {"single_root": True}, {"single_root": False}])
def test_the_kind_of_trees_is_chosen(folder, model, options, tmp_path, capsys):
    path, out = folder / "xx-ud-test.conllu", tmp_path / "out.jsonl"
    said = {
        "projective": {True: "projective=yes", False: "projective=no"},
        "single_root": {True: "roots=one", False: "roots=any"},
    }
    arguments = ["solve", "grandparent_parsing", str(path), "--model", str(model), "--json", str(out)]
    for name, value in options.items():
        arguments += ["--option", said[name][value]]
    assert main(arguments) == 0
    weights, given = Weights.load(model), read_conll(path)
    expected = [parse(weights.scorer(sentence), **options) for sentence in given]
    parsed = list(parse_conll(capsys.readouterr().out.splitlines()))
    assert [sentence.heads for sentence in parsed] == [found.heads for found in expected]
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [record["objective"] for record in records] == pytest.approx([found.score for found in expected])
    assert all(sentence.is_projective for sentence in parsed) or not options.get("projective")
    assert main([*arguments, "--option", "sentence=4"]) == 0
    one = json.loads(out.read_text(encoding="utf-8"))
    assert one["objective"] == pytest.approx(expected[3].score)
    assert tuple(word["head"] for word in one["answer"]) == expected[3].heads


def test_several_trees_of_sentences(folder, model, tmp_path, capsys):
    path, out = folder / "xx-ud-test.conllu", tmp_path / "out.jsonl"
    arguments = ["solve", "grandparent_parsing", str(path), "--model", str(model), "--json", str(out)]
    arguments += ["--option", "best=3", "--option", "projective=yes"]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("colgen: 10 instances, 10 proved optimal, ")
    trees, weights = list(parse_conll(shown.out.splitlines())), Weights.load(model)
    assert sum(line.startswith("# tree ") for line in shown.out.splitlines()) == len(trees)
    assert "not proved" not in shown.out
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for sentence, record in zip(read_conll(path), records, strict=True):
        expected = parse(weights.scorer(sentence), k=3, projective=True)
        own, trees = trees[: len(expected)], trees[len(expected) :]
        assert [tree.heads for tree in own] == [each.heads for each in expected]
        encoded = weights.vocabulary.encode(sentence)
        assert [tree.relations for tree in own] == [weights.labels.of(encoded, each.heads) for each in expected]
        assert [tuple(word["head"] for word in tree) for tree in record["answer"]] == [tree.heads for tree in own]
        assert [tuple(word["relation"] for word in tree) for tree in record["answer"]] == [
            tree.relations for tree in own
        ]
        assert record["objective"] == pytest.approx(expected[-1].score)
    assert not trees
    assert main([*arguments, "--option", "sentence=2", "--picture", str(tmp_path / "tree.svg")]) == 0
    shown = capsys.readouterr().out
    assert "# tree 1 of 3, score " in shown
    assert "# tree 3 of 3, score " in shown
    assert "Proved optimal." in shown
    assert (tmp_path / "tree.svg").stat().st_size > 1000
    one = json.loads(out.read_text(encoding="utf-8"))
    assert one["answer"] == records[1]["answer"]


def test_trees_at_a_limit_are_marked_as_unproved(folder, model, capsys):
    arguments = ["solve", "grandparent_parsing", str(folder / "xx-ud-test.conllu"), "--model", str(model)]
    assert main([*arguments, "--option", "best=4", "--time-limit", "0"]) == NOT_PROVED
    shown = capsys.readouterr()
    assert ", not proved" in shown.out
    assert shown.err.startswith("colgen: 10 instances, 0 proved optimal")


def test_scores_of_projective_trees(tmp_path, capsys):
    instance = dataclasses.replace(random(5, 3, siblings=True), projective=True)
    write(instance, tmp_path / "scores.npz")
    assert main(["solve", "grandparent_parsing", str(tmp_path / "scores.npz"), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["objective"] == pytest.approx(parse(instance).score)
    assert tuple(word["head"] for word in found["answer"]) == parse(instance).heads
    paired = dataclasses.replace(random(4, 0, pairs=True), projective=True)
    write(paired, tmp_path / "pairs.npz")
    assert main(["solve", "grandparent_parsing", str(tmp_path / "pairs.npz"), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["objective"] == pytest.approx(parse(paired).score)


@pytest.mark.parametrize("siblings", [False, True])
def test_certificates_of_projective_trees(siblings, tmp_path, capsys):
    """Without siblings the checker supports them; with siblings the certificate contains trusted claims."""
    instance = dataclasses.replace(random(6, 1, siblings=siblings), projective=True)
    write(instance, tmp_path / "scores.npz")
    certificate = str(tmp_path / "proof")
    assert main(["solve", "grandparent_parsing", str(tmp_path / "scores.npz"), "--certificate", certificate]) == 0
    capsys.readouterr()
    assert main(["check", certificate]) == (TRUSTED if siblings else 0)
    told = capsys.readouterr().out
    assert ("trusted" in told.replace("0 trusted", "")) == siblings


def test_unreadable_input_keeps_earlier_parses(folder, model, monkeypatch, capsys):
    text = (folder / "xx-ud-dev.conllu").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{text}1\tword\n\n"))
    assert main(["solve", "grandparent_parsing", str(model)]) == 2
    shown = capsys.readouterr()
    assert len(list(parse_conll(shown.out.splitlines()))) == 10
    where = f"line {len(text.splitlines()) + 1}"
    assert shown.err.splitlines()[1] == (
        f"colgen: the standard input, {where}: expected 10 columns separated by tabs, got 2"
    )


def test_the_best_epoch_on_the_tuning_sentences_is_kept(folder):
    learn, tune = read_conll(folder / "xx-ud-train.conllu"), read_conll(folder / "xx-ud-dev.conllu")
    told = []
    best = train(learn, MiraSettings(epochs=4, kinds=()), tune=tune, say=told.append)
    each = [train(learn, MiraSettings(epochs=k, kinds=())) for k in (1, 2, 3, 4)]
    reached = [accuracy(tune, weights) for weights in each]
    assert accuracy(tune, best) == max(reached)
    assert told[reached.index(max(reached))].endswith("on the development data, the best so far")


def test_an_interrupted_training_continues(folder, tmp_path, monkeypatch):
    learn, tune = read_conll(folder / "xx-ud-train.conllu"), read_conll(folder / "xx-ud-dev.conllu")
    settings, told = MiraSettings(epochs=3, kinds=()), []
    whole = train(learn, settings, tune=tune)
    learn_some = MiraLearner.learn

    def interrupted(self, examples):
        if self.steps > 2 * len(learn):
            raise KeyboardInterrupt
        return learn_some(self, examples)

    monkeypatch.setattr(MiraLearner, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(learn, settings, tune=tune, state=tmp_path / "state", say=told.append)
    assert told[-1].endswith("state has the state after the last pass: repeat the command to continue from there")
    monkeypatch.setattr(MiraLearner, "learn", learn_some)
    resumed = train(learn, settings, tune=tune, state=tmp_path / "state", say=told.append)
    assert any(line == "trees: continuing after pass 2 of 3" for line in told)
    assert accuracy(tune, resumed) == accuracy(tune, whole)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("aggressiveness=0", "option aggressiveness: expected a positive number, not '0'"),
        ("parts=all", "option parts: expected"),
        ("epochs=x", "option epochs: expected an integer"),
        ("speed=2", "there is no option 'speed'"),
    ],
)
def test_options_of_training_are_checked(folder, tmp_path, option, says, capsys):
    arguments = ["--data", str(folder), "--model", str(tmp_path / "m"), "--option", option]
    assert main(["train", "grandparent_parsing", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_training_refuses_sentences_without_heads(folder, tmp_path, capsys):
    bare = tmp_path / "bare.conllu"
    write_conll([dataclasses.replace(sentences(1, 0)[0], heads=None)], bare)
    arguments = ["--train", str(folder / "xx-ud-train.conllu"), "--dev", str(bare), "--model", str(tmp_path / "m")]
    assert main(["train", "grandparent_parsing", *arguments]) == 2
    assert "tuning sentence 1 has no heads" in capsys.readouterr().err

"""Training, solving and parsing from the command line, on a small language."""

import io
import json
import sys

import pytest

from colgen.cli import main
from problems.dependency import parse_conll, read_conll, write_conll
from problems.grandparent_parsing import __main__ as module
from problems.grandparent_parsing import random, write
from problems.grandparent_parsing.demo import short_sentence
from tests.problems.dependency.treebank import sentences


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("treebank")
    for seed, (kind, count) in enumerate((("train", 60), ("dev", 10), ("test", 10))):
        write_conll(sentences(count, seed), path / f"xx-ud-{kind}.conllu")
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
        (["--option", "sentence=x"], "whole number"),
        (["--option", "word=1"], "there is no option"),
    ],
)
def test_impossible_options(folder, model, arguments, says, capsys):
    path = str(folder / "xx-ud-test.conllu")
    assert main(["solve", "grandparent_parsing", path, "--model", str(model), *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_text_needs_a_model(folder, capsys):
    assert main(["solve", "grandparent_parsing", str(folder / "xx-ud-test.conllu")]) == 2
    assert "colgen train grandparent_parsing" in capsys.readouterr().err


def test_a_file_is_parsed(folder, model, monkeypatch, capsysbinary):
    text = (folder / "xx-ud-test.conllu").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    target = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(target))
    assert module.main([str(model)]) == 0
    parsed = list(parse_conll(target.getvalue().decode().splitlines()))
    given = read_conll(folder / "xx-ud-test.conllu")
    assert [sentence.forms for sentence in parsed] == [sentence.forms for sentence in given]
    assert all(sentence.heads is not None for sentence in parsed)


def test_a_wrong_call_says_how(capsys):
    assert module.main([]) == 2
    assert "usage" in capsys.readouterr().err


def test_demo():
    (line,) = short_sentence()
    assert line.brute_force_objective is None or line.objective == pytest.approx(line.brute_force_objective)
    assert line.columns_used <= line.columns_possible

"""From raw text to trees on the command line, on a small language."""

import io
import json
import sys

import numpy as np
import pytest

from benchmarks.harness import BenchOptions
from benchmarks.pipeline.bench import bench_pipeline
from colgen.cli import template
from colgen.cli.main import main
from colgen.problems.dependency import parse_conll, write_conll
from colgen.problems.pipeline import Pipeline, compare, paragraphs_of
from colgen.problems.pipeline.command import TEMPLATE
from colgen.problems.pipeline.model import tags_of
from colgen.problems.pipeline.texts import text_of
from tests.problems.dependency.treebank import labelled, sentences

TEXT = "the old cat sees a dog .\n\na tree sees the house\nin the dog .\n"


def ending(sentence):
    """The sentence with a full stop at its end."""
    root = sentence.heads.index(0) + 1
    return type(sentence)(
        (*sentence.forms, "."),
        (*sentence.lemmas, "."),
        (*sentence.coarse, "S"),
        (*sentence.fine, "_"),
        (*sentence.morphology, {}),
        (*sentence.heads, root),
    )


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """Entry points are read when the distribution is installed."""
    load = template.load_template
    monkeypatch.setattr(template, "load_template", lambda name: TEMPLATE if name == "pipeline" else load(name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("treebank")
    for seed, (kind, count) in enumerate((("train", 80), ("dev", 10), ("test", 10))):
        write_conll((labelled(ending(s)) for s in sentences(count, seed)), path / f"xx-ud-{kind}.conllu")
    return path


@pytest.fixture(scope="module")
def model(folder):
    path = folder / "model.npz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "load_template", lambda name: TEMPLATE)
        arguments = ["--data", str(folder), "--model", str(path), "--option", "epochs=3"]
        assert main(["train", "pipeline", *arguments, "--json", str(folder / "figures.json")]) == 0
    return path


def test_training_measures_each_step(folder, model):
    figures = {figure["name"]: figure["value"] for figure in json.loads((folder / "figures.json").read_text())}
    assert figures["test.tokens"] == figures["test.sentences"] == figures["test.words"] == pytest.approx(100)
    assert figures["test.all_tags"] > 95
    assert figures["test.lemmas"] > 95
    assert figures["test.las"] > 60


def test_a_text_becomes_trees(model, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert main(["solve", "pipeline", str(model)]) == 0
    out, err = capsys.readouterr()
    found = list(parse_conll(out.split("\n"), single_root=True))
    assert [sentence.forms for sentence in found] == [
        ("the", "old", "cat", "sees", "a", "dog", "."),
        ("a", "tree", "sees", "the", "house", "in", "the", "dog", "."),
    ]
    assert found[0].coarse == ("D", "A", "N", "V", "D", "N", "S")
    assert found[0].morphology[2] == {"Number": "Sing"}
    assert None not in (found[0].heads, found[0].relations)
    assert out.startswith("# newpar\n# text = the old cat")
    assert "2 proved optimal (the tags given the words, the tree given the tags)" in err


def test_one_sentence_is_solved_with_a_report(model, tmp_path, capsys):
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    arguments = [str(tmp_path / "text"), "--model", str(model), "--option"]
    assert main(["solve", "pipeline", *arguments, "sentence=2"]) == 0
    out, _ = capsys.readouterr()
    assert "house" in out
    assert "Proved optimal" in out
    assert main(["solve", "pipeline", *arguments, "sentence=3"]) == 2
    assert "has 2 sentences, there is no number 3" in capsys.readouterr().err
    assert main(["solve", "pipeline", str(tmp_path / "text")]) == 2
    assert "colgen train pipeline" in capsys.readouterr().err


def test_a_pipeline_survives_its_file(folder, model):
    pipeline = Pipeline.load(model)
    pipeline.save(folder / "again.npz")
    with np.load(model) as first, np.load(folder / "again.npz") as second:
        assert first.files == second.files
        for name in first.files:
            np.testing.assert_array_equal(first[name], second[name])
    assert main(["solve", "pipeline", str(folder / "xx-ud-test.conllu"), "--model", str(folder / "figures.json")]) == 2


def test_analysis_keeps_all_characters(model):
    pipeline = Pipeline.load(model)
    odd = "The  cat\u00a0sees... \u201cdogs\u201d (3.5%)!\n http://a.b/c?d \U0001f600 x@y.z"
    found = [one.sentence for one in pipeline.analyse([odd, "", "a"])]
    text = " ".join(text_of(paragraph) for paragraph in paragraphs_of(found))
    assert "".join(text.split()) == "".join(odd.split()) + "a"
    again = list(parse_conll(line for one in found for line in [*one.lines, ""]))
    assert compare(found, again).words == pytest.approx(100)
    assert [tags_of(one) for one in again] == [tags_of(one) for one in found]


def test_the_benchmark_measures_each_step(folder):
    figures = bench_pipeline(BenchOptions(data=folder, quick=True, say=lambda line: None))
    names = {figure.name for figure in figures}
    assert len(names) == len(figures)
    assert {"tokens", "las", "proved", "words_per_second", "words_per_second_trees", "training_seconds"} <= names
    assert {figure.name: figure.value for figure in figures}["proved"] == pytest.approx(100)

"""The command line: files, options, output; and the experiment, if treebanks are available."""

import dataclasses
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness import BenchOptions
from benchmarks.nonlocal_parsing.bench import bench_nonlocal_parsing
from benchmarks.nonlocal_parsing.search import compare_with_mip, measure_kernels, measure_speed, parse_instance
from colgen import InputError, solve
from colgen.cli.bench import train_model
from colgen.cli.main import main
from colgen.cli.option import option_values
from colgen.cli.template import Material, TrainOptions
from colgen.problems.dependency.conll import parse_conll, read_conll, write_conll
from colgen.problems.dependency.corpus import read_corpus
from colgen.problems.dependency.evaluation import attachment
from colgen.problems.nonlocal_parsing import NonlocalParsing, random, write
from colgen.problems.nonlocal_parsing.command import TEMPLATE, bracketed, num_trees
from colgen.problems.nonlocal_parsing.learning import NonlocalSettings
from colgen.problems.nonlocal_parsing.scoring import Model
from colgen.problems.nonlocal_parsing.training import NEEDED, parse_settings, train_from_files
from tests.cli.stub import scored
from tests.problems.dependency.treebank import labelled
from tests.problems.nonlocal_parsing.trees import made_up_sentences
from tests.solvers.projective import all_trees

DATA = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A treebank of generated sentences."""
    path = tmp_path_factory.mktemp("treebank")
    for kind, number, seed in (("train", 60, 0), ("dev", 10, 1), ("test", 12, 2)):
        write_conll(map(labelled, made_up_sentences(number, seed)), path / f"xx-ud-{kind}.conllu")
    return path


def test_scores_are_solved_and_shown(tmp_path):
    write(random(5, 0), tmp_path / "scores.npz")
    instance = TEMPLATE.instance(tmp_path / "scores.npz")
    result = solve(TEMPLATE.problem(instance))
    assert len(TEMPLATE.lines(instance, result.answer)) == 5
    assert [word["head"] for word in TEMPLATE.data(instance, result.answer)] == list(result.answer)


def test_a_text_needs_a_model(folder):
    with pytest.raises(InputError, match="colgen train nonlocal_parsing"):
        TEMPLATE.instance(folder / "xx-ud-test.conllu")
    with pytest.raises(InputError, match="No such file"):
        TEMPLATE.instance(folder / "nothing.txt")


def test_training_then_parsing(folder, tmp_path, monkeypatch, capsys):
    model = tmp_path / "model.npz"
    figures = {
        f.name: f.value
        for f in train_model(train_from_files, TrainOptions(folder, model, quick=True, say=lambda s: None))
    }
    assert figures["test.accuracy"] > 90.0
    assert figures["test.accuracy"] >= figures["test.las"] > 80.0
    assert figures["sentences"] == 60
    instance = scored(TEMPLATE, Material(folder / "xx-ud-test.conllu"), model, {"sentence": "3", "candidates": "all"})
    result = solve(TEMPLATE.problem(instance))
    gold = made_up_sentences(12, 2)[2]
    assert instance.words == gold.forms
    assert np.mean([a == b for a, b in zip(result.answer, gold.heads, strict=True)]) > 0.7
    for options, sentence in (
        ({"sentence": "99"}, "no number 99"),
        ({"sentence": "x"}, "integer"),
        ({"candidates": "0"}, "integer"),
        ({"depth": "1"}, "no option 'depth'"),
    ):
        with pytest.raises(InputError, match=sentence):
            scored(TEMPLATE, Material(folder / "xx-ud-test.conllu"), model, options)

    path, out = folder / "xx-ud-test.conllu", tmp_path / "out.jsonl"
    assert main(["solve", "nonlocal_parsing", str(path), "--model", str(model), "--json", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("colgen: 12 instances, 12 proved optimal, ")
    parsed = list(parse_conll(shown.out.splitlines()))
    assert [sentence.forms for sentence in parsed] == [sentence.forms for sentence in read_conll(path)]
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [[word["head"] for word in r["answer"]] for r in records] == [list(sentence.heads) for sentence in parsed]
    relations = [[word["relation"] for word in r["answer"]] for r in records]
    assert relations == [list(sentence.relations) for sentence in parsed]
    assert attachment(zip(read_conll(path), parsed, strict=True)).las == pytest.approx(figures["test.las"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert main(["solve", "nonlocal_parsing", str(model), "--quiet"]) == 0
    assert capsys.readouterr().out == shown.out


@pytest.fixture(scope="module")
def small_model(folder, tmp_path_factory):
    """A model of arcs and one family."""
    path = tmp_path_factory.mktemp("model") / "model"
    options = {"backbone": "first", "families": "siblings+combs", "epochs": 1, "family-epochs": 1, "least": 1}
    train_model(train_from_files, TrainOptions(folder, path, quick=True, say=lambda s: None, options=options))
    return path


def test_options_of_training(folder, small_model, tmp_path):
    model = Model.load(small_model)
    assert (model.backbone, model.families) == ("first", ("siblings", "combs"))
    file = folder / "xx-ud-train.conllu"
    options = TrainOptions(folder, tmp_path / "m", train=file, options={"families": "none", "candidates": 4})
    assert parse_settings(options) == NonlocalSettings(families=(), candidates=4)
    train_model(train_from_files, dataclasses.replace(options, quick=True, say=lambda s: None))
    assert Model.load(tmp_path / "m").families == ()
    for given in ({"backbone": "fourth"}, {"families": "cousins"}, {"least": "0"}, {"epochs": "many"}):
        with pytest.raises(InputError, match=f"option {next(iter(given))}"):
            parse_settings(TrainOptions(folder, small_model, options=option_values(given, TEMPLATE.train_options)))


def test_proofs_refer_to_the_candidates(folder, small_model, tmp_path, capsys):
    """A sentence with few candidate heads is reported as proved among these candidates only."""
    path, out = folder / "xx-ud-test.conllu", tmp_path / "out.jsonl"
    command = ["solve", "nonlocal_parsing", str(path), "--model", str(small_model), "--json", str(out)]
    assert main([*command, "--option", "candidates=2"]) == 5
    assert "12 instances, 12 proved optimal among two candidate heads per word, " in capsys.readouterr().err
    scopes = {json.loads(line)["scope"] for line in out.read_text(encoding="utf-8").splitlines()}
    assert scopes == {"among two candidate heads per word"}
    assert main(command) == 0  # ten candidates: the sentences are shorter
    assert "12 proved optimal, " in capsys.readouterr().err
    assert {json.loads(line)["scope"] for line in out.read_text(encoding="utf-8").splitlines()} == {None}
    assert main([*command, "--option", "candidates=1", "--option", "sentence=1"]) == 5
    assert "Proved optimal among one candidate head per word.\n" in capsys.readouterr().out
    assert json.loads(out.read_text(encoding="utf-8"))["scope"] == "among one candidate head per word"
    assert main([*command, "--option", "candidates=1", "--option", "sentence=1", "--time-limit", "0"]) in (1, 3, 5)
    assert "among one candidate head per word" in capsys.readouterr().out


def test_a_tree_of_few_candidates_is_proved_among_all_heads(folder, small_model, tmp_path, capsys):
    path, out = folder / "xx-ud-test.conllu", tmp_path / "out.jsonl"
    command = ["solve", "nonlocal_parsing", str(path), "--model", str(small_model), "--json", str(out)]

    def objectives():
        return [json.loads(line)["objective"] for line in out.read_text(encoding="utf-8").splitlines()]

    assert main([*command, "--option", "candidates=all"]) == 0
    expected = objectives()
    capsys.readouterr()
    assert main([*command, "--option", "candidates=2", "--all-heads"]) == 0
    assert "12 instances, 12 proved optimal, " in capsys.readouterr().err
    assert objectives() == pytest.approx(expected)
    assert main([*command, "--option", "candidates=2", "--option", "best=3", "--all-heads"]) == 0
    assert main([*command, "--option", "all_heads=perhaps"]) == 2
    assert "expected yes or no" in capsys.readouterr().err
    assert main(["solve", "cutting_stock", str(path), "--all-heads"]) == 2
    assert "--all-heads" in capsys.readouterr().err


def test_malformed_sentences_are_skipped(folder, small_model, tmp_path, capsys):
    text = (folder / "xx-ud-test.conllu").read_text(encoding="utf-8")
    (tmp_path / "bad.conllu").write_text("1\tword\n\n" + text, encoding="utf-8")
    command = ["solve", "nonlocal_parsing", str(tmp_path / "bad.conllu"), "--model", str(small_model)]
    assert main(command) == 2
    assert main([*command, "--skip-bad"]) == 0
    err = capsys.readouterr().err
    assert "line 1: expected 10 columns separated by tabs, got 2; the sentence is skipped" in err
    assert "12 instances" in err
    assert main(["solve", "nonlocal_parsing", str(tmp_path / "bad.conllu"), "--skip-bad"]) == 2


def test_several_trees_of_sentences(folder, small_model, tmp_path, capsys):
    path, out = folder / "xx-ud-test.conllu", tmp_path / "out.jsonl"
    command = ["solve", "nonlocal_parsing", str(path), "--model", str(small_model), "--json", str(out)]
    assert main([*command, "--option", "best=3", "--option", "candidates=all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    gold, model = read_conll(path), Model.load(small_model)
    trees = list(parse_conll(lines))
    assert len(trees) == sum(line.startswith("# tree ") for line in lines) == 3 * len(gold)
    records = [json.loads(line)["answer"] for line in out.read_text(encoding="utf-8").splitlines()]
    for number, sentence in enumerate(gold):
        expected = solve(NonlocalParsing(model.instance(sentence, None), k=3)).answer
        assert [tree.heads for tree in trees[3 * number : 3 * number + 3]] == expected
        assert [tuple(word["head"] for word in tree) for tree in records[number]] == expected
    assert main([*command, "--option", "best=2", "--option", "sentence=2"]) == 0
    shown = capsys.readouterr().out
    assert "# tree 1 of 2, score " in shown
    assert "# tree 2 of 2, score " in shown
    with pytest.raises(InputError, match="option best"):
        scored(TEMPLATE, Material(path), small_model, {"best": "none", "sentence": "1"})


@pytest.mark.parametrize("best", [1, 2])
@pytest.mark.parametrize("kind", [{"projective": False}, {"single_root": False}, {"projective": True}])
def test_the_kind_of_trees_is_chosen(folder, small_model, kind, best, tmp_path, capsys):
    path, out = folder / "xx-ud-test.conllu", tmp_path / "out.jsonl"
    said = {"projective": {True: "projective=yes", False: "projective=no"}, "single_root": {False: "roots=any"}}
    ((name, value),) = kind.items()
    command = ["solve", "nonlocal_parsing", str(path), "--model", str(small_model), "--json", str(out)]
    command += ["--option", said[name][value], "--option", f"best={best}", "--option", "candidates=all"]
    assert main(command) == 0
    model = Model.load(small_model)
    expected = []
    for sentence in read_conll(path):
        instance = dataclasses.replace(model.instance(sentence, None), **kind)
        expected.append(solve(NonlocalParsing(instance, k=best)))
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [record["objective"] for record in records] == pytest.approx([result.objective for result in expected])
    assert main([*command, "--option", "sentence=3"]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["objective"] == pytest.approx(expected[2].objective)
    few = [option.replace("candidates=all", "candidates=2") for option in command]
    assert main([*few, "--all-heads"]) == 0
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [record["objective"] for record in records] == pytest.approx([result.objective for result in expected])


def test_unsupported_kinds_of_trees_raise(folder, small_model, tmp_path, capsys):
    path, model = folder / "xx-ud-test.conllu", tmp_path / "model"
    options = {"backbone": "sibling", "families": "none", "epochs": 1, "least": 1}
    train_model(train_from_files, TrainOptions(folder, model, quick=True, say=lambda s: None, options=options))
    command = ["solve", "nonlocal_parsing", str(path), "--model"]
    assert main([*command, str(model), "--option", "projective=no"]) == 2
    assert "requires a model of arcs and factors" in capsys.readouterr().err
    assert main([*command, str(model), "--option", "projective=yes", "--option", "sentence=1"]) == 0
    for option, says in (("projective=1", "expected yes or no"), ("roots=1", "expected one or any")):
        capsys.readouterr()
        assert main([*command, str(small_model), "--option", option]) == 2
        assert says in capsys.readouterr().err


def test_a_corpus_needs_its_files(tmp_path):
    with pytest.raises(InputError, match="'train'"):
        read_corpus(tmp_path, NEEDED)


def test_the_experiment_runs(folder, tmp_path):
    figures = bench_nonlocal_parsing(
        BenchOptions(folder, quick=True, say=lambda s: None, plot=tmp_path / "picture.png")
    )
    values = {figure.name: figure.value for figure in figures}
    assert values["proved_k10"] == 100.0
    assert values["dp_calls_per_sentence_k10"] >= 1.0
    assert {"speedup_vs_mip", "words_per_second_k10", "words_per_second_unpruned"} <= values.keys()
    assert {f"las_{folder.name}", f"clas_{folder.name}"} <= values.keys()
    assert (tmp_path / "picture.png").stat().st_size > 1000
    with pytest.raises(InputError, match="--data"):
        bench_nonlocal_parsing(BenchOptions())


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not (DATA / "english_ewt").is_dir(), reason=f"no treebank in {DATA / 'english_ewt'}")
def test_the_experiment_on_a_treebank():
    figures = bench_nonlocal_parsing(BenchOptions(DATA, quick=True, say=lambda s: None))
    values = {figure.name: figure.value for figure in figures}
    assert values["proved_k10"] == 100.0
    assert values["accuracy_english_ewt_combination"] > 50.0


def test_figures_of_runs():
    runs = [parse_instance(random(5, seed, num_factors=20)) for seed in range(3)]
    values = {figure.name: figure.value for figure in measure_speed(runs, "x")}
    assert values["proved_x"] == 100.0
    assert values["worst_gap_x"] == 0.0
    assert values["dp_calls_per_sentence_x"] == pytest.approx(np.mean([r.calls for r in runs]))
    (quotient, proved) = compare_with_mip([random(5, 1, num_factors=10)], 10.0)
    assert quotient.value > 0.0
    assert proved.value == 100.0
    assert {f.name for f in measure_kernels((5, 8), repeats=1)} >= {
        "sentences_per_second_first",
        "growth_exponent_third",
    }


def test_the_planted_factor_changes_the_tree():
    instance = bracketed()
    without = solve(NonlocalParsing(type(instance)(instance.parts, words=instance.words)))
    assert without.answer != solve(NonlocalParsing(instance)).answer


@pytest.mark.parametrize("n", range(1, 6))
def test_the_number_of_trees(n):
    assert num_trees(n) == len(all_trees(n))

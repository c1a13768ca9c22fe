"""The command line: train, solve, demo and benchmark."""

import io
import json

import numpy as np
import pytest

from benchmarks.chain_map.bench import bench_chain_map
from benchmarks.harness import BenchOptions
from colgen.cli.bench import train_model
from colgen.cli.main import main
from colgen.cli.option import option_values
from colgen.cli.template import TrainOptions
from colgen.core.errors import InputError
from colgen.problems.chain_map import random
from colgen.problems.chain_map.training import OPTIONS, train_from_folder
from tests.problems.chain_map.sentences import write_corpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def model(folder):
    path = folder / "model.npz"
    assert main(["train", "chain_map", "--data", str(folder), "--model", str(path), "--option", "task=joint"]) == 0
    return path


def test_text_on_the_standard_input_is_tagged(model, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("the old walker sees Anna\n\nBen runs\n"))
    assert main(["solve", "chain_map", str(model)]) == 0
    shown = capsys.readouterr()
    assert shown.out == "the/D|O old/A|O walker/N|O sees/V|O Anna/P|B-PER\nBen/P|B-PER runs/V|O\n"
    assert shown.err.startswith("colgen: 2 instances, 2 proved optimal, ")


def test_batches_equal_single_sentences(model, tmp_path, capsys, monkeypatch):
    text = tmp_path / "text.txt"
    text.write_text("the old walker sees Anna\nBen runs\nDora paints every garden\n" * 3)
    monkeypatch.setattr("colgen.problems.chain_map.command.BATCH", 4)
    assert main(["solve", "chain_map", str(text), "--model", str(model), "--quiet"]) == 0
    tagged = capsys.readouterr().out.splitlines()
    assert len(tagged) == 9
    for number in (1, 2, 9):
        arguments = ["solve", "chain_map", str(text), "--model", str(model), "--option", f"sentence={number}"]
        assert main(arguments) == 0
        report = capsys.readouterr().out.splitlines()
        assert report[0] == tagged[number - 1]
        assert "Proved optimal." in report
    assert main(["solve", "chain_map", str(text), "--model", str(model), "--option", "sentence=10"]) == 2
    assert "has 9 sentences, there is no number 10" in capsys.readouterr().err


def test_a_stopped_batch_is_reported(model, tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("Ben runs\nAnna sees Ben\n")
    assert main(["solve", "chain_map", str(text), "--model", str(model), "--time-limit", "0"]) in (0, 3)
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 2
    assert shown.err.startswith("colgen: 2 instances, ")


def test_a_text_file_is_tagged_and_bounds_are_written(model, tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("every garden\nDora paints\n")
    arguments = ["solve", "chain_map", str(text), "--model", str(model), "--option", "precision=double", "--json", "-"]
    assert main(arguments) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [record["answer"]["labels"] for record in records] == [["D|O", "N|O"], ["P|B-PER", "V|O"]]
    assert [record["answer"]["nodes"] for record in records] == [["every", "garden"], ["Dora", "paints"]]
    for record in records:
        assert record["objective"] == pytest.approx(record["dual_bound"])


def test_an_instance_is_solved(tmp_path, capsys):
    random(0, chains=2, length=3, labels=4).write(tmp_path / "chains.npz")
    assert main(["solve", "chain_map", str(tmp_path / "chains.npz")]) == 0
    assert "optimal" in capsys.readouterr().out.lower()


def test_bad_input_is_refused(model, tmp_path, capsys, monkeypatch):
    text = tmp_path / "text.txt"
    text.write_text("\n\n")
    assert main(["solve", "chain_map", str(text)]) == 2
    assert "colgen train chain_map" in capsys.readouterr().err
    assert main(["solve", "chain_map", str(text), "--model", str(model)]) == 2
    assert "text.txt: expected at least one instance" in capsys.readouterr().err
    assert main(["solve", "chain_map", str(text), "--model", str(model), "--option", "precision=half"]) == 2
    assert "single or double" in capsys.readouterr().err
    assert main(["solve", "chain_map", str(text), "--model", str(model), "--option", "colour=red"]) == 2
    assert "there is no option 'colour'" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["solve", "chain_map", str(model)]) == 2
    assert "the standard input: expected at least one instance" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task": "ner"}, "option task"),
        ({"learner": "forest"}, "option learner"),
        ({"epochs": "0"}, "option epochs"),
        ({"emission_l2": "-1", "learner": "svm"}, "option emission_l2"),
        ({"transition_l2": "x", "learner": "svm"}, "option transition_l2"),
        ({"transition_l2": "1"}, "learner=svm"),
        ({"speed": "fast"}, "no option 'speed'"),
    ],
)
def test_options_of_training_are_checked(folder, tmp_path, options, words):
    model = tmp_path / "m.npz"
    with pytest.raises(InputError, match=words):
        train_model(train_from_folder, TrainOptions(folder, model, options=option_values(options, OPTIONS)))
    assert not model.exists()


def test_single_files_train_too(folder, tmp_path):
    files = {"train": folder / "toy-train.tsv", "dev": folder / "toy-dev.tsv"}
    options = {"learner": "svm", "epochs": 3, "transition_l2": 1.0}
    figures = train_model(
        train_from_folder, TrainOptions(folder, tmp_path / "m.npz", say=[].append, options=options, **files)
    )
    assert [figure.name for figure in figures] == ["accuracy_dev", "seconds"]
    assert figures[0].value > 90.0


def test_a_treebank_trains_a_tagger_of_any_column(tmp_path, monkeypatch, capsys):
    treebank, model = tmp_path / "train.conllu", tmp_path / "ner.npz"
    rows = [("Anna", "B-PER"), ("sleeps", None), ("in", None), ("Paris", "B-LOC")]
    lines = [
        f"{k}\t{word}\t_\tX\t_\t_\t{k - 1}\tdep\t_\t{f'NER={tag}' if tag else '_'}"
        for k, (word, tag) in enumerate(rows, 1)
    ]
    treebank.write_text(4 * ("\n".join(lines) + "\n\n"), encoding="utf-8")
    command = ["train", "chain_map", "--train", str(treebank), "--dev", str(treebank), "--model", str(model)]
    assert main([*command, "--option", "column=NER"]) == 0
    assert "100" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("Anna in Paris\n"))
    assert main(["solve", "chain_map", str(model)]) == 0
    assert "Anna/B-PER in/O Paris/B-LOC" in capsys.readouterr().out
    assert main([*command, "--option", "column=NER", "--option", "task=joint"]) == 2
    assert "option column: expected without task=joint" in capsys.readouterr().err


def test_quick_benchmark_measures_everything(folder, tmp_path):
    picture = tmp_path / "bench.png"
    options = BenchOptions(folder, quick=True, say=[].append, plot=picture)
    figures = {figure.name: figure.value for figure in bench_chain_map(options)}
    for name in ("speedup_vs_viterbi_pos", "speedup_vs_viterbi_pos_double", "oracle_speedup_pos"):
        assert figures[name] > 0
    assert np.isfinite(figures["label_exponent_cg"])
    assert figures["exact_pos_cg"] == figures["exact_pos_cg_published"] == 100.0
    assert picture.stat().st_size > 10_000


def test_benchmark_needs_sentences():
    with pytest.raises(InputError, match="needs tagged sentences"):
        bench_chain_map(BenchOptions())

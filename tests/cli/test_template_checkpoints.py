"""A checkpoint of every template: the command writes one, and goes on from it to the same answer."""

import json

import numpy as np
import pytest

from colgen import Checkpoint, IterationLimit, solve
from colgen.cli.main import main
from colgen.cli.template import load_template, template_names
from colgen.problems.dependency import write_conll
from colgen.problems.grandparent_parsing import GrandparentInstance, GrandparentParsing
from colgen.problems.grandparent_parsing import random as random_sentence
from colgen.problems.grandparent_parsing import write as write_sentence
from tests.problems.dependency.treebank import random_weights, sentences


def solved(arguments, folder):
    """The exit code and the figures of a run."""
    code = main(["solve", *arguments, "--quiet", "--json", str(folder / "out.json")])
    return code, json.loads((folder / "out.json").read_text())


def tried(arguments, folder):
    """A run without a checkpoint, one that is cut short with it, one that goes on from it, and one after its end."""
    code, whole = solved(arguments, folder)
    assert code == 0
    checkpoint = ["--checkpoint", str(folder / "run")]
    assert solved([*arguments, *checkpoint, "--node-limit", "1"], folder)[0] in (0, 3)
    assert (folder / "run").exists()
    for _ in range(2):
        code, result = solved([*arguments, *checkpoint], folder)
        assert code == 0
        assert result["objective"] == pytest.approx(whole["objective"])
        assert result["termination"] == whole["termination"]


WITHOUT = {"chain_map": "ChainMAP does not support checkpoints"}


@pytest.mark.parametrize("name", WITHOUT)
def test_a_template_without_checkpoints_says_so(name, tmp_path, capsys):
    path = tmp_path / f"example{load_template(name).suffix}"
    load_template(name).example(path)
    assert main(["solve", name, str(path), "--checkpoint", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert WITHOUT[name] in said
    assert "\n" not in said.strip()
    assert main(["templates", name]) == 0
    assert "no checkpoints" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted({*template_names()} - {*WITHOUT}))
def test_the_example_of_a_template_is_resumed(name, tmp_path):
    template = load_template(name)
    path = tmp_path / f"example{template.suffix}"
    assert template.example is not None
    template.example(path)
    tried([name, str(path)], tmp_path)


PAIRS = np.zeros((5, 5, 5))
PAIRS[1, 2, 3] = PAIRS[0, 1, 4] = 2.0
SENTENCES = {
    "siblings": random_sentence(5, 1, siblings=True, strength=3.0),
    "projective": GrandparentInstance(random_sentence(5, 2).arcs, projective=True),
    "pairs": GrandparentInstance(random_sentence(4, 3).arcs, pair_scores=PAIRS),
    "projective, with pairs": GrandparentInstance(random_sentence(4, 3).arcs, pair_scores=PAIRS, projective=True),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_every_kind_of_a_sentence_is_resumed(name, tmp_path):
    write_sentence(SENTENCES[name], tmp_path / "sentence.npz")
    tried(["grandparent_parsing", str(tmp_path / "sentence.npz")], tmp_path)


@pytest.mark.parametrize("options", [[], ["--option", "projective=yes"], ["--option", "best=2"]])
def test_a_sentence_of_a_text_with_a_model_is_resumed(options, tmp_path):
    text = sentences(3, 1)
    random_weights(text, 1).save(tmp_path / "model.npz")
    write_conll(text, tmp_path / "text.conllu")
    files = [str(tmp_path / "text.conllu"), "--model", str(tmp_path / "model.npz")]
    arguments = ["grandparent_parsing", *files, "--option", "sentence=2", *options]
    if "best=2" in options:
        assert main(["solve", *arguments, "--quiet", "--checkpoint", str(tmp_path / "run")]) == 0
        return
    tried(arguments, tmp_path)
    arguments[arguments.index("sentence=2")] = "sentence=3"
    assert main(["solve", *arguments, "--quiet", "--checkpoint", str(tmp_path / "run")]) == 2


@pytest.mark.parametrize("seed", range(3))
def test_branching_on_arcs_is_resumed(seed, tmp_path):
    def problem():
        return GrandparentParsing(random_sentence(4, seed, strength=2.0))

    whole = solve(problem())
    for stop in (IterationLimit(2), ()):
        result = solve(problem(), checkpoint=Checkpoint(tmp_path / "run", every=1e-6), stop=stop)
    assert result.objective == pytest.approx(whole.objective)
    assert result.termination == whole.termination

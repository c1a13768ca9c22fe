import json

import numpy as np
import pytest

from colgen import InputError, solve
from colgen.cli.bench import train_model
from colgen.cli.main import main as cli
from colgen.cli.template import Material, TrainOptions, load_template
from colgen.problems.title_path import TitlePath, random, write
from colgen.problems.title_path.command import TEMPLATE, docstring_graph
from colgen.problems.title_path.language import estimate
from colgen.problems.title_path.learning import TitleModel, title_graph, train
from colgen.problems.title_path.sections import Section
from colgen.problems.title_path.selection import FEATURES, count_stems, features, find_stems, fit, log_loss, title_stems
from colgen.problems.title_path.text import words
from colgen.problems.title_path.training import rouge_l, train_from_folder
from tests.cli.stub import scored
from tests.problems.title_path import texts


@pytest.fixture(scope="module")
def model():
    return train(texts.invented(60))


# --- selection -------------------------------------------------------------------------------------------------------


def test_stems_of_a_text():
    stems = find_stems("Sorting a tree: trees are sorted by sorting the tree.")
    assert stems.words == ("sorting", "tree", "trees", "sorted")
    assert len(stems.stem_of_word) == 4
    assert [stems.stems[k] for k in stems.stem_of_word][1] == stems.stems[stems.stem_of_word[1]]
    with pytest.raises(InputError, match="content words"):
        find_stems("It is of the 1 2 3.")


def test_features_by_hand():
    text = "A heap is wide. The Heap and the tree, then a heap."
    background = count_stems([Section("Heaps", "heap"), Section("Trees", "tree heap")])
    stems, x = features(text, background)
    assert list(stems.words) == ["heap", "wide", "tree"]
    table = dict(zip(FEATURES, x.T, strict=True))
    assert table["log count"] == pytest.approx(np.log1p([3, 1, 1]))
    assert table["share of the content words"] == pytest.approx([0.6, 0.2, 0.2])
    assert table["log position of the first occurrence"] == pytest.approx(np.log1p([2, 4, 9]))
    assert table["in the first sentence"].tolist() == [1, 1, 0]
    assert table["share of the sentences"] == pytest.approx([1.0, 0.5, 0.5])
    assert table["last occurrence, as a share of the text"] == pytest.approx([1.0, 4 / 12, 9 / 12])
    assert table["inverse document frequency"] == pytest.approx(np.log([3 / 3, 3 / 1, 3 / 2]))
    assert table["share of capitals within sentences"] == pytest.approx([1 / 3, 0, 0])


def test_features_do_not_use_the_section_s_own_title():
    sections = texts.invented(10)
    background = count_stems(sections)
    others = count_stems(sections[1:])
    _, with_own = features(sections[0].text, background, sections[0])
    _, without = features(sections[0].text, others)
    assert with_own == pytest.approx(without)


def test_classifier_learns():
    sections = texts.invented(80)
    selection = fit(sections[:60])
    loss, constant, count = log_loss(selection, sections[60:])
    assert loss < 0.5 * constant
    assert count > 100
    stems, log_p = selection.log_probabilities(sections[-1].text)
    assert (log_p < 0).all()
    best = {stems.stems[k] for k in np.argsort(-log_p)[:2]}
    assert best & title_stems(sections[-1])


def test_titles_without_words_of_their_texts_raise():
    with pytest.raises(InputError, match="some words, but not all"):
        fit([Section("Zebras", "the heap of words"), Section("Lions", "another text")])


# --- graphs ----------------------------------------------------------------------------------------------------------


def test_graph_of_words_by_hand():
    language = estimate([s.split() for s in ("sort the tree", "the tree grows", "sort a heap", "heap of the tree")])
    vocabulary, selection = ("sort", "tree", "heap"), np.log([0.5, 0.3, 0.2])
    auxiliary = ("the", "of")
    instance = title_graph(vocabulary, selection, ("s", "t", "h"), language, auxiliary, 2)

    def log_p(before, after):
        return float(language.log_probabilities([before], [after])[0, 0])

    for u, v in ((0, 1), (2, 1), (1, 2)):
        ways = [log_p(vocabulary[u], vocabulary[v])]
        ways += [log_p(vocabulary[u], x) + log_p(x, vocabulary[v]) for x in auxiliary]
        assert instance.weights[u, v] == pytest.approx(max(ways) + selection[v])
        assert instance.via[u, v] == int(np.argmax(ways)) - 1
    assert instance.last[1] == pytest.approx(log_p("tree", "<end>"))
    assert instance.words((0, 1)) == ["sort", "the", "tree"]


def test_instances_of_a_text(model):
    section = texts.invented(70)[-1]
    instance = model.instance(section.text, 2, section.name)
    assert instance.labels == find_stems(section.text).words
    assert instance.num_classes == len(find_stems(section.text).stems)
    assert instance.length == 2
    assert model.instance(section.text).length == model.length == 2
    assert np.isfinite(instance.first).all()
    assert len(model.auxiliary) <= 24
    assert {"the", "a", "of"} <= set(model.auxiliary)
    with pytest.raises(InputError, match="content words"):
        model.instance("Of it.")
    with pytest.raises(InputError, match="at least 1"):
        model.instance(section.text, 0)


def test_titles_resemble_the_true_ones(model):
    scores = []
    for section in texts.invented(90)[60:]:
        instance = model.instance(section.text, section.num_content_words)
        result = solve(TitlePath(instance))
        assert result.is_optimal
        scores.append(rouge_l(instance.words(result.answer), words(section.title)).f)
    assert np.mean(scores) > 0.4


def test_training_without_sections_raises():
    with pytest.raises(InputError, match="at least one section"):
        train([])


def test_saved_models_are_read_back(model, tmp_path):
    model.save(tmp_path / "model.npz")
    again = TitleModel.load(tmp_path / "model.npz")
    text = texts.invented(70)[-1].text
    a, b = model.instance(text), again.instance(text)
    assert np.array_equal(a.weights, b.weights)
    assert np.array_equal(a.first, b.first)
    assert (a.labels, a.classes, a.via_labels, a.length) == (b.labels, b.classes, b.via_labels, b.length)


# --- commands --------------------------------------------------------------------------------------------------------


def test_template_is_installed():
    assert load_template("title_path") is TEMPLATE


def test_train_and_solve(tmp_path, capsys, monkeypatch):
    texts.write(texts.invented(60), tmp_path / "book.jsonl")
    model = tmp_path / "model.npz"
    said = []
    figures = {f.name: f for f in train_model(train_from_folder, TrainOptions(tmp_path, model, say=said.append))}
    assert figures["sections"].value == 40
    assert figures["test.log_loss"].value < figures["test.log_loss_constant"].value
    assert 0.3 < figures["test.rouge_l"].value <= 1.0
    assert said

    text = tmp_path / "section.txt"
    text.write_text(texts.invented(1, seed=9)[0].text)
    out = tmp_path / "answer.json"
    command = ["solve", "title_path", str(text), "--model", str(model), "--option", "length=3", "--json", str(out)]
    assert cli([*command, "--quiet"]) == 0
    answer = json.loads(out.read_text())["answer"]
    assert len(answer["path"]) == 3
    assert capsys.readouterr().out.splitlines()[0] == " ".join(answer["words"])

    book = tmp_path / "book.jsonl"
    assert scored(TEMPLATE, Material(book), model, {"section": "2"}).length == 2
    assert scored(TEMPLATE, Material(book), model, {"section": "2", "length": "4"}).length == 4
    monkeypatch.setattr("sys.stdin", text.open())
    assert cli(["solve", "title_path", str(model), "--quiet"]) == 0  # a model alone reads the standard input
    assert "Proved optimal." in capsys.readouterr().out
    for options, complaint in (
        ({"section": "61"}, "has 60 sections, there is no number 61"),
        ({"section": "x"}, "option section: expected an integer"),
        ({"section": "1", "length": "0"}, "option length: expected an integer"),
        ({"words": "3"}, "there is no option 'words'"),
    ):
        with pytest.raises(InputError, match=complaint):
            scored(TEMPLATE, Material(book), model, options)

    few = tmp_path / "few.jsonl"  # all sections of a file: a title a line
    few.write_text("".join(book.read_text(encoding="utf-8").splitlines(keepends=True)[:4]), encoding="utf-8")
    assert cli(["solve", "title_path", str(few), "--model", str(model), "--json", str(out)]) == 0
    titles = capsys.readouterr()
    answers = [json.loads(line)["answer"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert titles.out.splitlines() == [" ".join(answer["words"]) for answer in answers]
    assert titles.err.startswith("colgen: 4 instances, 4 proved optimal, ")
    command = ["solve", "title_path", str(few), "--model", str(model), "--option", "section=2", "--json", str(out)]
    assert cli(command) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["answer"] == answers[1]


def test_solve_a_graph(tmp_path, capsys):
    instance = random(8, 3, 0, num_classes=6)
    write(instance, tmp_path / "graph.json")
    assert cli(["solve", "title_path", str(tmp_path / "graph.json"), "--quiet"]) == 0
    out = capsys.readouterr().out
    best = solve(TitlePath(instance))
    assert out.splitlines()[0] == " ".join(map(str, best.answer))
    assert "Proved optimal." in out
    weights = [float(line.split()[-1]) for line in out.splitlines()[2:6]]
    assert sum(weights) == pytest.approx(best.objective, abs=1e-3)


def test_solve_an_infeasible_graph(tmp_path, capsys):
    write(random(3, 4, 0), tmp_path / "graph.json")
    assert cli(["solve", "title_path", str(tmp_path / "graph.json"), "--quiet"]) == 1
    assert "Proved infeasible" in capsys.readouterr().out


def test_texts_need_a_model(tmp_path):
    (tmp_path / "section.txt").write_text("A text.")
    with pytest.raises(InputError, match="needs a trained model"):
        TEMPLATE.instance(tmp_path / "section.txt")
    with pytest.raises(InputError, match="No such file"):
        TEMPLATE.instance(tmp_path / "nowhere.txt")


def test_demo_graphs_need_no_extra(monkeypatch):
    monkeypatch.setattr("colgen.problems.title_path.text.has_stemmer", lambda: False)
    graph = docstring_graph("networkx", 40, 2)
    assert graph.num_vertices > 10

"""Drawings of labellings and of domains."""

import pytest

pytest.importorskip("matplotlib")

from colgen import solve
from colgen.problems.chain_map import ChainMAP, beam_search, random
from colgen.problems.chain_map.drawing import draw_domains, draw_labelling


@pytest.mark.parametrize("labels", [4, 30])
def test_the_line_is_the_labelling(tmp_path, labels):
    instance = random(0, chains=2, length=5, labels=labels)
    answer = solve(ChainMAP(instance)).answer
    for tree in (0, 1):
        figure = draw_labelling(instance, answer, tree)
        axes = figure.axes[0]
        names = [label.get_text() for label in axes.get_yticklabels()]
        assert len(names) == min(labels, 12)
        line = axes.lines[0].get_ydata()
        assert [names[int(place)] for place in line] == [str(instance.name(label)) for label in answer[tree].tolist()]
        assert f"{answer.values[tree]:.6g}" in axes.get_title(loc="left")
        assert axes.get_title(loc="left").endswith("proved optimal")
        figure.savefig(tmp_path / "labelling.png")


def test_a_labelling_without_proof_is_not_called_optimal():
    instance = random(0, length=5, labels=4)
    assert "optimal" not in draw_labelling(instance, beam_search(instance, 1)).axes[0].get_title(loc="left")


def test_domains_list_the_best_label_first(tmp_path):
    figure = draw_domains([[[0], [1]], [[0], [1, 2]], [[0, 1, 2], [1, 2]]], ["a", "b"], ["A", "B", "C"], (1, 2))
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["A", "B", "A", "C\nB", "B\nA\n...", "C\nB"]
    assert [label.get_text() for label in axes.get_yticklabels() if label.get_text()] == [
        "round 1",
        "round 2",
        "round 3",
    ]
    figure.savefig(tmp_path / "domains.png")

"""Drawings of labellings."""

import pytest

pytest.importorskip("matplotlib")

from colgen import solve
from colgen.problems.chain_map import ChainMAP, random
from colgen.problems.chain_map.drawing import draw_labelling


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
        figure.savefig(tmp_path / "labelling.png")

"""Trees drawn as arcs."""

import pytest

pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from colgen import InputError
from colgen.problems.dependency.drawing import draw_tree
from colgen.reporting.axes import BOUND, MASTER

WORDS = ("What", "did", "you", "say", "she", "had", "seen")
HEADS = (7, 4, 4, 0, 7, 7, 4)


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def ends(patch):
    """Start and end of an arrow."""
    vertices = patch.get_path().vertices if patch._path_original is None else patch._path_original.vertices
    return vertices[0].tolist(), vertices[-1].tolist()


def test_every_word_has_an_arrow_to_it(tmp_path):
    figure = draw_tree(WORDS, HEADS, "a question", marked=[(7, 1)])
    axes = figure.axes[0]
    assert len(axes.patches) == 7
    assert [t for t in texts(figure) if t in WORDS] == list(WORDS)
    assert texts(figure).count("root") == 1
    assert axes.get_title(loc="left") == "a question"
    thick = [patch.get_linewidth() == 2.6 for patch in axes.patches]
    assert thick.count(True) == 1
    assert [to_hex(patch.get_edgecolor()).upper() for patch in axes.patches] == [BOUND if t else MASTER for t in thick]
    place = {text.get_text(): text.get_position()[0] for text in axes.texts}
    for patch in axes.patches:
        (_, start), (x, y) = ends(patch)
        assert y == 0.0
        assert start == 0.0 or x == pytest.approx(place["say"], abs=0.2)
    assert {min(place, key=lambda word: abs(place[word] - ends(p)[1][0])) for p in axes.patches} >= set(WORDS) - {"say"}
    figure.savefig(tmp_path / "tree.png")


def test_arcs_at_a_word_do_not_cross():
    # Both are attached to the last word: the longer arc is above the shorter one, so it ends to its right.
    figure = draw_tree(("a", "b", "c"), (3, 3, 0))
    starts = sorted((ends(p)[0][0], ends(p)[1][0]) for p in figure.axes[0].patches if ends(p)[0][1] == 0.0)
    assert starts[0][1] > starts[1][1]


def test_fractional_arcs_are_dashed_with_their_values():
    figure = draw_tree(("a", "b"), {(0, 1): 1.0, (1, 2): 0.25, (0, 2): 0.75, (2, 1): 0.0})
    patches = figure.axes[0].patches
    assert len(patches) == 3
    assert {"0.25", "0.75"} <= set(texts(figure))
    assert sum(patch.get_linestyle() not in ("-", "solid") for patch in patches) == 2
    height = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts}
    assert height["0.75"] > height["0.25"]  # a value at the root is above all arcs


def test_draws_on_given_axes():
    axes = Figure().subplots()
    assert draw_tree(("a",), (0,), ax=axes) is axes.figure
    assert len(axes.patches) == 1


@pytest.mark.parametrize("tree", [(2,), {(1, 1): 1.0}, {(0, 2): 0.5}, (-1,)])
def test_impossible_arcs(tree):
    with pytest.raises(InputError, match="does not fit"):
        draw_tree(("a",), tree)

import pytest

from benchmarks import load
from benchmarks.harness import BenchOptions
from colgen import InputError, solve
from colgen.problems.colouring import Colouring, mycielski, queens
from colgen.problems.colouring.command import TEMPLATE
from colgen.problems.colouring.drawing import draw_colouring


def test_lines_data_and_picture_agree(tmp_path):
    instance = queens(4)
    result = solve(Colouring(instance))
    data = TEMPLATE.data(instance, result.answer)
    assert len(data) == len(TEMPLATE.lines(instance, result.answer)) == result.objective == 5
    assert sorted(name for names in data for name in names) == sorted(map(str, instance.labels))
    TEMPLATE.draw(instance, result.answer).savefig(tmp_path / "graph.png")
    with pytest.raises(InputError, match="for each of 16 vertices"):
        draw_colouring(instance, [0])


def test_a_board_has_one_square_of_its_colour_for_each_vertex():
    board = queens(3)
    colours = [4, 9, 1, 9, 4, 5, 0, 2, 3]
    (ax,) = draw_colouring(board, colours).axes
    at = {square.get_xy(): (square.get_facecolor(), int(text.get_text())) for square, text in _squares(ax)}
    drawn = [at[column, 2 - row] for row, column in board.labels]
    assert [number for _, number in drawn] == [1, 2, 3, 2, 1, 4, 5, 6, 7]
    assert len({face for face, _ in drawn}) == len(set(drawn)) == 7
    assert ax.get_title(loc="left") == "queen3_3: 7 colours, 9 vertices"


def _squares(ax):
    return zip(ax.patches, ax.texts, strict=True)


def test_a_graph_that_is_no_board_has_a_point_for_each_vertex_and_a_line_for_each_edge():
    graph = mycielski(4)
    (ax,) = draw_colouring(graph, range(graph.num_vertices)).axes
    assert len(ax.lines) == len(ax.texts) == graph.num_vertices == 11
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 11
    assert len(ax.collections[0].get_segments()) == len(graph.edges)


@pytest.mark.slow
def test_bench_runs():
    figures = {f.name: f for f in load("colouring")(BenchOptions(quick=True, say=lambda line: None))}
    assert figures["proved"].value == figures["proved"].n == figures["proved_by_engine"].value

import pytest

from benchmarks import load
from benchmarks.harness import BenchOptions
from colgen import InputError, solve
from colgen.problems.colouring import Colouring, queens
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


@pytest.mark.slow
def test_bench_runs():
    figures = {f.name: f for f in load("colouring")(BenchOptions(quick=True, say=lambda line: None))}
    assert figures["proved"].value == figures["proved"].n == figures["proved_by_engine"].value

import pytest

from benchmarks import load
from benchmarks.harness import BenchOptions
from colgen import InputError, solve
from colgen.problems.assignment import Assignment, random
from colgen.problems.assignment.command import TEMPLATE
from colgen.problems.assignment.drawing import draw_assignment


def test_lines_data_and_picture_agree(tmp_path):
    instance = random(3, 9, 1)
    result = solve(Assignment(instance))
    data = TEMPLATE.data(instance, result.answer)
    assert len(data) == len(TEMPLATE.lines(instance, result.answer)) == instance.num_machines
    assert sum(entry["cost"] for entry in data) == result.objective
    assert sorted(task for entry in data for task in entry["tasks"]) == list(range(9))
    TEMPLATE.draw(instance, result.answer).savefig(tmp_path / "loads.png")
    with pytest.raises(InputError, match="for each of 9 tasks"):
        draw_assignment(instance, [0])


@pytest.mark.slow
def test_bench_runs():
    figures = {f.name: f for f in load("assignment")(BenchOptions(quick=True, say=lambda line: None))}
    assert figures["proved"].value == figures["proved"].n == 2

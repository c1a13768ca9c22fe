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
    figure = TEMPLATE.draw(instance, result.answer)
    figure.savefig(tmp_path / "loads.png")
    assert figure.axes[0].get_title(loc="left").startswith(f"{instance.name}: cost {result.objective:g}; ")
    costs = {int(task): instance.costs[result.answer[int(task)], int(task)] for task in range(9)}
    bars = figure.axes[0].patches
    order = [task for machine in range(3) for task in range(9) if result.answer[task] == machine]
    shades = {task: bar.get_facecolor()[3] for task, bar in zip(order, bars, strict=True)}
    assert max(shades, key=shades.get) == max(costs, key=costs.get)
    with pytest.raises(InputError, match="for each of 9 tasks"):
        draw_assignment(instance, [0])


@pytest.mark.slow
def test_bench_runs():
    figures = {f.name: f for f in load("assignment")(BenchOptions(quick=True, say=lambda line: None))}
    assert figures["proved"].value == figures["proved"].n == 2

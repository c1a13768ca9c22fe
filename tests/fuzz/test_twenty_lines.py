"""The README's program on random widths, compared with the template."""

import inspect
import re
from pathlib import Path

from tests.fuzz import twenty_lines as module
from tests.fuzz.twenty_lines import draw_instance, run_programs


def test_small_instances_are_proved_and_agree_with_the_template():
    numbers = [number for number in range(60) if len(draw_instance(number, 0)[0]) <= 12][:4]
    outcome = run_programs(numbers, 0, 100.0)
    assert (outcome.tried, outcome.proved, outcome.wrong) == (4, 4, [])


def test_no_instance_starts_after_the_time_limit():
    assert run_programs(range(5), 0, 0.0).tried == 0


def test_a_contradiction_with_the_template_is_reported(monkeypatch):
    class Wrong(module.CuttingStock):
        def __init__(self, roll, widths, demands):
            super().__init__(roll, widths, [2 * demand for demand in demands])

    monkeypatch.setattr(module, "CuttingStock", Wrong)
    number = next(number for number in range(60) if len(draw_instance(number, 0)[0]) <= 12)
    (line,) = run_programs([number], 0, 100.0).wrong
    assert f"instance {number}" in line


def test_the_program_is_that_of_the_readme():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    own = inspect.getsource(module.CuttingStock) + inspect.getsource(module.Knapsack)
    for line in ("objective_step = 1", "m.unmet = artificial(m.item)", "cost_bound = 1.0", "return Column(1.0, {"):
        assert line in readme
        assert line in own
    for line in re.findall(r"^ {8}(?:m\.|return ).*$", own, re.MULTILINE):
        assert line.strip() in readme

"""Vehicle routing on the command line."""

import json

import pytest

from colgen import solve
from colgen.cli.main import main as cli
from colgen.cli.template import load_template, template_names
from problems.vehicle_routing import VehicleRouting, random, read_solution, write
from problems.vehicle_routing.command import TEMPLATE

installed = pytest.mark.skipif(
    "vehicle_routing" not in template_names(), reason="entry points are read when the distribution is installed"
)


@installed
def test_template_is_installed():
    assert load_template("vehicle_routing") is TEMPLATE


def test_lines_are_a_solution_file(tmp_path):
    instance = random(4, customers=7)
    result = solve(VehicleRouting(instance))
    (tmp_path / "routes.sol").write_text("\n".join(TEMPLATE.lines(instance, result)))
    assert read_solution(tmp_path / "routes.sol") == result.answer


def test_data_say_when_and_how_much():
    instance = random(4, customers=7)
    result = solve(VehicleRouting(instance))
    data = TEMPLATE.data(instance, result)
    assert sum(route["load"] for route in data) == sum(instance.demands)
    assert sum(route["distance"] for route in data) == pytest.approx(result.objective)
    for route in data:
        for i, begin in zip(route["customers"], route["service_begins"], strict=True):
            assert instance.windows[i][0] <= begin <= instance.windows[i][1]
    assert "service_begins" not in TEMPLATE.data(random(4, customers=7, windows=False), result)[0]


@installed
def test_solve_a_file(tmp_path, capsys):
    path, out = tmp_path / "instance.txt", tmp_path / "answer.json"
    write(random(4, customers=7), path)
    assert cli(["solve", "vehicle_routing", str(path), "--json", str(out), "--quiet"]) == 0
    assert "Route #1:" in capsys.readouterr().out
    content = json.loads(out.read_text())
    assert content["objective"] == content["dual_bound"]
    path.write_text("nothing\n")
    assert cli(["solve", "vehicle_routing", str(path)]) == 2


@pytest.mark.parametrize("demo", TEMPLATE.demo)
@pytest.mark.slow
def test_demo(demo):
    (line,) = demo()
    assert line.brute_force_objective is None or line.objective == pytest.approx(line.brute_force_objective)

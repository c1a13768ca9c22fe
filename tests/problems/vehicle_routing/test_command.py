"""Vehicle routing on the command line."""

import json

import pytest

from colgen import solve
from colgen.cli.main import main as cli
from colgen.cli.many import _Named
from colgen.cli.template import load_template, template_names
from colgen.problems.vehicle_routing import VehicleRouting, heuristics, random, read_solution, template, write
from colgen.problems.vehicle_routing.command import TEMPLATE

installed = pytest.mark.skipif(
    "vehicle_routing" not in template_names(), reason="entry points are read when the distribution is installed"
)


@installed
def test_template_is_installed():
    assert load_template("vehicle_routing") is TEMPLATE


def test_lines_are_a_solution_file(tmp_path):
    instance = random(4, customers=7)
    result = solve(VehicleRouting(instance))
    (tmp_path / "routes.sol").write_text("\n".join(TEMPLATE.lines(instance, result.answer)))
    assert read_solution(tmp_path / "routes.sol") == result.answer


def test_data_have_times_and_loads():
    instance = random(4, customers=7)
    result = solve(VehicleRouting(instance))
    data = TEMPLATE.data(instance, result.answer)
    assert sum(route["load"] for route in data) == sum(instance.demands)
    assert sum(route["distance"] for route in data) == pytest.approx(result.objective)
    for route in data:
        for i, begin in zip(route["customers"], route["service_begins"], strict=True):
            assert instance.windows[i][0] <= begin <= instance.windows[i][1]
    assert "service_begins" not in TEMPLATE.data(random(4, customers=7, windows=False), result.answer)[0]


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


FILE = """NAME : X-n4-k1
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 100 0
3 0 100
4 -100 0
DEMAND_SECTION
1 0
2 1
3 1
4 1
DEPOT_SECTION
1
-1
"""


@pytest.mark.parametrize(
    ("options", "objective", "reading"),
    [
        ([], 482, "any number of vehicles (the file states no number, the 1 in its name is not taken as a limit)"),
        (
            ["vehicles=1", "customers=2"],
            341,
            "at most 1 vehicle (vehicles=1); rounded EUC_2D distances; the first 2",
        ),
        (["vehicles=2", "distances=exact", "customers=1"], 200, "at most 2 vehicles (vehicles=2); unrounded EUC_2D"),
    ],
)
def test_how_a_file_was_read_is_stated(options, objective, reading, tmp_path, capsys):
    (tmp_path / "a.vrp").write_text(FILE)
    arguments = [word for option in options for word in ("--option", option)]
    assert cli(["solve", "vehicle_routing", str(tmp_path / "a.vrp"), *arguments]) == 0
    printed = capsys.readouterr().out
    assert f"read as     {reading}" in printed
    assert f"objective   {objective}\n" in printed
    assert cli(["solve", "vehicle_routing", str(tmp_path / "a.vrp"), "--json", "-", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["reading"].startswith(reading)
    files = [str(tmp_path / "a.vrp")] * 2
    assert cli(["solve", "vehicle_routing", *files, *arguments]) == 0
    assert capsys.readouterr().out.count(f"read as {reading}") == 2


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("vehicles=name", "expected a name as of the sets A, B, E, F, M, P and X"),
        ("vehicles=some", "option vehicles: expected file, name or an integer ≥ 1, not 'some'"),
        ("vehicles=0", "option vehicles: expected file, name or an integer ≥ 1, not '0'"),
        ("customers=4", "expected 1 to 3 customers, not 4"),
        ("customers=all", "option customers: expected an integer"),
        ("distances=round", "option distances: expected truncated, whole or exact, not 'round'"),
        ("fleet=1", "there is no option 'fleet'; there are vehicles"),
        ("pyvrp=soon", "option pyvrp: expected a number ≥ 0, not 'soon'"),
    ],
)
def test_invalid_options_raise(option, message, tmp_path, capsys):
    (tmp_path / "a.vrp").write_text(FILE.replace("X-n", "Y-n"))
    assert cli(["solve", "vehicle_routing", str(tmp_path / "a.vrp"), "--option", option]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1


def test_pyvrp_starts_a_run_from_the_command_line(tmp_path, capsys, monkeypatch):
    asked = []

    def by_pyvrp(instance, seconds):
        asked.append(seconds)
        return [(1, 2, 3)]

    monkeypatch.setattr(heuristics, "has_pyvrp", lambda: True)
    monkeypatch.setattr(template, "by_pyvrp", by_pyvrp)
    (tmp_path / "a.vrp").write_text(FILE)
    arguments = [str(tmp_path / "a.vrp"), "--option", "pyvrp=1.5", "--option", "vehicles=1"]
    assert cli(["solve", "vehicle_routing", *arguments]) == 0
    assert "at most 1 vehicle" in capsys.readouterr().out
    assert asked == [1.5]


def test_workers_that_solve_several_files_pass_options_to_problems(monkeypatch):
    monkeypatch.setattr(heuristics, "has_pyvrp", lambda: True)
    options = {"pyvrp": "1.5", "vehicles": "1"}
    assert _Named("vehicle_routing", options)(random(4, customers=3)).pyvrp == 1.5


def test_a_missing_pyvrp_is_reported_before_any_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(heuristics, "has_pyvrp", lambda: False)
    (tmp_path / "a.vrp").write_text(FILE)
    assert cli(["solve", "vehicle_routing", str(tmp_path / "a.vrp"), "--option", "pyvrp=1"]) == 2
    assert capsys.readouterr().err == "colgen: PyVRP is not installed: pip install colgen[routing]\n"

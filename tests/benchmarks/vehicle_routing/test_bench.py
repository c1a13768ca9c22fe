"""The benchmark reads instances and compares results with published optima."""

import dataclasses

import pytest

from benchmarks.harness import BenchOptions
from benchmarks.vehicle_routing.bench import bench_vehicle_routing, check_published, published
from colgen import InputError, solve
from colgen.problems.vehicle_routing import VehicleRouting, random, write


def folder(tmp_path, distance):
    (tmp_path / "vrptw").mkdir()
    (tmp_path / "cvrp").mkdir()
    write(random(1, customers=30), tmp_path / "vrptw" / "one.txt")
    (tmp_path / "vrptw" / "optima.csv").write_text(f"instance,customers,distance\none,25,{distance}\n")
    (tmp_path / "cvrp" / "optima.csv").write_text("instance,distance\n")
    return tmp_path


def test_it_needs_data():
    with pytest.raises(InputError, match="--data DIR"):
        bench_vehicle_routing(BenchOptions())


def test_instances_are_read_with_their_optima(tmp_path):
    found = published(folder(tmp_path, 500.5))
    assert [(instance.num_customers, optimum) for instance, optimum in found["25"]] == [(25, 500.5)]
    assert found["cvrp"] == found["x"] == []


def test_set_x_has_best_known_distances_and_no_limit_on_vehicles(tmp_path):
    (folder(tmp_path, 500.5) / "cvrp_x").mkdir()
    instance = dataclasses.replace(random(2, customers=5, windows=False, convention="whole"), name="X-n6-k2")
    write(instance, tmp_path / "cvrp_x" / "X-n6-k2.vrp")
    (tmp_path / "cvrp_x" / "best.csv").write_text("instance,distance,vehicles_at_least\nX-n6-k2,123,2\n")
    [(read, distance)] = published(tmp_path)["x"]
    assert (read.num_customers, read.vehicles, distance) == (5, None, 123.0)


def test_a_contradiction_is_an_error():
    instance = random(1, customers=6)
    result = solve(VehicleRouting(instance))
    check_published(instance, result.objective, result.dual_bound, result.objective)
    for wrong in (result.objective + 1.0, result.objective - 1.0):
        with pytest.raises(AssertionError, match="known optimum"):
            check_published(instance, result.objective, result.dual_bound, wrong)


@pytest.mark.slow
def test_a_quick_run(tmp_path):
    instance = random(1, customers=30).first(25)
    optimum = solve(VehicleRouting(instance)).objective
    lines = []
    figures = bench_vehicle_routing(BenchOptions(folder(tmp_path, optimum), quick=True, say=lines.append))
    by_name = {figure.name: figure.value for figure in figures}
    assert by_name["proved_25"] == by_name["proved_by_engine_25"] == 1
    assert 0.0 <= by_name["root_gap_25"] <= by_name["root_gap_without_cuts_25"] + 1e-9

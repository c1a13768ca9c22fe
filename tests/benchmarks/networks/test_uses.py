"""Figures of rosters, fleets and crews on small instances of their own."""

import math

import numpy as np
import pytest

from benchmarks.harness import BenchOptions
from benchmarks.networks import fleets, uses
from benchmarks.networks.bench import bench_networks
from colgen import decompose, solve

ROSTER = """\
# a comment
SECTION_HORIZON
7

SECTION_SHIFTS
D,480,

SECTION_STAFF
A,D=7,2400,960,5,2,2,1
B,D=7,2400,960,5,2,2,1

SECTION_DAYS_OFF
A,0

SECTION_SHIFT_ON_REQUESTS
B,2,D,3

SECTION_SHIFT_OFF_REQUESTS
B,6,D,1

SECTION_COVER
""" + "".join(f"{day},D,1,100,1\n" for day in range(7))

FLEET = """\
NAME: small
TYPE: HFVRP
VEHICLES: 3
NODE_COORD_SECTION
1 0 0
2 3 4
3 0 5
4 6 8
DEMAND_SECTION
1 0
2 2
3 2
4 2
CAPACITY_SECTION
1 2
2 2
3 4
VEHICLES_FIXED_COST_SECTION
1 100
2 100
3 400
VEHICLES_UNIT_DISTANCE_COST_SECTION
1 100
2 100
3 200
DEPOT_SECTION
1
EOF
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with one roster and one fleet, whose optima are known."""
    for use, name, text, best in (("rosters", "Instance1.txt", ROSTER, 0), ("fleets", "small.vrp", FLEET, 1)):
        (tmp_path / use).mkdir()
        (tmp_path / use / name).write_text(text)
        (tmp_path / use / "best.csv").write_text(f"instance,best\n{name.split('.')[0]},{best or 1}\n")
    return tmp_path


def test_only_the_folders_that_exist_are_measured(folder, monkeypatch):
    monkeypatch.setattr(uses, "_QUICK_SIZES", (40,))
    lines = []
    figures = bench_networks(BenchOptions(data=folder, quick=True, say=lines.append))
    values = {figure.name: figure.value for figure in figures}
    assert values["rosters_proved"] == values["fleets_proved"] == 1
    # The large vehicle serves (3, 4) and (0, 5), a small one (6, 8).
    best = 4 + 2 * (5 + math.sqrt(10) + 5) + 1 + 20
    assert values["fleets_small_answer_gap"] == pytest.approx(100.0 * (best - 1))
    assert values["crews_40_gap"] == pytest.approx(0.0)
    assert 0 < values["lines_of_use"] <= 60
    assert len(lines) == 6  # a roster, a fleet, a timetable, three depots


def test_fleets_of_which_some_vehicles_are_too_small_for_some_places():
    demands, distances = np.array([0.0, 2.0, 5.0, 1.0]), 1.0 - np.eye(4)
    types = np.array([[3.0, 1.0, 1.0, 2.0], [6.0, 5.0, 1.0, 1.0]])
    result = solve(decompose(fleets.fleets(fleets.Fleet(distances, demands, types))))
    assert result.is_optimal
    assert result.objective == pytest.approx((1 + 3) + (5 + 2))  # 1 and 3 share a small vehicle

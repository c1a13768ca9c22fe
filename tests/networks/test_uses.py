"""The pages of uses show the programs that the benchmark runs."""

import inspect
import itertools
from pathlib import Path

import numpy as np
import pytest

from benchmarks.networks import crews, fleets, requests, rosters
from colgen import decompose, solve
from tests.networks.programs import partition

PAGES = Path(__file__).parents[2] / "docs" / "networks"


@pytest.mark.parametrize(
    ("page", "parts"),
    [
        ("crews", [crews.Flight, crews.crews]),
        ("fleets", [fleets.Fleet, fleets.fleets]),
        ("pickup_and_delivery", [requests.Transport, requests.transport]),
        ("rosters", [rosters.rosters]),
    ],
)
def test_a_page_shows_the_program_of_the_benchmark(page, parts):
    text = (PAGES / f"{page}.md").read_text()
    for part in parts:
        assert inspect.getsource(part).rstrip() in text, part.__name__
    assert sum(len(inspect.getsource(part).splitlines()) for part in parts) <= 60


def test_pairings_return_to_their_base_within_the_limits_of_duties():
    flights = crews.timetable(3, 60)
    answer = solve(decompose(crews.crews(flights, ["B0", "B1", "B2"]))).answer
    assert answer.paths
    for pairing in answer.paths:
        base, legs = pairing.graph.removeprefix("crews_"), [flights[k] for k in pairing.vertices[1:-1]]
        assert legs[0].origin == legs[-1].destination == base
        assert legs[-1].arrival - legs[0].departure <= 4 * 1440
        duty = [legs[0]]
        for before, then in itertools.pairwise(legs):
            assert before.destination == then.origin
            duty = [*duty, then] if then.departure - before.arrival <= 240 else [then]
            assert len(duty) <= 5
            assert duty[-1].arrival - duty[0].departure <= 720
    covered = [k for pairing in answer.paths for k in pairing.vertices[1:-1]]
    assert len(covered) == len(set(covered))


@pytest.mark.parametrize("seed", range(6))
def test_requests_are_served_at_the_least_cost_of_all_orders_of_stops(seed):
    rng = np.random.default_rng(seed)
    count = 4
    places = np.zeros((2 * count + 1, 6))
    places[:, :2] = rng.integers(0, 30, (2 * count + 1, 2))
    places[1:, 2] = 1
    places[1 : count + 1, 3] = rng.integers(2, 7, count)
    places[count + 1 :, 3] = -places[1 : count + 1, 3]
    places[1 : count + 1, 4] = rng.integers(0, 60, count)
    places[count + 1 :, 4] = places[1 : count + 1, 4] + rng.integers(10, 40, count)
    places[:, 5] = np.r_[300, places[1:, 4] + 70]
    far = np.hypot(*(places[:, None, :2] - places[:, :2]).transpose(2, 0, 1))

    def cost(stops):
        now = load = 0.0
        for i, j in itertools.pairwise((0, *stops)):
            now = max(now + places[i, 2] + far[i, j], places[j, 4])
            load += places[j, 3]
            if now > places[j, 5] or load > 10 or (j > count and j - count not in stops[: stops.index(j)]):
                return np.inf
        return 50 + sum(far[i, j] for i, j in itertools.pairwise((0, *stops, 0)))

    sets = []
    for size in range(1, count + 1):
        for chosen in itertools.combinations(range(1, count + 1), size):
            stops = [*chosen, *(j + count for j in chosen)]
            sets.append((frozenset(chosen), min(map(cost, itertools.permutations(stops)))))
    result = solve(decompose(requests.transport(requests.Transport(places, 3, 10.0, 50.0))))
    assert result.is_optimal
    assert result.objective == pytest.approx(partition(sets, count))

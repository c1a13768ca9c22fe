"""The pages of uses show the programs that the benchmark runs."""

import inspect
import itertools
from pathlib import Path

import pytest

from benchmarks.networks import crews, fleets, rosters
from colgen import decompose, solve

PAGES = Path(__file__).parents[2] / "docs" / "networks"


@pytest.mark.parametrize(
    ("page", "parts"),
    [
        ("crews", [crews.Flight, crews.crews]),
        ("fleets", [fleets.Fleet, fleets.fleets]),
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

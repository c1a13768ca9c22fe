"""Ruin and recreate in long runs of models with path blocks."""

from types import SimpleNamespace

import pytest

from colgen import IterationLimit, Method, Sense, Solution, WarmStart, decompose, solve
from colgen.decomposition.networked import NetworkModel
from colgen.networks import heuristics
from colgen.networks.heuristics import RuinAndRecreate, first_steps, first_temperatures
from tests.networks.programs import routing


def test_a_run_that_takes_long_improves_its_paths(monkeypatch):
    model, best = routing(3, graphs=2)
    monkeypatch.setattr(NetworkModel, "warm_start", lambda self, budget: WarmStart())
    found = []
    for first in (heuristics._FIRST, 0):
        monkeypatch.setattr(heuristics, "_FIRST", first)
        problem = decompose(model)
        later = problem.method().heuristics[:1]
        assert isinstance(later[0], heuristics.RuinAndRecreate)
        found.append(solve(problem, stop=IterationLimit(2), method=Method(heuristics=later)).objective)
    assert found[1] == pytest.approx(best)
    assert found[0] is None or found[0] > found[1]


def test_later_searches_have_more_steps_and_also_start_from_the_incumbent():
    calls = []

    def improve(start, *, steps, seed, hot, expired):
        calls.append((start, steps, seed, hot))
        return None if start is None else Solution(start.objective - 1.0)

    search, incumbent = RuinAndRecreate(improve, 100), Solution(9.0)
    for known, found in ((None, None), (incumbent, Solution(8.0)), (None, None)):
        run = SimpleNamespace(incumbent=known, expired=False, sense=Sense.MINIMIZE)
        assert search.search(SimpleNamespace(run=run)) == found
    assert calls[:3] == [(None, 120_000, 1, 1.0), (None, 240_000, 2, 1.0), (incumbent, 240_000, 3, 0.3)]
    assert calls[3:] == [(None, 240_000, 4, 1.0), (None, 240_000, 5, 1.0)]  # at most 30 steps per squared row


def test_searches_at_the_start():
    assert [first_steps(rows) for rows in (10, 1000)] == [800, 30_000]
    assert first_temperatures(100, timed=True) == first_temperatures(10, timed=False) == (0.3, 1.0)
    assert len(first_temperatures(100, timed=False)) == 4

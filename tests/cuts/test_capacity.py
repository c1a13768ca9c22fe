"""Capacity cuts as rows: which arcs they count, and that routes of every answer satisfy them."""

import itertools

import pytest

from colgen import Column, InputError, RoundedCapacity, Sense, SeparationContext, Solution
from colgen.core.activity import activity
from colgen.core.terms import Linear

DEMANDS = {"a": 4.0, "b": 4.0, "c": 4.0, "d": 4.0}


def arcs(column):
    return dict.fromkeys(itertools.pairwise(column.structure), 1.0)


def route(*stops):
    return Column(1.0, {("visit", v): 1.0 for v in stops}, (0, *stops, 0))


def test_violated_capacity_is_cut_off_but_no_feasible_solution():
    # A vehicle carries two customers: two routes of three, one half of each rotation, cannot be served.
    solution = Solution(2.0, tuple((route(*stops), 0.5) for stops in ("abc", "bca", "d", "d")))
    separator = RoundedCapacity(arcs, DEMANDS, 8.0)
    rows = separator.separate(solution, SeparationContext(Sense.MINIMIZE))
    assert rows
    found = {tuple(sorted({v for pair in row.term().members for v in pair})): row for row in rows}
    cut = found["a", "b", "c"]
    assert isinstance(cut.term(), Linear)
    assert cut.term().block == "arc"
    assert cut.upper == 1.0
    assert activity(cut, solution).value == 2.0
    pairs = list(itertools.permutations("abcd", 2))
    for first, second in itertools.product(pairs, repeat=2):
        if not set(first) & set(second):
            answer = Solution(2.0, ((route(*first), 1.0), (route(*second), 1.0)))
            assert all(activity(row, answer).excess <= 0 for row in rows)
    assert not separator.separate(solution, SeparationContext(Sense.MINIMIZE, whole=True))


def test_a_demand_above_the_capacity_raises_an_error():
    with pytest.raises(InputError, match=r"capacity: .*demand"):
        RoundedCapacity(arcs, DEMANDS, 3.0)


def test_a_cut_of_another_run_has_the_side_of_this_instance():
    before, now = RoundedCapacity(arcs, DEMANDS, 8.0), RoundedCapacity(arcs, DEMANDS, 4.0)
    solution = Solution(2.0, tuple((route(*stops), 0.5) for stops in ("abc", "bca", "d", "d")))
    for row in before.separate(solution, SeparationContext(Sense.MINIMIZE)):
        customers = {v for pair in row.term().members for v in pair}
        assert before.restated(row.key).upper == row.upper
        assert now.restated(row.key).upper == 0.0  # each of them is alone by now
        assert len(customers) - 2.0 <= row.upper
    fewer = RoundedCapacity(arcs, {"a": 4.0}, 8.0)
    assert fewer.restated(row.key) is None
    assert before.restated(("others", row.key[1])) is None

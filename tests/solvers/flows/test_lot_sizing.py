"""Lots without capacities, against all ways to set up."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.solvers.flows.lot_sizing import plan_lots

COSTS = st.one_of(st.integers(-5, 9).map(float), st.floats(-5, 9), st.just(np.inf))


@st.composite
def plans(draw):
    periods = draw(st.integers(1, 6))
    scale = 2.0 ** draw(st.integers(-30, 30))

    def list_of(values):
        return draw(st.lists(values, min_size=periods, max_size=periods))

    demand = list_of(st.one_of(st.just(0.0), st.integers(1, 5).map(float)))
    setup = [scale * abs(cost) for cost in list_of(COSTS)]
    unit, hold = ([scale * cost for cost in list_of(COSTS)] for _ in range(2))
    return setup, unit, hold, demand


def best_lots(*plan):
    setup, unit, hold, demand = (np.array(values) for values in plan)
    amounts = np.ones(len(demand))
    return plan_lots(setup, unit, hold, demand, amounts), amounts


def cost_of(amounts, setup, unit, hold, demand):
    """inf if it cannot be done."""
    total, stock = 0.0, 0.0
    for t, amount in enumerate(amounts):
        if amount > 0.0:
            total += setup[t] + amount * unit[t]
        stock += amount - demand[t]
        if stock < 0.0:
            return np.inf
        if stock > 0.0:
            total += stock * hold[t]
    return total if stock == 0.0 else np.inf


def enumerated(setup, unit, hold, demand):
    """Enumerate the period whose lot meets each demand."""
    periods = len(demand)
    best = np.inf
    for sources in itertools.product(*(range(t + 1) for t in range(periods))):
        amounts = np.zeros(periods)
        np.add.at(amounts, list(sources), demand)
        best = min(best, cost_of(amounts, setup, unit, hold, demand))
    return best


@given(plans())
def test_no_way_to_meet_demand_costs_less(plan):
    value, amounts = best_lots(*plan)
    least = enumerated(*plan)
    if np.isinf(least):
        assert value == np.inf
        assert not amounts.any()
        return
    assert value == pytest.approx(least, rel=1e-12, abs=1e-300)
    assert cost_of(amounts, *plan) == pytest.approx(least, rel=1e-12, abs=1e-300)


def test_the_textbook_case():
    # Set-ups of 10, one a unit and period: two lots, of 30 and of 35.
    value, amounts = best_lots([10.0] * 4, [0.0] * 4, [1.0] * 4, [20.0, 10.0, 30.0, 5.0])
    assert value == 10 + 10 + 10 + 5
    assert amounts.tolist() == [30.0, 0.0, 35.0, 0.0]

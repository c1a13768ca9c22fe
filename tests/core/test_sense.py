"""The direction of optimisation, and rounding of bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen import Sense

MIN, MAX = Sense.MINIMIZE, Sense.MAXIMIZE
numbers = st.floats(-1e6, 1e6)
both = pytest.mark.parametrize("sense", list(Sense))


@both
def test_words(sense):
    assert sense.is_better(sense.ideal, 0.0)
    assert sense.is_better(0.0, sense.hopeless)
    assert not sense.is_better(sense.ideal, sense.ideal)
    assert sense.improvement(math.inf, math.inf) == 0.0  # not NaN
    assert not sense.is_better(1.0, 1.0)
    better, worse = (1.0, 2.0) if sense is MIN else (2.0, 1.0)
    assert sense.is_better(better, worse)
    assert not sense.is_better(better, worse, tolerance=1.0)
    assert sense.best(better, worse) == better
    assert sense.worst(better, worse) == worse


@both
def test_a_bound_lags_by_a_quarter_of_the_gap_or_2_percent_once_there_is_an_incumbent(sense):
    for objective, worst in ((104.0, 101.0), (200.0, 102.0)):
        for bound, lags in ((100.0, False), (worst - 0.01, False), (worst + 0.01, True)):
            assert sense.lags(sense.sign * bound, sense.sign * 100.0, sense.sign * objective) is lags
    assert not sense.lags(sense.sign * 150.0, sense.sign * 100.0, sense.hopeless)
    assert not sense.lags(sense.sign * 150.0, sense.hopeless, sense.sign * 200.0)  # no other node is open
    assert not sense.lags(math.nan, sense.sign * 100.0, sense.sign * 200.0)


@given(numbers, numbers)
def test_maximising_mirrors_minimising(a, b):
    assert MIN.is_better(a, b) == MAX.is_better(-a, -b)
    assert MIN.improvement(a, b) == MAX.improvement(-a, -b)
    assert MIN.best(a, b) == -MAX.best(-a, -b)
    assert MIN.gap(a, b) == MAX.gap(-a, -b)
    assert MIN.round_bound(a, 1.0, 1e-6) == -MAX.round_bound(-a, 1.0, 1e-6)


@pytest.mark.parametrize(
    ("bound", "rounded"),
    [
        (66.0, 66.0),
        (66.0000000001, 66.0),  # exactly 66, delivered by floating point
        (65.9999999999, 66.0),
        (65.9999, 66.0),
        (66.00001, 66.0),  # within 1e-6 of 66, relative to its size: not trusted to be more
        (66.001, 67.0),
        (65.5, 66.0),
        (65.0001, 66.0),
        (0.0, 0.0),
        (1e-9, 0.0),
        (0.3, 1.0),
        (-0.3, 0.0),
        (-1.0000000001, -1.0),
        (-1.5, -1.0),
    ],
)
def test_rounding_to_integers(bound, rounded):
    assert MIN.round_bound(bound, 1.0, 1e-6) == rounded
    assert MAX.round_bound(-bound, 1.0, 1e-6) == -rounded


def test_rounding_to_other_steps():
    assert MIN.round_bound(0.71, 0.25, 1e-6) == pytest.approx(0.75)
    assert MIN.round_bound(0.75, 0.25, 1e-6) == pytest.approx(0.75)
    assert MIN.round_bound(101.0, 50.0, 1e-6) == 150.0
    assert MAX.round_bound(0.71, 0.25, 1e-6) == pytest.approx(0.5)


@both
def test_nothing_to_round(sense):
    assert sense.round_bound(65.3, None, 1e-6) == 65.3
    assert sense.round_bound(sense.ideal, 1.0, 1e-6) == sense.ideal
    assert sense.round_bound(sense.hopeless, 1.0, 1e-6) == sense.hopeless


@both
def test_steps_below_the_rounding_error_of_large_numbers(sense):
    # The tolerance is several steps wide: rounding would make the bound weaker than it is.
    assert sense.round_bound(1e7, 1.0, 1e-6) == 1e7


@pytest.mark.parametrize("bound", [2.0, math.nextafter(2.0, 0.0), math.nextafter(2.0, 3.0)])
def test_steps_near_the_rounding_error_weaken_no_bound(bound):
    """The step equals the tolerance: rounding lowered bounds with a tiny error by a step."""
    assert MAX.round_bound(bound, 2e-6, 1e-6) == pytest.approx(bound, rel=1e-12)
    assert MIN.round_bound(-bound, 2e-6, 1e-6) == pytest.approx(-bound, rel=1e-12)


@given(st.integers(-(10**5), 10**5), st.floats(-1e-8, 1e-8))
def test_integers_survive_rounding_errors(number, error):
    assert MIN.round_bound(number + error, 1.0, 1e-6) == number


@given(numbers)
def test_rounded_bound_is_a_bound(bound):
    """It never exceeds the next integer above the true bound."""
    assert MIN.round_bound(bound, 1.0, 1e-6) <= math.ceil(bound)


@both
def test_gap(sense):
    assert sense.gap(sense.hopeless, 3.0) == math.inf
    assert sense.gap(3.0, sense.ideal) == math.inf
    assert sense.gap(10.0, 10.0 - sense.sign) == pytest.approx(0.1)
    assert sense.gap(5e-9, 5e-9 - 1e-9 * sense.sign) == pytest.approx(0.2)  # whatever the scale
    assert sense.gap(0.0, -408.0 * sense.sign) == 1.0
    assert sense.gap(0.0, 0.0) == 0.0
    assert sense.gap(10.0, 10.0 + sense.sign * 1e-9) == 0.0  # the bound exceeds the objective by a rounding error

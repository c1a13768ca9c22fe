"""Columns that a learner keeps: the bound never depends on the learner, and bad answers are refused."""

import math

import numpy as np
import pytest

from colgen import Column, Columns, InputError, Pricing, PricingContext, PricingResult, Sense, solve
from colgen.core.duals import Duals, RowNames
from colgen.pricing.selected import COLUMN_FEATURES, KEEP_NONE, keep_columns
from colgen.problems.assignment import random
from colgen.problems.assignment.template import Unguessed
from colgen.problems.cutting_stock import CuttingStock, bin_packing
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.problems.vehicle_routing.instance import random as routing
from colgen.reporting.methods import replace_parts
from tests.pricing.scripted import Scripted


def random_answers(seed):
    rng = np.random.default_rng(seed)
    return lambda offered: rng.random(len(offered.columns)) < 0.3


ADVERSARIES = {
    "random": random_answers(0),
    "none": lambda offered: [False] * len(offered.columns),
    "all": lambda offered: np.ones(len(offered.columns), dtype=bool),
    "the worst half": lambda offered: offered.values[:, 0] <= np.median(offered.values[:, 0]),
    "a read-only mask": lambda offered: np.broadcast_to(np.False_, len(offered.columns)),
}
PROBLEMS = {
    "assignment": lambda: Unguessed(random(4, 16, 1)),
    "packing": lambda: CuttingStock(bin_packing(25, 2)),
    "routing": lambda: VehicleRouting(routing(2, customers=9)),
}


@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("answer", ADVERSARIES.values(), ids=ADVERSARIES)
def test_no_selector_changes_an_optimum_or_the_bound_of_the_root(answer, make):
    expected = [solve(make(), relaxation=True).objective, solve(make()).objective]
    other = replace_parts(pricing=lambda oracles: keep_columns(oracles, Scripted(answer)))
    found = [solve(other(make()), relaxation=True).objective, solve(other(make())).objective]
    assert found == pytest.approx(expected, abs=1e-6)


class Listed(Pricing):
    """Returns the given columns, in this order."""

    def __init__(self, columns, **fields):
        self.columns, self.fields = columns, fields

    def price(self, duals, context):
        return PricingResult(self.columns, -5.0, **self.fields)


def duals(**values):
    names = RowNames()
    names.extend([("row", name) for name in values])
    return Duals(np.array([*values.values()], dtype=float), names)


COLUMNS = [
    Column(1.0, {("row", "a"): 1.0}),
    Column(2.0, {("row", "a"): 1.0, ("row", "b"): 2.0}),
    Column(9.0, {("row", "b"): 1.0}),
]


@pytest.mark.parametrize("columns", [COLUMNS, Columns.of(COLUMNS)])
def test_the_best_column_and_the_best_new_one_are_kept(columns):
    prices = duals(a=3.0, b=-1.0)  # reduced costs -2, 1, 10
    (oracle,) = keep_columns(Listed(columns), KEEP_NONE)
    assert list(oracle.price(prices, PricingContext(Sense.MINIMIZE)).columns) == COLUMNS[:1]
    held = PricingContext(Sense.MINIMIZE, find=lambda some: np.array([0 if c == COLUMNS[0] else -1 for c in some]))
    assert list(oracle.price(prices, held).columns) == COLUMNS[:2]
    assert list(oracle.price(prices, PricingContext(Sense.MAXIMIZE)).columns) == COLUMNS[2:]
    (joined,) = keep_columns(Listed(columns, together=True), KEEP_NONE)
    assert list(joined.price(prices, held).columns) == COLUMNS


@pytest.mark.parametrize("columns", [COLUMNS, Columns.of(COLUMNS)])
def test_features_by_hand(columns):
    selector = Scripted(lambda offered: [True] * 3)
    (oracle,) = keep_columns(Listed(columns), selector)
    oracle.price(duals(a=3.0, b=-1.0), PricingContext(Sense.MINIMIZE))
    assert selector.seen[0].values == pytest.approx(
        np.array([[2.0, 1.0, 1, 3.0, 3.0, 2.0], [-1.0, 2.0, 2, 3.0, 2.0, 2.0], [-10.0, 9.0, 1, 1.0, 1.0, 2.0]])
    )
    assert selector.seen[0].values.shape[1] == len(COLUMN_FEATURES)
    oracle.price(duals(a=1e290), PricingContext(Sense.MINIMIZE))  # a row without a dual value
    assert np.isfinite(selector.seen[1].values).all()


@pytest.mark.parametrize(
    "answer", [None, True, [True], [1, 0, 1], [0.2, math.nan, 1.0], ["yes", "no", "no"], np.ones((3, 1), dtype=bool)]
)
def test_bad_answers_are_refused(answer):
    (oracle,) = keep_columns(Listed(COLUMNS), Scripted(lambda offered: answer))
    with pytest.raises(InputError, match="3 truth values, one per column"):
        oracle.price(duals(a=3.0, b=-1.0), PricingContext(Sense.MINIMIZE))


@pytest.mark.parametrize("selector", [None, Scripted, lambda offered: True])
def test_a_selector_needs_its_method(selector):
    with pytest.raises(InputError, match="keep"):
        keep_columns(Listed(COLUMNS), selector)


def test_identical_oracles_stay_identical():
    one, other = keep_columns([Listed(COLUMNS), Listed(COLUMNS)], KEEP_NONE)
    assert type(one) is type(other)
    assert vars(one).keys() == vars(other).keys()

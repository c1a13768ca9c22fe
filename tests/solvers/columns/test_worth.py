"""Each pass over columns against the same in words of matrices."""

import math

import numpy as np
import pytest

from solvers.columns.worth import activities, bound_terms, least_reduced_costs, products

TEMPLATE = -2


def columns(seed, count=30, rows=7):
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, count)) * (rng.random((rows, count)) < 0.4)
    there = np.argwhere(dense.T != 0.0)
    starts = np.searchsorted(there[:, 0], np.arange(count + 1)).astype(np.int32)
    return rng, dense, (starts, there[:, 1].astype(np.int32), dense[there[:, 1], there[:, 0]])


@pytest.mark.parametrize("known", [0, 4, 7, 9])
def test_products_know_rows_that_have_a_dual_value(known):
    rng, dense, entries = columns(known)
    duals = rng.normal(size=known)
    duals.setflags(write=False)
    padded = np.concatenate([duals, np.zeros(9)])[:7]
    assert products(*entries, duals) == pytest.approx(padded @ dense)


@pytest.mark.parametrize("known", [0, 12, 30])
def test_activities_of_the_first_columns(known):
    rng, dense, entries = columns(known)
    amounts = np.where(rng.random(known) < 0.5, 0.0, rng.normal(size=known))
    amounts.setflags(write=False)
    assert activities(*entries, amounts, 9) == pytest.approx([*(dense[:, :known] @ amounts), 0.0, 0.0])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("count", [1, 2])
def test_the_least_reduced_cost_of_each_pricing_problem(sign, count):
    rng = np.random.default_rng(count)
    costs, earned = rng.normal(size=(2, 40))
    upper = np.where(rng.random(40) < 0.3, 1.0, math.inf)
    origins = rng.integers(-2, 3, 40).astype(np.int32)  # 2 is the number of nobody that is asked for
    first = -1 if count == 1 else 0
    reduced = sign * (costs - earned)
    mine = [(origins >= -1) if count == 1 else origins == k for k in range(count)]
    expected = [reduced[own & (upper == math.inf)].min() for own in mine]
    assert least_reduced_costs(costs, earned, upper, origins, sign, first, count).tolist() == expected


def test_nobodys_column_leaves_infinity():
    one, origins = np.ones(1), np.array([TEMPLATE], dtype=np.int32)
    assert least_reduced_costs(one, one, np.array([math.inf]), origins, 1.0, 0, 2).tolist() == [math.inf, math.inf]


def sides(duals, lower, upper, sign):
    """Their terms, and what these are in size."""
    none = np.empty(0)
    return bound_terms(
        duals, lower, upper, none, none, none, none, none, none.astype(np.int32), sign, 1.0, 0.0, 0.0, 0.0, TEMPLATE
    )[:2]


def test_sides_are_those_that_dual_values_speak_of():
    duals = np.array([2.0, -3.0, 0.0])
    lower, upper = np.array([5.0, -math.inf, -math.inf]), np.array([math.inf, 4.0, math.inf])
    assert sides(duals, lower, upper, 1.0) == (2.0 * 5.0 - 3.0 * 4.0, 2.0 * 5.0 + 3.0 * 4.0)
    assert sides(-duals, lower, upper, -1.0) == (2.0 * 5.0 - 3.0 * 4.0, 2.0 * 5.0 + 3.0 * 4.0)
    assert math.isinf(sides(-duals, lower, upper, 1.0)[0])  # of sides that are not there
    assert math.isnan(sides(np.array([math.nan]), lower[:1], upper[:1], 1.0)[0])


def boxes(costs, earned, lower, upper, weights, origins, sign, theta, clean, share=1.0, rounding=0.0):
    none, allowed = np.empty(0), (clean, share, rounding)
    return bound_terms(
        none, none, none, costs, earned, lower, upper, weights, origins, sign, theta, *allowed, TEMPLATE
    )[2]


def box(reduced, lower, upper, origin=0, weight=0.0, clean=1e-7):
    arrays = (np.array([value]) for value in (reduced, 0.0, lower, upper, weight))
    return boxes(*arrays, np.array([origin], dtype=np.int32), 1.0, 1.0, clean)


def test_box_terms_by_hand():
    assert box(-2.0, 0.0, 3.0) == -6.0
    assert box(2.0, 0.5, 3.0) == 1.0
    assert box(-2.0, 0.0, math.inf) == 0.0  # an oracle answers for it
    assert box(-2.0, 1.0, math.inf) == -2.0  # but for what it has at least
    assert box(-2.0, 0.0, math.inf, TEMPLATE) == -math.inf
    assert box(-1e-8, 0.0, math.inf, TEMPLATE) == 0.0
    assert box(-1e-6, 0.0, math.inf, TEMPLATE) == -math.inf
    assert box(-1e-6, 0.0, math.inf, TEMPLATE, weight=16.0) == 0.0  # rounding of a weight
    assert box(1.0, -math.inf, 1.0) == -math.inf
    assert math.isnan(box(math.nan, 1.0, 3.0))


def test_box_terms_at_a_part_of_the_dual_values():
    costs, earned = np.array([1.0]), np.array([4.0])
    zero, two, origins = np.zeros(1), np.array([2.0]), np.zeros(1, dtype=np.int32)
    assert boxes(costs, earned, zero, two, zero, origins, 1.0, 0.5, 0.0) == -2.0
    assert boxes(-costs, -earned, zero, two, zero, origins, -1.0, 0.5, 0.0) == -2.0


def test_a_reduced_cost_of_a_variable_without_an_end_is_small_beside_its_own_cost():
    one, none, origins = np.ones(1), np.zeros(1), np.array([TEMPLATE], dtype=np.int32)

    def left(cost, earned, clean=1.0, share=1e-7, rounding=0.0):
        arrays = (np.array([cost]), np.array([earned]), none, np.inf * one, none, origins)
        return boxes(*arrays, 1.0, 1.0, clean, share, rounding)

    assert left(-0.5, 0.0) == -math.inf  # small beside the costs of others alone
    assert left(1e8, 1e8 + 0.5) == 0.0
    assert left(1.0, 1.0 + 1e-6) == -math.inf
    assert left(1.0, 1.0 + 1e-6, rounding=1e-5) == 0.0
    assert left(-1e-6, 0.0, rounding=1e-5) == -math.inf  # nothing is taken off, so that nothing is rounded

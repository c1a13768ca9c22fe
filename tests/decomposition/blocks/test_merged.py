"""Joint pricing of blocks of a kind agrees with pricing them separately."""

import numpy as np
import pytest

from colgen import decompose, solve
from colgen.decomposition.blocks.merged import JoinedPricing
from colgen.testing import check_problem
from tests.decomposition import models


@pytest.mark.parametrize(("make", "by"), [(models.lots, "item"), (models.assignment, "machine")])
@pytest.mark.parametrize("seed", range(3))
def test_one_oracle_agrees_with_highs_on_each_block(make, by, seed):
    problem = decompose(make(seed), by)
    (oracle,) = problem.pricing()
    assert isinstance(oracle, JoinedPricing)
    apart = decompose(make(seed), by, recognize=False)
    for relaxation in (True, False):
        one, other = solve(problem, relaxation=relaxation), solve(apart, relaxation=relaxation)
        assert one.termination is other.termination
        assert one.objective == pytest.approx(other.objective)


@pytest.mark.parametrize(("make", "by"), [(models.lots, "item"), (models.assignment, "machine")])
def test_the_oracle_passes_the_conformance_checks(make, by):
    report = check_problem(decompose(make(1), by), seconds=20)
    assert not report.findings, report


def test_columns_are_those_of_the_blocks():
    problem = decompose(models.lots(2), "item")
    (oracle,) = problem.pricing()
    subs = oracle.subs
    points = np.random.default_rng(0).integers(0, 3, sum(len(sub.costs) for sub in subs)).astype(float)
    batch = oracle.batch(points, np.arange(len(subs)))
    batch = batch.over(problem.splitting.row_keys, {key: k for k, key in enumerate(problem.splitting.row_keys)})
    first = 0
    for k, sub in enumerate(subs):
        point = points[first : first + len(sub.costs)]
        column = problem.splitting.column(sub, point)
        assert batch[k].cost == column.cost
        assert batch[k].coefficients == column.coefficients
        assert batch[k].structure.number == sub.number
        assert np.array_equal(batch[k].structure.values, point)
        first += len(sub.costs)


def test_wide_knapsacks_and_those_of_other_lengths_are_priced_separately():
    wide = decompose(models.cutting(1), "roll", aggregate=False)
    assert not any(isinstance(oracle, JoinedPricing) for oracle in wide.pricing())
    assert solve(wide).objective == pytest.approx(solve(decompose(models.cutting(1), "roll")).objective)

"""The oracle of a block in HiGHS: points and bounds, also under component bounds and limits."""

import itertools
import math

import numpy as np
import pytest

from colgen import PricingContext, Sense, Termination, TimeLimit, decompose, solve
from colgen.core.terms import Box, PricedTerms
from colgen.decomposition.blocks import oracles
from colgen.decomposition.blocks.mixed_integer import MixedIntegerPricing, in_box
from colgen.model.rows import compile_model
from colgen.reporting.compared import solve_complete
from colgen.testing import check_problem
from tests.amounts import examples
from tests.decomposition import models
from tests.decomposition.models import FAMILIES


def test_bounds_are_valid_after_a_limit():
    model = models.lots(0, items=4, periods=8)
    best = solve_complete(compile_model(model))
    short = solve(decompose(model, "item"), stop=TimeLimit(0.3))
    assert short.termination in (Termination.TIME_LIMIT, Termination.OPTIMAL)  # on a machine that is fast enough
    assert short.dual_bound <= best.objective * (1 + 1e-6)


@pytest.mark.parametrize("family", ["assignment", "packing", "anything"])
def test_the_oracles_pass_the_conformance_kit(family):
    make, by = FAMILIES[family]
    report = check_problem(decompose(make(0), by, recognize=False), seconds=examples(1.0, 4.0))
    assert report.ok, report


@pytest.mark.parametrize("by", ["kernel", "kernel without nodes", "HiGHS"])
@pytest.mark.parametrize("seed", range(examples(4, 40)))
def test_pricing_under_component_bounds_equals_enumeration(seed, by, monkeypatch):
    rng = np.random.default_rng(seed)
    problem = decompose(models.cutting(seed, rolls=2), "roll")
    (sub,) = problem.splitting.subproblems
    (oracle,) = problem.pricing() if by.startswith("kernel") else [MixedIntegerPricing(problem.splitting, sub)]
    if by == "kernel":  # HiGHS is not needed
        monkeypatch.setattr(MixedIntegerPricing, "program", None)
    else:
        monkeypatch.setattr(oracles, "_MOST_NODES", 0)
    boxes = PricedTerms(
        [
            Box(oracle.box_block, ((0, 1.0, math.inf),)),
            Box(oracle.box_block, ((0, -math.inf, 1.0), (1, 1.0, math.inf))),
            Box(oracle.box_block, ((1, 1.0, 1.0), (2, -math.inf, 0.0))),
            *(
                Box(oracle.box_block, ((k, low, low + 1.0), (k + 1, -math.inf, low)))
                for k in (0, 1)
                for low in (0.0, 1.0)
            ),
        ],
        rng.uniform(-30, 30, 7),
    )
    costs = rng.uniform(-30, 30, len(sub.costs))
    ranges = [range(int(low), int(high) + 1) for low, high in zip(sub.lower, sub.upper, strict=True)]
    points = np.array(list(itertools.product(*ranges)), dtype=float)
    points = points[((points @ sub.matrix.T.toarray()) <= sub.row_upper).all(axis=1)]
    paid = sum(value * in_box(box, points) for box, value in zip(boxes.terms, boxes.values, strict=True))
    best = (oracle._sign * (points @ costs - paid)).min()
    found = oracle._solve(costs, boxes, PricingContext(Sense.MAXIMIZE))
    assert found.bound == pytest.approx(best)
    first = found.points[:1, : len(costs)]
    earned = sum(value * in_box(box, first)[0] for box, value in zip(boxes.terms, boxes.values, strict=True))
    assert oracle._sign * (float(first[0] @ costs) - earned) == pytest.approx(best)
    assert (points == first).all(axis=1).any()

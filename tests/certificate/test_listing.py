"""Certificates by lists of columns: bounds over a list, and the denominator of dual values."""

from fractions import Fraction

import numpy as np
import pytest

from colgen.certificate.listing import ListedColumns
from colgen.problems.vehicle_routing import VehicleRouting, random


@pytest.mark.parametrize("goal", [0, 37])
@pytest.mark.parametrize("rows", [[], [[0, 2]]])
def test_lists_of_too_few_columns_hold_no_better_solution(rows, goal):
    instance = random(1, customers=8)
    sets = np.zeros((len(rows), 8), dtype=np.int64)
    for row, members in zip(sets, rows, strict=True):
        row[members] = 1
    certifier = VehicleRouting(instance).certifier()
    listed = ListedColumns(sets, np.full(len(rows), 9), np.zeros(len(rows), dtype=np.int64))
    found = certifier._bound_node(listed, Fraction(goal))
    assert certifier._round_up(found.total) >= goal


def test_a_smaller_step_needs_a_larger_denominator():
    certifier = VehicleRouting(random(1, customers=8)).certifier()
    assert certifier._unit == 2**17  # a tenth
    certifier = VehicleRouting(random(1, customers=8)).certifier()
    certifier._step = Fraction(1, 1000)
    assert 8 / certifier._unit < certifier._step / 2

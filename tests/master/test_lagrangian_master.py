"""A master without a linear program: what its oracles state, added up; nothing where one of them is silent."""

import math

import pytest

from colgen import PricingResult, Sense
from colgen.core.budget import Budget
from colgen.core.errors import FormulationError
from colgen.master.lagrangian_master import LagrangianMaster
from tests.master.programs import Priced


@pytest.mark.parametrize("sense", Sense)
def test_bounds_are_added_up(sense):
    master = LagrangianMaster(sense, constant=lambda duals: 2.0 * duals)
    pricing = [Priced(3.0), Priced(1.0)]
    results = [PricingResult(bound=1.5), PricingResult(bound=-4.0, total=-2.0)]
    assert master.bound(10.0, pricing, results) == 20.0 + 4.5 - 2.0
    assert LagrangianMaster(sense).bound(None, pricing[:1], results[:1]) == 4.5


@pytest.mark.parametrize("sense", Sense)
def test_an_oracle_without_a_bound_gives_no_bound(sense):
    master = LagrangianMaster(sense)
    assert master.bound(None, [Priced(1.0)], [PricingResult()]) == sense.ideal


@pytest.mark.parametrize("sense", Sense)
def test_any_number_of_columns_must_not_improve(sense):
    master, any_number = LagrangianMaster(sense), [Priced(math.inf)]
    better, worse = -1.0 * sense.sign, 1.0 * sense.sign
    assert master.bound(None, any_number, [PricingResult(bound=better)]) == sense.ideal
    assert master.bound(None, any_number, [PricingResult(bound=worse)]) == 0.0


def test_solving_raises_an_error():
    master = LagrangianMaster(Sense.MINIMIZE)
    assert (master.num_rows, master.num_columns, master.holds_columns) == (0, 0, False)
    with pytest.raises(FormulationError, match=r"bounding\(\)"):
        master.solve(Budget())
    with pytest.raises(FormulationError):
        master.solution(None)

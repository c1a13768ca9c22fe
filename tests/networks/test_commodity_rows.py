"""Conservation of commodities in a Pyomo model, against column generation."""

import numpy as np
import pytest

from colgen import InputError, Paths, decompose, solve
from colgen.networks.commodity_rows import write_conservation
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.highs import LPStatus
from tests.networks.flow_programs import network, pyomo_model


def compact_optimum(m):
    """Return the optimum of a model with conservation, as HiGHS finds it."""
    m.goods.del_component("call_compact_first")
    m.goods.del_component("refuses_other_solvers")
    write_conservation(m.goods)
    found = solve_complete(m)
    return found.objective if found.status is LPStatus.OPTIMAL else np.inf


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("own", "unsplittable"), [(False, False), (True, False), (True, True)])
def test_the_compact_model_has_the_same_optimum(seed, own, unsplittable):
    made = network(seed, commodities=4, tightness=0.8, own=own)
    made.unsplittable = unsplittable
    ours, theirs = solve(decompose(pyomo_model(made))).objective, compact_optimum(pyomo_model(made))
    if np.isinf(theirs):
        assert np.isinf(ours)
    else:
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6)


def test_arrays_have_no_compact_model():
    paths = Paths((["a"], ["b"]), np.array([0]), commodities=(["a"], ["b"], [1.0]))
    with pytest.raises(InputError, match="expected Pyomo variables"):
        write_conservation(paths)

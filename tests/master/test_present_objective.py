"""The objective of the present phase: real costs, or violations."""

import numpy as np

from colgen.master.tableau import tableau_of
from tests.master.programs import (
    col,
    covering,
)


def test_real_costs_count_inside_in_phase_1_too():
    master = covering()
    master.add([col((1, 0), 7.0)])
    solved = master.solve()
    assert (master.objective.phase, master.precision.scale) == (1, 1.0)
    violations = master.objective.reduced_costs(solved.duals)
    where = master.table.where(col((1, 0), 7.0).identity)
    with master.rows.real_costs():
        assert master.objective.phase == 2
        real = master.objective.reduced_costs(solved.duals)
        assert real[where] - violations[where] == 7.0
        assert (master.table.upper_now[master.table.artificial] == 0.0).all()
    assert (master.objective.phase, master.precision.scale) == (1, 1.0)
    assert master.objective.reduced_costs(solved.duals).tolist() == violations.tolist()
    assert np.isinf(master.table.upper_now[master.table.artificial]).all()


def test_the_constant_is_the_real_objective_s():
    _, _, program, objective = tableau_of(covering().formulation, {}, dual_first=False)
    assert objective.constant == 1.0
    objective.enter(1)
    assert objective.constant == 0.0
    assert not program.is_built

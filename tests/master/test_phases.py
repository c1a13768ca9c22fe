"""Solving a linear master in two phases, back and forth as rows and columns join."""

import pyomo.environ as pyo
import pytest

from colgen import Column, Row
from colgen.core.errors import SolverError as EngineSolverError
from colgen.master.protocol import MasterStatus
from colgen.solvers.linear.highs import SolverError
from colgen.solvers.linear.lp import LinearProgram
from tests.master.programs import (
    col,
    covering,
)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_phases(sense):
    master = covering(sense=sense)
    sign = master.sense.sign
    solved = master.solve()
    assert solved.status is MasterStatus.OPTIMAL
    # Phase 1: y covers the first row for nothing, the second row's two units are missing, all of a row of that size.
    assert solved.phase == 1
    assert solved.objective == pytest.approx(sign)
    assert solved.duals["demand", 1] == pytest.approx(sign / 2)
    assert master.price([col((0, 1), sign)], solved.duals) == pytest.approx([-sign / 2])  # no cost in phase 1

    master.add([col((0, 1), sign * 1.0)])
    solved = master.solve()
    assert solved.phase == 2
    assert solved.objective == pytest.approx(sign * (3 * 5 + 2 * 1) + 1)
    assert solved.duals["demand"] == pytest.approx([5 * sign, sign])

    # A row that nothing satisfies takes it back to phase 1, a column that does out of it again.
    master.add([], [Row(("cut", 0), lower=4.0, coefficients={("x", 1): 2.0})])
    solved = master.solve()
    assert solved.phase == 1
    assert solved.objective == pytest.approx(sign)  # four of four
    master.add([Column(sign * 7.0, {}, "late", key=("x", 1))])
    solved = master.solve()
    assert solved.phase == 2
    assert solved.objective == pytest.approx(sign * (17 + 14) + 1)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("there", [True, False])
def test_a_wrong_claim_of_feasibility_falls_back_to_phase_1(sense, there, monkeypatch):
    master, phases = covering(sense=sense), []
    sign = master.sense.sign
    solve = LinearProgram.solve
    monkeypatch.setattr(LinearProgram, "solve", lambda *args: phases.append(master.objective.phase) or solve(*args))
    if there:
        master.add([col((0, 1), sign * 1.0)])
    master.node.begin_feasible()
    solved = master.solve()
    assert phases == ([2] if there else [2, 1])
    assert solved.phase == phases[-1]
    assert solved.objective == pytest.approx(sign * (3 * 5 + 2 * 1) + 1 if there else sign)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_a_program_without_a_verdict_is_looked_at_in_phase_1(sense, monkeypatch):
    """A solver may fail on a program that is barely infeasible."""
    master = covering(sense=sense)
    sign = master.sense.sign
    master.add([col((0, 1), sign * 1.0)])
    assert master.solve().phase == 2
    master.add([], [Row(("cut", 0), lower=4.0, coefficients={("x", 1): 2.0})])
    solve, phases = LinearProgram.solve, []

    def undecided(*args):
        phases.append(master.objective.phase)
        if master.objective.phase == 2:
            raise SolverError("no verdict")
        return solve(*args)

    monkeypatch.setattr(LinearProgram, "solve", undecided)
    solved = master.solve()
    assert phases == [2, 1]
    assert solved.phase == 1
    assert solved.objective == pytest.approx(sign)  # four of four are missing
    # Without anything missing there is no other phase to ask.
    master.add([Column(sign * 7.0, {}, "late", key=("x", 1))])
    with pytest.raises(EngineSolverError, match="no verdict"):
        master.solve()

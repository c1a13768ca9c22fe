"""A linear master at its nodes: decisions are applied and taken back, dives fix columns."""

import math

import pytest

from colgen.branching.rules import Bound, TemplateBound
from colgen.core.decision import Apart, Together
from colgen.master.protocol import MasterStatus
from tests.master.programs import (
    col,
    covering,
    used,
)


def test_decisions_are_applied_and_removed():
    master = covering(demands=(3.0, 2.0))
    both, first, second = col((1, 1)), col((1, 0)), col((0, 1))
    master.add([both, first, second])
    free = master.solve().objective
    assert free == pytest.approx(1 + 3)

    rows = ("demand", 0), ("demand", 1)
    master.node.apply([Apart(*rows)])
    assert master.solve().objective == pytest.approx(1 + 5)
    assert not master.at(master.find([both])[0]).is_open
    master.node.apply([Together(*rows)])
    assert set(used(master, master.solve())) == {(1, 1)}

    master.node.apply([TemplateBound(("y", None), 2.0, math.inf)])
    assert master.solve().objective == pytest.approx(1 + 2 * 5 + 2)

    few = Bound(("branch", "pairs"), -math.inf, 1.0, lambda c: float(sum(c.structure) == 2))
    many = Bound(("branch", "pairs"), 4.0, math.inf, lambda c: float(sum(c.structure) == 2))
    master.node.apply([few])
    assert master.solve().objective == pytest.approx(1 + 1 + 2 + 1)
    master.node.apply([many])
    assert master.solve().objective == pytest.approx(1 + 4)
    master.node.apply([few, Bound(few.key, -math.inf, 0.0, few.value)])  # the tighter of two counts
    assert master.solve().objective == pytest.approx(1 + 5)

    # Columns that come at a node obey it, and are free at another.
    master.node.apply([Apart(*rows)])
    cheap = col((2, 2), cost=0.5)
    master.add([cheap])
    assert master.solve().objective == pytest.approx(1 + 5)
    master.node.apply([])
    assert master.solve().objective == pytest.approx(1 + 0.75)
    assert master.at(master.find([cheap])[0]).is_open


def test_rows_of_decisions_can_be_missed_in_phase_1():
    master = covering(demands=(1.0, 0.0))
    master.add([col((1, 0))])
    assert master.solve().phase == 2
    # No column is counted by this row yet: pricing has to find one.
    master.node.apply([Bound(("branch", 0), 2.0, math.inf, lambda c: float(c.structure == (1, 1)))])
    solved = master.solve()
    assert solved.phase == 1
    assert solved.objective == pytest.approx(1.0)  # two of two
    master.add([col((1, 1))])
    assert master.solve().objective == pytest.approx(1 + 2)


def test_fixing():
    master = covering(demands=(3.0, 0.0))
    poor, good = col((1, 0), cost=9.0), col((1, 0), cost=1.0)
    master.add([poor, good])
    assert master.solve().objective == pytest.approx(4)
    master.node.fix({poor.identity: 2.0})
    assert master.solve().objective == pytest.approx(1 + 18 + 1)
    master.node.fix({})
    assert master.solve().objective == pytest.approx(4)


def test_contradictory_decisions_are_infeasible():
    master = covering(demands=(1.0, 0.0))
    master.add([col((1, 0))])
    few = Bound(("branch", 0), -math.inf, 1.0, lambda c: 1.0)
    master.node.apply([few, Bound(few.key, 2.0, math.inf, few.value)])
    assert master.solve().status is MasterStatus.INFEASIBLE
    master.node.apply([])
    assert master.solve().status is MasterStatus.OPTIMAL

"""Bases of a linear master, saved and restored."""

import math

import numpy as np
import pytest

from colgen import Row
from colgen.branching.rules import TemplateBound
from tests.master.programs import (
    col,
    random_master,
)


def test_basis_is_restored():
    master = random_master(np.random.default_rng(1))
    solved = master.solve()
    saved = master.node.basis()
    master.node.apply([TemplateBound(("y", None), 3.0, math.inf)])
    assert master.solve().objective != pytest.approx(solved.objective)
    master.add([col((4, 4, 4), 50.0)])  # too dear to enter: the saved basis stays optimal with it
    master.add((), [Row(("slack", 0), upper=1e4, coefficient=lambda c: 1.0)])
    master.node.apply([])
    master.node.restore(saved)
    again = master.solve()
    assert again.objective == pytest.approx(solved.objective)
    assert master.lp.simplex_iterations == 0


def test_basis_from_before_a_deletion_is_not_restored():
    master = random_master(np.random.default_rng(2))
    for _ in range(3):
        solved = master.solve()
    saved = master.node.basis()
    assert master.node.remove_stale(2) > 0
    master.node.restore(saved)  # positions have moved: it must not be used
    assert master.solve().objective == pytest.approx(solved.objective)

"""How candidates are ranked."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from colgen.branching.rules import Candidate
from colgen.branching.selection import by_merit, merit


def test_a_gain_counts_up_to_the_gap_and_no_child_counts_nothing():
    trying = SimpleNamespace(least=0.001, gap=4.0)
    assert merit([2.0, 3.0], trying) == 6.0
    assert merit([2.0, 9.0], trying) == merit([2.0, math.inf], trying) == 8.0
    assert merit([0.0, 3.0], trying) == pytest.approx(0.003)
    assert merit([], trying) == 0.0
    gains = [np.array([1.0, 1.0]), np.array([0.5, 9.0]), np.array([2.0, 0.5]), np.array([])]
    assert by_merit([Candidate([])] * 4, gains, trying) == [1, 0, 2, 3]

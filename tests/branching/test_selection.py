"""The ranking of candidates."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from colgen.branching.rules import Candidate
from colgen.branching.selection import merit, rank_by_merit


def test_a_gain_counts_up_to_the_gap_and_no_children_have_no_merit():
    trials = SimpleNamespace(least=0.001, gap=4.0)
    assert merit([2.0, 3.0], trials) == 6.0
    assert merit([2.0, 9.0], trials) == merit([2.0, math.inf], trials) == 8.0
    assert merit([0.0, 3.0], trials) == pytest.approx(0.003)
    assert merit([], trials) == 0.0
    gains = [np.array([1.0, 1.0]), np.array([0.5, 9.0]), np.array([2.0, 0.5]), np.array([])]
    assert rank_by_merit([Candidate([])] * 4, gains, trials) == [1, 0, 2, 3]

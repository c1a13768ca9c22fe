"""Pictures of several methods."""

import pytest

from colgen import Method, NoStabilization, ablation
from colgen.core.errors import InputError
from tests.assignment import assignment

TWO = {"default": Method(), "no stabilization": Method(stabilization=NoStabilization())}


def test_bounds_of_one_instance_are_drawn_and_a_profile_of_several():
    one = ablation(assignment(), TWO)
    for by in ("round", "second"):
        axes = one.draw(by)
        assert [line.get_label() for line in axes.get_lines()] == list(TWO)
        assert axes.get_lines()[0].get_ydata()[-1] == one.lines[0].dual_bound
    several = ablation([assignment(seed=1), assignment(seed=2)], TWO).draw()
    assert [line.get_label() for line in several.get_lines()] == list(TWO)
    assert max(several.get_lines()[0].get_ydata()) == 100.0
    with pytest.raises(InputError, match="'node'"):
        one.draw("node")

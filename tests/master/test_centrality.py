"""Central dual values or those of a corner: what trials decide, by gains alone."""

import pytest

from colgen import InputError, LinearMaster, WarmStart, solve
from colgen.master.centrality import Centrality
from problems.assignment import random
from problems.assignment.unguessed import Unguessed
from tests.master.programs import covering


def choices(gains, count, sign=1.0):
    """What is chosen in so many solves, if an objective gains so much after a corner and after a middle."""
    centrality, objective, found = Centrality("auto"), 1000.0 * sign, []
    for _ in range(count):
        found.append(centrality.next(objective, sign))
        objective -= sign * gains[found[-1]]
    return found


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("middle", "kept"), [(5.0, True), (1.2, False), (0.0, False)])
def test_a_trial_of_eight_is_kept_to_and_repeated(middle, kept, sign):
    found = choices({False: 1.0, True: middle}, 8 + 24 + 8 + 48, sign)
    assert found[:8] == [False, True, True, False] * 2
    assert found[8:32] == [kept] * 24
    assert found[32:40] == found[:8]
    assert found[40:] == [kept] * 48


def test_an_objective_that_gets_worse_is_nobodys_gain():
    centrality = Centrality("auto")
    for objective in (10.0, 9.0, 50.0, 49.0, 48.0, 47.0, 46.0, 45.0):
        centrality.next(objective, 1.0)
    assert not centrality.next(44.0, 1.0)


@pytest.mark.parametrize("central", [True, False])
def test_who_decides_is_not_asked_again(central):
    centrality = Centrality(central)
    assert [centrality.next(float(k), 1.0) for k in range(30)] == [central] * 30


@pytest.mark.parametrize("central", ["always", None, 2])
def test_anything_else_is_refused(central):
    with pytest.raises(InputError, match="central: expected True, False or 'auto', not"):
        LinearMaster(covering().formulation, central=central)


def test_a_run_comes_out_the_same_every_time():
    class Automatic(Unguessed):
        def restricted_master(self):
            return LinearMaster(self.formulation(), central="auto")

    def rounds():
        found = solve(Automatic(random(4, 16, 1)), relaxation=True, start=WarmStart())
        return found.dual_bound, [(i.objective, i.dual_bound, i.new_columns) for i in found.iterations]

    first = rounds()
    assert rounds() == first
    assert first[0] == pytest.approx(solve(Unguessed(random(4, 16, 1)), relaxation=True).dual_bound)

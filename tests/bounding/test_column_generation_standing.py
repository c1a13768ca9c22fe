"""What the rounds at a node have proved so far."""

import pytest

from colgen import Sense
from colgen.bounding.column_generation import Standing
from colgen.bounding.pricing_round import NONE_IMPROVING, PricedRound
from colgen.bounding.protocol import Outcome
from colgen.master.protocol import MasterSolution, MasterStatus
from colgen.pricing.calls import gather

NOTHING = gather([], None)


def solved(objective, phase=2):
    return MasterSolution(MasterStatus.OPTIMAL, objective, phase=phase)


@pytest.mark.parametrize("sense", list(Sense))
def test_the_best_bound_of_a_phase_is_kept(sense):
    s, standing = sense.sign, Standing(sense)
    assert standing.moves_on(solved(9.0 * s, phase=1))
    standing.bound = s
    assert standing.node_bound == sense.ideal  # phase 1 proves nothing of answers
    assert standing.moves_on(solved(9.0 * s))
    assert not standing.moves_on(solved(8.0 * s))
    assert (standing.bound, standing.duals) == (sense.ideal, None)
    for bound, duals in ((3.0, "first"), (5.0, "second"), (4.0, "third")):
        standing.learn(PricedRound(NONE_IMPROVING, s * bound, duals, True, 0, NOTHING, []))
    bounded = standing.bounded(Outcome.SOLVED)
    assert (bounded.bound, bounded.duals, bounded.solved.objective) == (5.0 * s, "second", 8.0 * s)


@pytest.mark.parametrize("sense", list(Sense))
def test_a_bound_that_was_known_is_one_of_phase_2(sense):
    s = sense.sign
    standing = Standing(sense, (3.0 * s, "known"))
    standing.moves_on(solved(9.0 * s, phase=1))
    assert standing.bound == sense.ideal
    standing.moves_on(solved(9.0 * s))
    standing.learn(PricedRound(NONE_IMPROVING, 2.0 * s, "worse", True, 0, NOTHING, []))
    assert (standing.bound, standing.duals) == (3.0 * s, "known")


def test_columns_are_deleted_again_only_after_progress():
    standing = Standing(Sense.MINIMIZE)
    standing.moves_on(solved(9.0))
    assert standing.progresses(1.0)
    assert not standing.progresses(1.0)
    standing.moves_on(solved(8.0))
    assert standing.progresses(1.0)

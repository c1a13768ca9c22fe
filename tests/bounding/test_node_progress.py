"""The bounds that the rounds at a node have proved."""

import pytest

from colgen import Sense
from colgen.bounding.column_generation import NodeProgress
from colgen.bounding.pricing_round import NONE_IMPROVING, PricedRound
from colgen.bounding.protocol import Outcome
from colgen.master.protocol import MasterSolution, MasterStatus
from colgen.pricing.calls import gather

NOTHING = gather([], None)


def solved(objective, phase=2):
    return MasterSolution(MasterStatus.OPTIMAL, objective, phase=phase)


@pytest.mark.parametrize("sense", list(Sense))
def test_the_best_bound_of_a_phase_is_kept(sense):
    s, progress = sense.sign, NodeProgress(sense)
    assert progress.update_master(solved(9.0 * s, phase=1))
    progress.bound = s
    assert progress.node_bound == sense.ideal  # phase 1 proves nothing of answers
    assert progress.update_master(solved(9.0 * s))
    assert not progress.update_master(solved(8.0 * s))
    assert (progress.bound, progress.duals) == (sense.ideal, None)
    for bound, duals in ((3.0, "first"), (5.0, "second"), (4.0, "third")):
        progress.add_round(PricedRound(NONE_IMPROVING, s * bound, duals, True, 0, NOTHING, []))
    bounded = progress.result(Outcome.SOLVED)
    assert (bounded.bound, bounded.duals, bounded.solved.objective) == (5.0 * s, "second", 8.0 * s)


@pytest.mark.parametrize("sense", list(Sense))
def test_an_earlier_bound_belongs_to_phase_2(sense):
    s = sense.sign
    progress = NodeProgress(sense, (3.0 * s, "known"))
    progress.update_master(solved(9.0 * s, phase=1))
    assert progress.bound == sense.ideal
    progress.update_master(solved(9.0 * s))
    progress.add_round(PricedRound(NONE_IMPROVING, 2.0 * s, "worse", True, 0, NOTHING, []))
    assert (progress.bound, progress.duals) == (3.0 * s, "known")


def test_columns_are_deleted_again_only_after_progress():
    progress = NodeProgress(Sense.MINIMIZE)
    progress.update_master(solved(9.0))
    assert progress.has_progressed(1.0)
    assert not progress.has_progressed(1.0)
    progress.update_master(solved(8.0))
    assert progress.has_progressed(1.0)

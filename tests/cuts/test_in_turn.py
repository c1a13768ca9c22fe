"""Separations in order."""

import pytest

from colgen import Row, Sense, Separation, SeparationContext, Solution
from colgen.cuts.in_turn import InTurn


class Always(Separation):
    def __init__(self, name, every=1):
        self.row, self.every, self.calls = Row((name, None), upper=1.0), every, 0

    def separate(self, solution, context):
        self.calls += 1
        return [self.row] if self.every else []

    def restated(self, key):
        return self.row if key == self.row.key else None


@pytest.mark.parametrize("enough", [False, True])
def test_a_later_separation_runs_only_if_the_earlier_find_nothing(enough):
    solution, context = Solution(0.0, ()), SeparationContext(Sense.MINIMIZE)
    first, last = Always("first", every=0), Always("last")
    turns = InTurn(first, last, enough=lambda context: enough)
    assert turns.separate(solution, context) == ([] if enough else [last.row]) or enough
    assert (first.calls, last.calls) == (1, 0 if enough else 1)
    whole = SeparationContext(Sense.MINIMIZE, whole=True)
    assert turns.separate(solution, whole) == [last.row]
    assert InTurn(last, first).separate(solution, context) == [last.row]
    assert first.calls == 2
    assert turns.restated(("last", None)) is last.row
    assert turns.restated(("other", None)) is None

"""Which separations are called, and which of their rows are added."""

import math
from types import SimpleNamespace

import pytest

from colgen import Row, Sense, Separation, SeparationContext, Solution
from colgen.bounding.column_generation import separate, separation_context
from colgen.core.errors import SeparationError
from colgen.core.terms import Count

X, Y = ("x", 0), ("y", 0)
SOLUTION = Solution(0.0, variables={X: 3.0, Y: 5.0})


class Given(Separation):
    """Rows ``x ≤ side`` and ``y ≤ side``, for sides in an order."""

    def __init__(self, *rows, every=1, limit=None, exhaustive=True):
        self.rows, self.every, self.limit, self.exhaustive = rows, every, limit, exhaustive

    def separate(self, solution):
        return [Row((key[0], side), upper=side, coefficients={key: 1.0}) for key, side in self.rows]


def parts(*separation, known=(), rows=(), waiting=math.inf):
    master = SimpleNamespace(rows=rows)
    return SimpleNamespace(
        separation=separation,
        master=master,
        oracles=(),
        run=SimpleNamespace(
            known=known, cut_share=1.0, cuts_wait=False, sense=Sense.MINIMIZE, best_waiting=waiting, objective=10.0
        ),
    )


def found(*separation, depth=0, whole=False, bound=math.nan, **more):
    context = SeparationContext(Sense.MINIMIZE, depth=depth, whole=whole, bound=bound)
    return [row.key for row in separate(parts(*separation, **more), SOLUTION, context)]


def test_the_most_violated_rows_are_added_in_their_order():
    rows = (X, 2.0), (Y, 1.0), (X, 1.0), (Y, 4.0)
    # x of 3 violates 2 by a third of its size, 1 by two; y of 5 violates 1 by four fifths, 4 by one.
    assert found(Given(*rows)) == [("x", 2.0), ("y", 1.0), ("x", 1.0), ("y", 4.0)]
    assert found(Given(*rows, limit=2)) == [("y", 1.0), ("x", 1.0)]
    assert found(Given(*rows, limit=1), Given((X, 2.0), limit=1)) == [("y", 1.0), ("x", 2.0)]
    assert found(Given(*rows, limit=9)) == found(Given(*rows))


def test_levels_count_for_fractional_solutions_alone():
    often, seldom = Given((X, 2.0)), Given((Y, 1.0), every=2)
    assert found(often, seldom, depth=2) == [("x", 2.0), ("y", 1.0)]
    assert found(often, seldom, depth=3) == [("x", 2.0)]
    assert found(often, seldom, depth=3, whole=True) == [("x", 2.0), ("y", 1.0)]


def test_cuts_that_change_pricing_are_left_out_at_nodes_that_lag():
    cut = ("cut", Count("block", ("a", "b"), (1, 1), 2))

    class Cuts(Given):
        def separate(self, solution):
            return [Row(("x", 2.0), upper=2.0, coefficients={X: 1.0}), Row(cut, upper=1.0, coefficients={X: 1.0})]

    assert found(Cuts(), bound=4.0) == [("x", 2.0), cut]
    assert found(Cuts(), bound=4.0, waiting=3.95) == [("x", 2.0), cut]
    assert found(Cuts(), bound=4.0, waiting=3.0) == [("x", 2.0)]


def test_rows_are_checked_against_known_solutions():
    with pytest.raises(SeparationError, match="satisfies"):
        found(Given((X, 4.0)))
    with pytest.raises(SeparationError, match="cuts off"):
        found(Given((X, 2.0)), known=[SOLUTION])
    assert found(Given((X, 2.0), exhaustive=False), known=[SOLUTION]) == [("x", 2.0)]  # another answer is as good
    assert found(Given((X, 3.0 - 1e-8))) == [("x", 3.0 - 1e-8)]
    assert found(Given((X, 3.0 - 1e-8)), rows=[("x", 3.0 - 1e-8)]) == []  # the solver may miss its own rows by that


def test_the_separation_context_of_a_run():
    run = SimpleNamespace(sense=Sense.MAXIMIZE, iterations=[0, 0], objective=5.0, scale=4.0, budget="the budget")
    master = SimpleNamespace()
    node = SimpleNamespace(number=7, depth=3, decisions=("a decision",))
    solved = SimpleNamespace(integral=True, duals="dual values")
    context = separation_context(SimpleNamespace(run=run, master=master), node, solved, 6.0)
    assert context == SeparationContext(
        Sense.MAXIMIZE, 7, 3, 2, True, "dual values", 6.0, 5.0, 4.0, "the budget", ("a decision",)
    )
    assert context.gap == pytest.approx(0.2)

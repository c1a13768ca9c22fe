"""Primal heuristics: what they find is an answer, and they leave the master as they found it."""

from types import SimpleNamespace

import numpy as np
import pytest

from colgen import Diving, Heuristic, IterationLimit, RestrictedMIP, Solution, Termination, solve
from tests.toys import CuttingStock, Enumerated, Partition, Program, SetPartitioning, cutting_column


def spied(heuristic, before, after):
    """The heuristic, with the master's objective noted before and after, and what it found."""

    class Spy(Heuristic):
        found = None

        def applies(self, depth):
            return heuristic.applies(depth)

        def search(self, context):
            before.append((context.master.solve().objective, context.master.table.lower_now.sum()))
            Spy.found = heuristic.search(context)
            after.append((context.master.solve().objective, context.master.table.lower_now.sum()))
            return Spy.found

    return Spy()


class Unrounded(CuttingStock):
    objective_step = None  # else the root ends by rounding before the relaxation is solved


# The program over the columns at hand contains the optimum; a dive may end one roll above, it depends on the vertex
# that it starts from.
@pytest.mark.parametrize(("heuristic", "worst"), [(RestrictedMIP(), 453), (Diving(), 454)])
def test_finds_a_good_answer_of_the_textbook(heuristic, worst):
    before, after = [], []
    spy = spied(heuristic, before, after)
    result = solve(Unrounded(), heuristics=(spy,))
    assert 453 - 1e-9 <= result.objective <= worst + 1e-9
    assert spy.found is not None
    assert all(value == round(value) for _, value in result.solution.columns)
    assert before[0][0] == pytest.approx(452.25)
    for (was, fixed), (now, still_fixed) in zip(before, after, strict=True):
        assert fixed == still_fixed == 0.0
        assert now <= was + 1e-9  # new columns can only help: nothing stays fixed


def test_dive_generates_columns():
    class Few(CuttingStock):
        """The relaxation needs four patterns; a dive needs others, which only pricing under its fixings finds."""

    result = solve(Few(demands=(3, 5, 7, 2)), heuristics=(Diving(tries=1),))
    assert result.objective >= result.dual_bound
    assert any(i.depth == 1 and i.node == 0 for i in result.iterations) or result.is_optimal


def test_every():
    assert [d for d in range(5) if Diving().applies(d)] == [0]
    assert [d for d in range(5) if Diving(every=2).applies(d)] == [0, 2, 4]
    assert [d for d in range(5) if RestrictedMIP(every=1).applies(d)] == [0, 1, 2, 3, 4]


def test_a_dive_rounds_up_the_column_nearest_to_its_next_whole_number():
    a, b, c = cutting_column((2, 0, 0, 0)), cutting_column((0, 2, 0, 2)), cutting_column((0, 0, 3, 0))
    tried = []

    def regenerate(fixed, proper=None):
        tried.append(dict(fixed))
        raise KeyboardInterrupt

    context = SimpleNamespace(
        relaxation=Solution(9.0, ((a, 3.4), (b, 0.9), (c, 0.7))),
        master=SimpleNamespace(fix=tried.append, num_rows=4),
        run=SimpleNamespace(expired=False, reason=None),
        regenerate=regenerate,
    )
    with pytest.raises(KeyboardInterrupt):
        Diving().search(context)
    # Whole parts cost nothing to fix; whatever happens, the master is released.
    assert tried == [{a.identity: 3.0, b.identity: 1.0}, {}]


def test_dive_that_fails_releases_what_it_fixed():
    # Elements 0..2 in pairs only: no answer at all, each dive ends in an infeasible master.
    pairs = tuple((1.0, frozenset(p)) for p in ((0, 1), (1, 2), (0, 2)))
    before, after = [], []
    spy = spied(Diving(), before, after)
    result = solve(SetPartitioning(Partition(3, pairs)), heuristics=(spy,))
    assert result.termination is Termination.INFEASIBLE
    assert spy.found is None
    assert before == pytest.approx(np.array(after))


def test_dive_respects_whole_template_variables():
    # x is whole at once, y = 1/2 is not: that is no answer, though all columns are.
    program = Program(
        maximize=False,
        row_lower=(2.0, 1.0),
        row_upper=(float("inf"), float("inf")),
        groups=(((1.0, (1.0, 0.0)),),),
        limits=(float("inf"),),
        variables=((3.0, (0.0, 2.0), 0.0, 5.0, True),),
    )
    result = solve(Enumerated(program), heuristics=(Diving(),))
    assert result.is_optimal
    assert result.objective == pytest.approx(5)


def test_a_dive_that_would_go_on_for_ever_ends():
    # 2x - 2y = 1: each rounding of x makes y fractional above, and the reverse.
    program = Program(
        maximize=False,
        row_lower=(1.0,),
        row_upper=(1.0,),
        groups=(((1.0, (2.0,)), (1.0, (-2.0,))),),
        limits=(float("inf"),),
    )
    result = solve(Enumerated(program), heuristics=(Diving(tries=1),), stop=IterationLimit(1000), node_limit=1)
    assert result.termination is Termination.NODE_LIMIT
    # A limit ends a dive as it ends everything else.
    result = solve(Enumerated(program), heuristics=(Diving(tries=1),), stop=IterationLimit(10))
    assert result.termination is Termination.ITERATION_LIMIT
    assert len(result.iterations) == 10

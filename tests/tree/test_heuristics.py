"""Primal heuristics: what they find is an answer, and they leave the master as they found it."""

from types import SimpleNamespace

import numpy as np
import pytest

from colgen import Diving, Heuristic, IterationLimit, RestrictedMIP, Sense, Solution, Termination, solve
from colgen.bounds.bounding import Outcome
from colgen.tree.heuristics import fair
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


def scripted(relaxations, columns, **arguments):
    """A dive whose relaxations are told: what it fixes, and what it finds."""
    fixed = []

    def regenerate(now, proper=None, rounds=None):
        fixed.append((dict(now), rounds))
        objective, pairs = relaxations[frozenset(now)]
        solved = SimpleNamespace(objective=objective, phase=2, pairs=pairs)
        return SimpleNamespace(outcome=Outcome.SOLVED, solved=solved)

    context = SimpleNamespace(
        relaxation=Solution(9.0, columns),
        master=SimpleNamespace(fix=lambda now: None, num_rows=4, solution=lambda s: Solution(s.objective, s.pairs)),
        run=SimpleNamespace(
            expired=False,
            reason=None,
            sense=Sense.MINIMIZE,
            prunes=lambda objective: False,
            round_bound=lambda bound: bound,
            meets=lambda bound, objective: bound >= objective,
        ),
        regenerate=regenerate,
    )
    return Diving(1, **arguments).search(context), fixed


A, B = cutting_column((2, 0, 0, 0)), cutting_column((0, 2, 0, 2))
WAYS = {frozenset({A.identity}): (12.0, ((A, 1.0),)), frozenset({B.identity}): (10.0, ((B, 1.0),))}


def test_a_discrepancy_rounds_up_another_column_and_the_best_answer_is_kept():
    columns = ((A, 0.9), (B, 0.7))
    found, fixed = scripted(WAYS, columns)
    assert found.objective == 12.0
    assert fixed == [({A.identity: 1.0}, None)]
    found, fixed = scripted(WAYS, columns, discrepancies=1)
    assert found.objective == 10.0
    assert fixed == [({A.identity: 1.0}, None), ({B.identity: 1.0}, None)]
    assert scripted(WAYS, columns, discrepancies=1, levels=0)[0].objective == 12.0


def test_no_dive_follows_one_that_meets_the_relaxation():
    ways = {**WAYS, frozenset({A.identity}): (9.0, ((A, 1.0),))}
    assert len(scripted(ways, ((A, 0.9), (B, 0.7)), discrepancies=1)[1]) == 1


def test_strong_diving_rounds_up_what_worsens_the_linear_program_least():
    found, fixed = scripted(WAYS, ((A, 0.9), (B, 0.7)), strong=2)
    assert found.objective == 10.0
    assert fixed == [({A.identity: 1.0}, 0), ({B.identity: 1.0}, 0), ({B.identity: 1.0}, None)]


def test_strong_dives_with_discrepancies_end_where_plain_ones_do():
    result = solve(CuttingStock(), heuristics=(Diving(discrepancies=2, strong=3),))
    assert result.is_optimal
    assert result.objective == pytest.approx(453)


def test_a_dive_leaves_small_masters_to_the_program():
    assert Diving(least=10).search(SimpleNamespace(master=SimpleNamespace(solves_integers=True, num_columns=9))) is None


@pytest.mark.parametrize("name", ["discrepancies", "levels", "strong"])
def test_parameters_of_a_dive_are_checked(name):
    with pytest.raises(ValueError, match=name):
        Diving(**{name: -1})


def test_heuristics_leave_the_proof_most_of_the_time():
    assert fair(10.0, SimpleNamespace(seconds_left=8.0)) == 2.0
    assert fair(10.0, SimpleNamespace(seconds_left=float("inf"))) == 10.0

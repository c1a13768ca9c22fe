"""Given answers that a separation rejects cause an error or a note (promise 2)."""

import pyomo.environ as pyo
import pytest

from colgen import (
    Best,
    ColgenError,
    Column,
    InfeasibleAnswerError,
    NoStabilization,
    OraclePricing,
    Problem,
    Row,
    Sense,
    Separation,
    Solution,
    WarmStart,
    artificial,
    solve,
)
from colgen.bounding.protocol import Parts, Settings
from colgen.bounding.run import Run
from colgen.core.errors import SeparationError
from colgen.core.stop import AnyOf
from colgen.master.statement import restricted_master
from colgen.tree.incumbents import Incumbents

SETS = {(0,): 1.0, (1,): 1.0, (0, 1): 1.0}


class Oracle(OraclePricing):
    multiplicity = 2.0

    def best(self, duals, context):
        many = sum(value for _, value in duals.items("many"))
        costs = {s: context.cost_weight * c - sum(duals["item", i] for i in s) - many for s, c in SETS.items()}
        best = min(costs, key=costs.get)
        return Best(best, costs[best])

    def encode(self, items):
        return Column(SETS[items], {("item", i): 1.0 for i in items}, items)


TOGETHER = Solution(1.0, [(Oracle().encode((0, 1)), 1.0)])
APART = Solution(2.0, [(Oracle().encode((0,)), 1.0), (Oracle().encode((1,)), 1.0)])


class AtLeastTwo(Separation):
    """At least two sets: valid if the check requires it, otherwise not."""

    def separate(self, solution, context):
        if sum(value for _, value in solution.columns) >= 2:
            return []
        return [Row(("many", 2), lower=2.0, coefficient=lambda column: 1.0)]


class Cover(Problem):
    """Cover two items once; the check requires ``least`` sets, and None means no check."""

    def __init__(self, least=None, warm=None):
        self.least, self.warm = least, WarmStart() if warm is None else warm

    def master(self):
        m = pyo.ConcreteModel()
        m.missed = artificial(range(2))
        m.item = pyo.Constraint(range(2), rule=lambda m, i: m.missed[i] == 1)
        m.cost = pyo.Objective(expr=0)
        return m

    def pricing(self):
        return Oracle()

    def separation(self):
        return [AtLeastTwo()]

    def warm_start(self, budget):
        return self.warm

    def check(self, answer):
        if self.least is None:
            return None
        if len(answer) < self.least:
            raise InfeasibleAnswerError("too few sets")
        return float(sum(SETS[items] for items, _ in answer))


@pytest.fixture(params=["warm_start", "start", "tentative", "result"])
def run(request):
    """Return a function that solves a problem with an answer given in one of four ways."""

    def solve_with(least, answer=TOGETHER):
        warm = WarmStart(answers=[answer], tentative=request.param == "tentative")
        if request.param == "result":
            other = Cover(least)
            other.separation = lambda: ()
            other.check = lambda answer: None
            found = solve(other)
            assert found.objective == 1.0
            return solve(Cover(least), start=found)
        return solve(Cover(least, warm)) if request.param == "warm_start" else solve(Cover(least), start=warm)

    return solve_with


def test_a_row_that_cuts_off_an_answer_that_the_check_accepts_is_refused(run):
    with pytest.raises(SeparationError, match=r"AtLeastTwo .*objective 1 .*'many', 2"):
        run(1)


@pytest.mark.parametrize("least", [None, 2])
def test_an_answer_that_violates_a_row_is_left_out_with_a_note(run, least):
    result = run(least)
    assert result.objective == 2.0
    assert any("objective 1" in note and "('many', 2) of AtLeastTwo" in note for note in result.notes)


def test_a_feasible_answer_is_used_without_a_note():
    result = solve(Cover(2, WarmStart(answers=[APART])))
    assert (result.objective, result.notes) == (2.0, ())


def test_a_rejected_heuristic_solution_gets_a_note_if_the_check_accepts_it():
    for least, noted in ((1, True), (2, False), (None, False)):
        problem = Cover(least)
        master = restricted_master(problem.master())
        run = Run(
            Sense.MINIMIZE, AnyOf(), check=lambda solution, problem=problem: problem.check(problem.answer(solution))
        )
        parts = Parts(master, [Oracle()], problem.separation(), NoStabilization(), run, Settings())
        assert not Incumbents(parts, looking=True, rounding=True).offer(TOGETHER, "a heuristic")
        found = [note for note in run.notes if "found by a heuristic" in note and "('many', 2) of AtLeastTwo" in note]
        assert bool(found) == noted


@pytest.mark.parametrize("tentative", [False, True])
def test_a_warm_start_row_that_cuts_off_an_answer_is_refused_or_left_out(tentative):
    row = Row(("many", 2), lower=2.0, coefficient=lambda column: 1.0)
    warm = WarmStart(answers=[TOGETHER], rows=[row], tentative=tentative)
    problem = Cover(1, warm)
    problem.separation = lambda: ()
    if not tentative:
        with pytest.raises(ColgenError, match=r"row \('many', 2\).*objective 1"):
            solve(problem)
        return
    result = solve(problem)
    assert result.objective == 1.0
    assert any("('many', 2)" in note and "left out" in note for note in result.notes)


def test_an_inherited_check_does_not_cover_rows_of_the_subclass():
    class Plain(Cover):
        def separation(self):
            return []

    class Stricter(Plain):
        def separation(self):
            return [AtLeastTwo()]

    result = solve(Stricter(1, WarmStart(answers=[TOGETHER])))
    assert result.objective == 2.0
    assert any("Stricter.warm_start was left out" in note for note in result.notes)

    given = solve(Stricter(1, WarmStart()), start=WarmStart(answers=[TOGETHER]))
    assert any("start was left out" in note for note in given.notes)

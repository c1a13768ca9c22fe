"""Answers that contradict the declarations of a problem."""

import itertools

from colgen import (
    Row,
    Separation,
    Solution,
    WarmStart,
)
from colgen.testing.conformance import check_problem
from tests.assignment import Assignment, assignment
from tests.fuzz.engine.pools import Case, PoolColumn, PoolGroup, PoolRow, Program, Way
from tests.fuzz.engine.problem import PoolProblem
from tests.testing.kit import (
    GENEROUS,
    assert_found,
)


def test_objective_step_that_contradicts_the_costs():
    problem = assignment(2, 5, 1)
    problem.costs += 0.3
    assert_found(check_problem(problem, seconds=GENEROUS), "objective step", "is not a multiple of it")


def test_separated_row_that_cuts_off_an_answer():
    class Wrong(Separation):
        def separate(self, solution):
            if all(abs(value - round(value)) < 1e-6 for _, value in solution.columns):
                return []
            used = sum(value for column, value in solution.columns if column.cost)
            return [Row(("few", None), upper=used - 1.0, coefficient=lambda column: float(column.cost > 0))]

    class Broken(Assignment):
        def separation(self):
            return [Wrong()]

        def warm_start(self, budget):
            return WarmStart(answers=tuple(self.known()))

        def known(self):
            oracles = self.pricing()
            for tasks in itertools.product(range(len(oracles)), repeat=self.costs.shape[1]):
                mine = [tuple(t for t, j in enumerate(tasks) if j == machine) for machine in range(len(oracles))]
                if all(s in oracle.sets() for s, oracle in zip(mine, oracles, strict=True)):
                    columns = [oracle.encode((k, s)) for k, (s, oracle) in enumerate(zip(mine, oracles, strict=True))]
                    yield Solution(sum(c.cost for c in columns), tuple((c, 1.0) for c in columns))
                    return

    report = check_problem(assignment(3, 6, 52, Broken), seconds=GENEROUS)
    assert_found(report, "separation", r"the row \('few', None\) cuts off an answer")


def test_a_total_need_not_count_bounded_columns_that_the_master_holds():
    columns = (
        PoolColumn(-9, {0: 1, 1: 1}, upper=1),
        PoolColumn(-5, {0: 1}),
        PoolColumn(-4, {1: 1}, upper=1),
        PoolColumn(-3, {0: 1, 1: 2}),
    )
    group = PoolGroup(multiplicity=4, prices="total")
    program = Program("pack", False, columns, (), (PoolRow(None, 2), PoolRow(None, 2)), (group,), row_scales=(1.0, 1.0))
    report = check_problem(PoolProblem(Case(program, Way())), seconds=GENEROUS)
    assert not report.findings

"""Reference solutions of programs."""

import pytest

from tests.fuzz.engine.pools import PoolColumn, PoolGroup, PoolRow, Program
from tests.fuzz.engine.programs import cases, two_ways_to_cover
from tests.fuzz.engine.truth import _highs, arrays, solve_complete
from tests.toys import DEMANDS, patterns


def test_truth_of_a_handwritten_program():
    truth = solve_complete(two_ways_to_cover())

    assert (truth.status, truth.objective, truth.answer, truth.exact) == ("optimal", 2, (0.0, 1.0, 1.0), True)


def test_truth_of_the_textbook_example():
    columns = tuple(PoolColumn(1, {i: n for i, n in enumerate(p) if n}) for p in patterns())
    program = Program("cutting", False, columns, (), tuple(PoolRow(d, None) for d in DEMANDS), (PoolGroup(),))

    truth = solve_complete(program)

    assert truth.objective == 453
    assert truth.relaxed == pytest.approx(452.25)


def test_enumeration_agrees_with_the_solver():
    compared = 0
    for case, truth in cases(3, 60):
        if truth.exact and max((abs(p.cost) for p in case.program.parts), default=0) < 10**4:
            status, objective, _ = _highs(case.program, arrays(case.program), arrays(case.program).integer)
            assert status == truth.status
            if status == "optimal":
                assert objective + case.program.offset == pytest.approx(truth.objective)
            compared += 1
    assert compared >= 5


def test_contradicting_statuses_of_the_solver_are_uncertain():
    """The program has the solution (5, 3, 1, 0, 0, 1), but scipy's presolve reports infeasible."""
    columns = (
        PoolColumn(2000010, {4: 1, 6: 1}, 1),
        PoolColumn(2000008, {2: 3, 3: 3, 7: 1}, 2),
        PoolColumn(1000004, {0: 1, 1: 2, 2: 3, 3: 1, 7: 1}, 2),
        PoolColumn(1000005, {0: 2, 1: 3, 2: 2, 3: 1, 4: 1, 6: 1}, 1, integer=False),
        PoolColumn(-1000003, {0: 2, 1: 1, 3: 1, 4: 2, 6: 1}, 1, integer=False),
        PoolColumn(2000009, {2: 1, 3: 2, 6: 1}, 1),
    )
    sides = ((None, 1), (2, 2), (-2, None), (1, None), (None, 5), (None, 2), (None, 6), (None, 4))
    program = Program(
        "general",
        True,
        columns,
        (),
        tuple(PoolRow(*each) for each in sides),
        tuple(PoolGroup(most) for most in (2, 6, 4)),
        row_scales=(1.0,) * 8,
    )
    truth = solve_complete(program)
    assert truth is None or truth.objective == 19000087

"""Random cases are reproducible, of every kind, and have a truth."""

import numpy as np
import pytest

from tests.fuzz.engine.drawing import draw_case, draw_program
from tests.fuzz.engine.programs import cases
from tests.fuzz.engine.truth import solve_complete


def test_a_seed_determines_the_case():
    first, second = (draw_case(np.random.default_rng([7, 1]))[0] for _ in range(2))
    assert first == second


def test_cases_are_drawn_with_their_truth():
    for case, truth in cases(5, 10):
        again = solve_complete(case.program)
        assert (again.status, again.objective) == (truth.status, pytest.approx(truth.objective, nan_ok=True))


def test_some_optima_are_zero_and_some_costs_have_two_sizes():
    drawn = list(cases(5, 120))
    assert sum(truth.objective == 0.0 and case.program.offset != 0 for case, truth in drawn) > 5
    assert any(row.upper == 10**6 and not row.lazy for case, _ in drawn for row in case.program.rows)


def test_every_kind_is_drawn():
    programs = [draw_program(np.random.default_rng([1, k])) for k in range(150)]
    assert {program.maximize for program in programs} == {False, True}
    assert {len(program.groups) > 1 for program in programs} == {False, True}
    assert any(program.variables for program in programs)
    assert any(row.lazy for program in programs for row in program.rows)
    assert any(program.step for program in programs)
    assert any(program.offset for program in programs)
    assert 10 < sum(bool(program.exchanges) for program in programs) < 60
    scales = [scale for program in programs for scale in program.row_scales]
    assert min(scales) < 1e-3
    assert max(scales) > 1e3


def test_every_way_is_drawn():
    ways = [case.way for case, _ in cases(6, 60)]
    assert len({way.queue for way in ways}) == 4
    assert len({way.branching for way in ways}) > 1
    assert any(way.start for way in ways)
    assert any(way.duals is not None for way in ways)

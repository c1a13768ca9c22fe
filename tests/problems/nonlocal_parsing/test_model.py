"""The integer programs, compared with enumeration."""

import pytest
from hypothesis import given, settings

from colgen import InputError
from colgen.model.rows import compile_model
from colgen.problems.nonlocal_parsing import ParsingByColumns, random
from colgen.problems.nonlocal_parsing.baseline import in_highs
from colgen.problems.nonlocal_parsing.model import full
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program
from colgen.testing.conformance import check_problem
from tests.amounts import examples
from tests.problems.nonlocal_parsing.trees import answers, instances, scores_of_all


def test_an_unknown_formulation_raises():
    with pytest.raises(ValueError, match="chart"):
        full(random(3, 0), "wish")
    with pytest.raises(InputError, match="first-order"):
        full(random(3, 0, order=2), "arcs")


@pytest.mark.parametrize("formulation", ["chart", "arcs"])
@settings(max_examples=40)
@given(instance=instances(orders=(1,)))
def test_first_order(formulation, instance):
    holds(instance, formulation)


@settings(max_examples=40)
@given(instance=instances(orders=(2, 3, 4)))
def test_higher_orders(instance):
    holds(instance, "chart")


@settings(max_examples=40)
@given(instance=instances(orders=(1,), projective=False))
def test_crossing_arcs(instance):
    holds(instance, "arcs")
    with pytest.raises(InputError, match="projective"):
        full(instance, "chart")


def holds(instance, formulation):
    scores = scores_of_all(instance)
    if not scores:
        try:
            assert in_highs(instance, formulation).heads is None
        except InputError as error:
            assert "no tree" in str(error)  # noqa: PT017  (either is right)
        return
    found = in_highs(instance, formulation)
    assert found.proved
    assert found.objective == pytest.approx(scores[0], abs=1e-6)
    assert instance.check(found.heads) == pytest.approx(scores[0], abs=1e-6)
    assert found.heads in answers(instance)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_chart_relaxation_is_integral_without_factors(order):
    instance = random(7, order, order=order, num_factors=0)
    form = compile_model(full(instance))
    relaxed = solve_mip(
        Program(True, form.matrix, form.costs, form.lower, form.upper, form.row_lower, form.row_upper),
        form.integer & False,
    )
    assert relaxed.status is LPStatus.OPTIMAL
    assert relaxed.objective == pytest.approx(in_highs(instance).objective)


def test_column_generation_keeps_the_contract():
    check_problem(ParsingByColumns(random(4, 2, order=2, num_factors=12)), seconds=examples(1.5, 6.0)).raise_if_any()

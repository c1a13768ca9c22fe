"""Comparisons of formulations and methods."""

import dataclasses
import functools
import math

import pyomo.environ as pyo
import pytest

from colgen import Termination, compare, compare_all, solve
from colgen.core.errors import InputError
from colgen.model.rows import compile_model
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.cutting_stock.model import full
from colgen.reporting.compared import solve_complete
from colgen.reporting.comparison import Comparison
from colgen.solvers.linear.lp import LPStatus
from tests.zoo import Partitioning

INSTANCE = CuttingStockInstance(10, (3, 4, 5), (4, 3, 2))


def best(_):
    """An answer without a bound."""
    return 4


class Found:
    objective, dual_bound = 4.0, 4.0


def test_column_generation_and_complete_models_agree():
    table = compare(
        INSTANCE,
        {
            "column generation": CuttingStock,
            "arc flow": lambda i: full(i, "arc_flow"),
            "compiled": lambda i: compile_model(full(i, "arc_flow")),
            "solved before": lambda i: solve(CuttingStock(i)),
            "a number": best,
            "an object": lambda i: Found(),
        },
    )
    assert [line.objective for line in table] == pytest.approx([4.0] * 6)
    assert [line.is_optimal for line in table] == [True, True, True, True, False, True]
    assert table.agree
    generated, complete, _, _, number, _ = table
    assert generated.rounds >= 1
    assert generated.rows == 3
    assert complete.rounds is None
    assert complete.columns > generated.rows
    assert (complete.columns, complete.rows) == compile_model(full(INSTANCE, "arc_flow")).matrix.shape[::-1]
    assert number.columns is None
    assert math.isnan(number.dual_bound)
    assert all(line.seconds >= 0 for line in table)


def test_a_table_prints_shows_and_becomes_a_frame():
    table = compare(INSTANCE, [CuttingStock, functools.partial(full, formulation="arc_flow"), best])
    assert [line.name for line in table] == ["CuttingStock", "full(formulation='arc_flow')", "best"]
    lines = str(table).splitlines()
    assert lines[0].split()[:4] == ["name", "objective", "dual", "bound"]
    assert lines[1].startswith("CuttingStock")
    assert lines[1].endswith("Proved optimal.")
    assert "<td>full(formulation=&#x27;arc_flow&#x27;)</td>" in table._repr_html_()
    assert isinstance(table[:2], Comparison)
    assert len(table[:2]) == 2
    assert repr(table).startswith("<Comparison of 3 ways: CuttingStock 4 in ")
    assert "\n" not in repr(table)
    frame = table.to_frame()
    assert frame.loc["best", "objective"] == 4.0


def test_contradicting_proofs_cause_a_warning():
    class Wrong:
        objective = dual_bound = 3.0

    table = compare(INSTANCE, {"right": CuttingStock, "wrong": lambda i: Wrong()})
    assert not table.agree
    assert "contradict" in str(table)
    assert "contradict" in table._repr_html_()


def test_limits_and_infeasible_models_are_reported():
    def infeasible(_):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(bounds=(0, 1))
        m.c = pyo.Constraint(expr=m.x >= 2)
        m.o = pyo.Objective(expr=m.x)
        return m

    (line,) = compare(INSTANCE, {"infeasible": infeasible})
    assert line.proof == "Proved infeasible." or "infeasible" in line.proof.lower()
    assert solve_complete(infeasible(None)).status is LPStatus.INFEASIBLE
    (line,) = compare(INSTANCE, {"no time": CuttingStock}, time_limit=0.0)
    assert "time" in line.proof.lower() or line.is_optimal


def test_ways_need_different_names():
    with pytest.raises(InputError, match="ways: expected at least one"):
        compare(INSTANCE, [])
    with pytest.raises(InputError, match="same name"):
        compare(INSTANCE, [best, best])


def test_relaxations_are_compared():
    ways = {
        "patterns": CuttingStock,
        "arc flow": functools.partial(full, formulation="arc_flow"),
        "assignment": functools.partial(full, formulation="assignment"),
    }
    table = compare(INSTANCE, ways, relaxation=True)
    patterns, arc_flow, assignment = (line.objective for line in table)
    assert patterns == pytest.approx(arc_flow)
    assert assignment == pytest.approx(34 / 10)  # only the material
    assert patterns > assignment + 0.01
    assert [line.is_optimal for line in table] == [True, True, True]
    assert "wrong" not in str(table)  # relaxations may differ
    assert table[:2].relaxation
    with pytest.raises(InputError, match=r"best.*relaxation"):
        compare(INSTANCE, [best], relaxation=True)


def test_several_instances_share_one_table_and_one_frame():
    instances = {"small": INSTANCE, "larger": CuttingStockInstance(10, (3, 4, 5), (8, 6, 4))}
    found = compare_all(instances, [CuttingStock, functools.partial(full, formulation="arc_flow")])
    assert found.agree
    assert found.instances == ["small", "larger"]
    assert [line.objective for line in found.of("larger")] == pytest.approx([7.0, 7.0])
    assert str(found).splitlines()[0].split()[:2] == ["instance", "name"]
    assert repr(found) == "<Comparison of 4 lines of 2 instances.>"
    frame = found.to_frame()
    assert frame.loc[("larger", "CuttingStock"), "objective"] == 7.0
    assert frame.loc[("small", "CuttingStock"), "pricing_seconds"] >= 0.0
    wrong = [dataclasses.replace(line, objective=line.objective + 1, dual_bound=9.0) for line in found.of("small")[:1]]
    assert not Comparison([*found, *wrong]).agree
    with pytest.raises(InputError, match="by name"):
        compare_all([INSTANCE], [CuttingStock])
    with pytest.raises(InputError, match="repeats: expected"):
        compare(INSTANCE, [CuttingStock], repeats=0)


def test_pictures_of_one_instance_and_of_several():
    pytest.importorskip("matplotlib")
    ways = [CuttingStock, functools.partial(full, formulation="arc_flow")]
    one = compare(INSTANCE, ways)
    assert len(one.draw().get_lines()) == 2
    assert one.draw("round").get_xlabel() == "round"
    assert compare_all({"a": INSTANCE, "b": INSTANCE}, ways).draw().get_ylabel() == "instances proved (%)"
    with pytest.raises(InputError, match=r"by: .*'node'"):
        one.draw("node")


def test_the_optimum_of_a_linear_program_is_its_bound():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 3))
    model.worth = pyo.Objective(expr=2 * model.x, sense=pyo.maximize)
    model.row = pyo.Constraint(expr=model.x <= 2.5)
    (line,) = compare(None, {"linear": lambda _: model})
    assert (line.objective, line.dual_bound, line.is_optimal) == (5.0, 5.0, True)
    stopped = solve_complete(model, time_limit=0.0)
    assert stopped.bound >= 5.0


def linear(cost, factor=1.0, upper=3.0):
    """A model whose optimum is ``3·cost·factor``."""

    def build(_):
        model = pyo.ConcreteModel()
        model.x = pyo.Var(bounds=(0, upper), domain=pyo.Integers)
        model.worth = pyo.Objective(expr=cost * factor * model.x, sense=pyo.maximize)
        return model

    return build


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_optima_are_compared_relative_to_their_size(factor):
    assert compare(None, {"one": linear(1.0, factor), "other": linear(1.0 + 1e-9, factor)}).agree
    assert not compare(None, {"one": linear(1.0, factor), "other": linear(1.01, factor)}).agree


def test_an_objective_near_its_bound_is_not_proved_at_a_small_scale():
    class Near:
        objective, dual_bound = 4e-9, 5e-9

    (line,) = compare(None, {"near": lambda _: Near()})
    assert not line.is_optimal
    assert line.proof == "Nothing is proved."


def test_an_answer_that_beats_a_proved_bound_causes_a_warning():
    table = compare(None, {"model": linear(1.0), "better": lambda _: 3.5})
    assert not table.agree
    assert "contradict" in str(table)
    assert compare(None, {"model": linear(1.0), "worse": lambda _: 2.5}).agree


def test_a_run_at_its_limit_is_not_called_optimal():
    result = solve(CuttingStock(INSTANCE))
    limited = dataclasses.replace(result, termination=Termination.TIME_LIMIT)
    (line,) = compare(INSTANCE, {"limited": lambda _: limited})
    assert not line.is_optimal
    assert line.proof == Termination.TIME_LIMIT.value


def test_a_relaxation_is_no_answer():
    relaxed = solve(Partitioning(cuts=False), relaxation=True)
    whole = solve(Partitioning(cuts=False))
    assert relaxed.objective < whole.objective
    table = compare(None, {"relaxed": lambda _: relaxed, "whole": lambda _: whole})
    assert [line.is_optimal for line in table] == [False, True]
    assert "fractional" in table[0].proof
    assert table.agree


def test_zero_and_its_rounding_errors_agree():
    class Zero:
        objective = dual_bound = 1e-14

    assert compare(None, {"model": linear(-1.0), "sum": lambda _: Zero()}).agree

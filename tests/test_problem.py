"""Defaults of a problem: no guesses, no separation, answers checked by the master's rows."""

import pyomo.environ as pyo
import pytest

from colgen import (
    NO_STRUCTURE,
    ColgenError,
    InputError,
    LinearMaster,
    Method,
    OraclePricing,
    Problem,
    Solution,
    StrongBranching,
    WarmStart,
    Wentges,
    artificial,
    solve,
)
from colgen.bounding.column_generation import ColumnGeneration
from colgen.core.budget import Budget
from colgen.core.errors import FormulationError
from colgen.master.statement import restricted_master
from colgen.problem import method_of
from tests.toys import CuttingStock, cutting_column


def test_defaults_of_optional_methods_are_empty():
    problem = CuttingStock()
    assert list(problem.separation()) == []
    method = problem.method()
    assert (method.reductions, method.enumeration) == ((), ())
    assert problem.warm_start(Budget()) == WarmStart()
    assert isinstance(method.bounding, ColumnGeneration)
    assert isinstance(restricted_master(problem.master()), LinearMaster)


def test_a_problem_without_a_master_is_refused():
    class Nothing(Problem):
        def pricing(self):
            return CuttingStock().pricing()

    with pytest.raises((ColgenError, NotImplementedError), match=r"Nothing|master"):
        solve(Nothing())


def test_the_answer_is_the_structures_and_how_often_each_is_used():
    solution = Solution(3.0, ((cutting_column((2, 0, 0, 0)), 2.0), (cutting_column((0, 0, 0, 7)), 1.0)))
    assert list(CuttingStock().answer(solution)) == [((2, 0, 0, 0), 2.0), ((0, 0, 0, 7), 1.0)]


def test_a_problem_s_own_check_decides():
    class Picky(CuttingStock):
        def check(self, answer):
            return 1e6

    with pytest.raises(ColgenError, match=r"check\(\) computes 1000000"):
        solve(Picky())


def broken(method, value):
    return type("Broken", (CuttingStock,), {method: lambda self: value})()


@pytest.mark.parametrize("method", ["pricing", "separation", "branching"])
@pytest.mark.parametrize("value", [None, 3, "all", [3], Problem])
def test_a_method_with_a_result_of_the_wrong_type_is_named(method, value):
    with pytest.raises(InputError, match=rf"Broken\.{method}\(\).*[Ee]xpected .*[A-Z]\w+"):
        solve(broken(method, value))


@pytest.mark.parametrize("value", [None, 3, []])
def test_an_invalid_warm_start_is_named(value):
    problem = type("Broken", (CuttingStock,), {"warm_start": lambda self, budget: value})()
    with pytest.raises(InputError, match=r"Broken\.warm_start\(\) returned .*[Ee]xpected a WarmStart"):
        solve(problem)


@pytest.mark.parametrize("value", [None, 3, (), Method])
def test_an_invalid_method_is_named(value):
    with pytest.raises(InputError, match=r"Broken\.method\(\) returned .*[Ee]xpected a Method"):
        solve(broken("method", value))


@pytest.mark.parametrize("field", ["reductions", "heuristics"])
@pytest.mark.parametrize("value", [3, "all", [3], Problem])
def test_parts_of_a_method_of_the_wrong_type_are_named(field, value):
    problem = type("Broken", (CuttingStock,), {"method": lambda self: Method(**{field: value})})()
    with pytest.raises(InputError, match=rf"{field}: expected "):
        solve(problem)


def test_data_under_the_name_of_the_method_is_refused():
    problem = CuttingStock()
    problem.method = "column generation"
    with pytest.raises(InputError, match=r"CuttingStock\.method: expected the method that returns a Method, not 'col"):
        solve(problem)


def test_fields_of_a_run_replace_those_of_the_problem_which_replace_the_defaults():
    class Stated(CuttingStock):
        def method(self):
            return Method(heuristics=(), stabilization=smoothing)

    smoothing, rule = Wentges(0.3), StrongBranching()
    found = method_of(Stated(), Method(choice=rule, heuristics=None))
    assert found.stabilization is smoothing
    assert found.heuristics == ()
    assert found.choice is rule
    assert isinstance(found.bounding, ColumnGeneration)
    assert method_of(Stated(), Method(heuristics=[])).heuristics == []


@pytest.mark.parametrize("value", [None, 3])
def test_an_invalid_result_of_finish_is_named(value):
    problem = type("Broken", (CuttingStock,), {"finish": lambda self, result: value})()
    with pytest.raises(InputError, match=r"Broken\.finish\(\) returned .*[Ee]xpected a Result"):
        solve(problem)


@pytest.mark.parametrize("value", [None, 3, []])
def test_an_invalid_master_is_named(value):
    with pytest.raises(FormulationError, match=r"expected master\(\) to return a Pyomo model"):
        solve(broken("master", value))


def with_rows(names, variables):
    class Rows(CuttingStock):
        def master(self):
            m = pyo.ConcreteModel()
            m.item = pyo.Set(initialize=names)
            m.unmet = variables(m.item)
            m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= 1)
            m.rolls = pyo.Objective(expr=0)
            return m

    return Rows()


def test_variables_that_should_be_artificial_are_reported():
    result = solve(with_rows([0, 1, 2, 3], lambda index: pyo.Var(index, domain=pyo.NonNegativeReals)))
    assert result.objective == 0.0
    assert "No column was used" in str(result)
    assert "artificial(...)" in str(result)
    assert "No column" not in str(solve(with_rows([0, 1, 2, 3], artificial)))


def test_rows_of_an_empty_index_set_are_an_empty_array():
    class Nothing(OraclePricing):
        def best(self, duals, context):
            assert duals["demand"].shape == (0,)
            return NO_STRUCTURE

        def encode(self, structure):
            raise AssertionError

    problem = with_rows([], lambda index: pyo.Var(index, domain=pyo.NonNegativeReals))
    problem.pricing = Nothing
    result = solve(problem)
    assert result.is_optimal
    assert result.objective == 0.0
    assert "No column" not in str(result)  # there is no row that a variable could satisfy in place of columns

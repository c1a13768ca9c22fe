"""Options of HiGHS: what it takes is handed on, what it does not take is one sentence."""

import numpy as np
import pytest
from scipy import sparse

from colgen import InputError, LinearMaster, Method, solve
from colgen.master.statement import stated_rows
from colgen.solvers.linear.lp import LinearProgram
from colgen.solvers.linear.options import OptionError, check_options
from colgen.solvers.linear.program import Program
from tests.assignment import assignment


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"simplex_price_stategy": 1},
            "HiGHS has no option 'simplex_price_stategy'; did you mean 'simplex_price_strategy'?",
        ),
        ({"zzz": 1}, "HiGHS has no option 'zzz'"),
        ({3: 1}, "HiGHS has no option 3"),
        ({"presolve": True}, "the option 'presolve' is str, not True"),
        ({"random_seed": 1.5}, "the option 'random_seed' is int, not 1.5"),
        ({"output_flag": "no"}, "the option 'output_flag' is bool, not 'no'"),
        (
            {"primal_feasibility_tolerance": -1.0},
            "HiGHS does not take -1.0 for its option 'primal_feasibility_tolerance'",
        ),
        ({"time_limit": 3.0}, "the option 'time_limit' is set for each solve: it cannot be given"),
        ([("presolve", "on")], "expected options by name, such as {'presolve': 'on'}, not of type list"),
        (5, "expected options by name, such as {'presolve': 'on'}, not of type int"),
    ],
)
def test_what_highs_does_not_take_is_refused(options, said, capfd):
    with pytest.raises(OptionError) as caught:
        check_options(options)
    assert str(caught.value) == said
    assert capfd.readouterr().out == ""
    with pytest.raises(InputError) as refused:
        solve(assignment(), method=Method(lp_options=options))
    assert str(refused.value) == f"lp_options: {said}"


def test_options_reach_the_solver():
    matrix = sparse.csc_array(np.array([[1.0, 2.0]]))
    two, one = np.zeros(2), np.ones(1)
    options = check_options({"simplex_price_strategy": 1, "primal_feasibility_tolerance": 1})
    assert options == {"simplex_price_strategy": 1, "primal_feasibility_tolerance": 1}
    lp = LinearProgram(Program(False, matrix, np.ones(2), two, two + 9.0, one, one), options={"random_seed": 5})
    assert lp.backend.highs.getOptionValue("random_seed")[1] == 5
    assert lp.solve().objective == pytest.approx(0.5)


def test_a_master_and_a_run_take_options():
    problem = assignment()
    master = LinearMaster(stated_rows(problem.master()), options={"random_seed": 3})
    master.set_solver(options={"presolve": "on"})
    assert [master.lp.backend.highs.getOptionValue(name)[1] for name in ("random_seed", "presolve")] == [3, "on"]
    with pytest.raises(InputError, match="before the first solve"):
        master.set_solver(options={"random_seed": 4})
    plain, seeded = (
        solve(problem),
        solve(problem, method=Method(lp_options={"random_seed": 11, "simplex_price_strategy": 0})),
    )
    assert seeded.is_optimal
    assert seeded.objective == plain.objective

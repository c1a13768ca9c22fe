"""HiGHS options: valid ones are passed on, invalid ones are rejected with one sentence."""

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
    ("options", "words"),
    [
        ({"simplex_price_stategy": 1}, r"'simplex_price_stategy'; did you mean 'simplex_price_strategy'\?"),
        ({"zzz": 1}, "no option 'zzz'$"),
        ({3: 1}, "no option 3$"),
        ({"presolve": True}, "'presolve': expected str, got True"),
        ({"random_seed": 1.5}, "'random_seed': expected int, got 1.5"),
        ({"output_flag": "no"}, "'output_flag': expected bool, got 'no'"),
        ({"primal_feasibility_tolerance": -1.0}, r"'primal_feasibility_tolerance': .* -1\.0"),
        ({"time_limit": 3.0}, "'time_limit' cannot be given"),
        ([("presolve", "on")], "expected options by name.*list"),
        (5, "expected options by name.*int"),
    ],
)
def test_invalid_options_are_rejected(options, words, capfd):
    with pytest.raises(OptionError, match=words):
        check_options(options)
    assert capfd.readouterr().out == ""
    with pytest.raises(InputError, match=f"^lp_options: .*{words}"):
        solve(assignment(), method=Method(lp_options=options))


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

"""Column generation beside a complete model: both as they are, and an answer that is none ends it."""

import pytest

from colgen.cli.beside import beside
from solvers.linear.lp import LPStatus
from solvers.linear.mip import MIPSolution
from tests.assignment import assignment


def line(check=lambda answer: None, **found):
    whole = MIPSolution(
        **{"status": LPStatus.OPTIMAL, "objective": 1.4, "bound": 1.0, "values": (), "nodes": 0} | found
    )
    small, problem = assignment(2, 3, 0), assignment(2, 4, 0)
    return beside(problem, check, lambda: whole, "by hand", name="four tasks", possible=32, decimals=0, small=small)


def test_a_line_has_what_both_have_found():
    answers = []
    found = line(answers.append)
    assert (found.instance, found.brute_force, found.columns_possible) == ("four tasks", "by hand", 32)
    assert found.brute_force_objective == 1.0  # without the noise
    assert found.brute_force_proved
    assert found.dual_bound == pytest.approx(found.objective)
    assert found.columns_used > 0
    assert len(answers) == 1


def test_a_complete_model_may_find_nothing_and_prove_nothing():
    assert line(values=None).brute_force_objective is None
    assert not line(status=LPStatus.LIMIT).brute_force_proved


def test_an_answer_that_is_none_is_no_line():
    def refuse(answer):
        raise ValueError("no answer")

    with pytest.raises(ValueError, match="no answer"):
        line(refuse)

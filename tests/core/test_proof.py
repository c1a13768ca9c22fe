"""A proof found beforehand: believed where it is closed, a first answer and a first bound where it is not."""

import pytest

from colgen import Column, Proof, Sense, Solution, Termination, solve
from colgen.core.errors import InvalidBoundError
from colgen.core.result import Certificate
from problems.cutting_stock import CuttingStock, Instance

ROLLS = Instance(100, (45, 36, 31, 14), (9, 61, 39, 21))


class Told(CuttingStock):
    """Cutting stock with a proof from elsewhere."""

    told = None

    def initial_proof(self, budget):
        return self.told


def optimal():
    return solve(CuttingStock(ROLLS))


def told(proof):
    problem = Told(ROLLS)
    problem.told = proof
    return problem


def test_a_closed_proof_is_believed_and_no_master_is_built(monkeypatch):
    known = optimal()
    problem = told(Proof(Sense.MINIMIZE, known.solution, known.objective, Certificate(known.objective, {})))
    monkeypatch.setattr(problem, "restricted_master", lambda: pytest.fail("a master was built"))
    result = solve(problem)
    assert result.termination is Termination.OPTIMAL
    assert result.objective == result.dual_bound == result.root_bound == known.objective
    assert result.answer == known.answer
    assert result.iterations == ()
    assert result.certificate.bound == known.objective
    assert solve(problem, relaxation=True).answer is None
    assert solve(problem, relaxation=True).objective == known.objective


def test_an_open_proof_is_a_first_answer_and_a_first_bound():
    known = optimal()
    result = solve(told(Proof(Sense.MINIMIZE, known.solution, 1.0)))
    assert result.objective == known.objective
    assert result.iterations[0].incumbent == known.objective
    plain = solve(CuttingStock(ROLLS), relaxation=True)
    assert solve(told(Proof(Sense.MINIMIZE, known.solution, 1.0)), relaxation=True).objective == pytest.approx(
        plain.objective
    )


def test_a_bound_that_its_answer_beats_is_refused():
    solution = Solution(3.0, ((Column(3.0, {}), 1.0),))
    with pytest.raises(InvalidBoundError, match="beats it"):
        Proof(Sense.MINIMIZE, solution, 3.5)
    with pytest.raises(InvalidBoundError, match="beats it"):
        Proof(Sense.MAXIMIZE, solution, 2.5)
    assert Proof(Sense.MAXIMIZE, solution, 3.0 - 1e-12).is_closed
    assert not Proof(Sense.MAXIMIZE, solution, 3.1).is_closed

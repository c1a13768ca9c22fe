"""Guesses are tried first, and used only as far as one round of pricing proves them."""

import dataclasses
import math
import time

import numpy as np
import pytest

from colgen import (
    Column,
    InfeasibleAnswerError,
    InputError,
    Method,
    NoStabilization,
    Pricing,
    PricingResult,
    Problem,
    Sense,
    Solution,
    Termination,
    TimeLimit,
    WarmStart,
    solve,
)
from colgen.bounding.protocol import Bounded, Bounding, Outcome
from colgen.core.duals import Duals, RowNames
from colgen.core.errors import OracleBeatenError
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.master.statement import restricted_master
from colgen.tree import node_bounds
from tests.amounts import BUSY
from tests.toys import CuttingStock, cutting_column

OPTIMUM = solve(CuttingStock())


class Guessed(CuttingStock):
    """Cutting stock with a given warm start."""

    def __init__(self, warm, **options):
        super().__init__(**options)
        self.warm = warm

    def warm_start(self, budget):
        return self.warm


def duals_of():
    relaxed = solve(CuttingStock(), relaxation=True)
    found = {}
    for (block, index), value in relaxed.certificate.duals.items():
        found.setdefault(block, {})[index] = value
    return {block: [values[k] for k in sorted(values)] for block, values in found.items()}


def test_duals_and_an_answer_are_proved_in_one_round_without_a_linear_program(monkeypatch):
    problem = Guessed(WarmStart(duals_of(), (OPTIMUM.solution,)))
    master = restricted_master(problem.master())
    monkeypatch.setattr(problem, "master", lambda: master)
    monkeypatch.setattr(master, "solve", lambda budget: pytest.fail("a linear program was solved"))
    result = solve(problem)
    assert result.termination is Termination.OPTIMAL
    assert result.objective == OPTIMUM.objective == result.dual_bound
    assert len(result.iterations) == 1
    assert not result.nodes
    assert result.iterations[0].dual_bound == pytest.approx(solve(CuttingStock(), relaxation=True).objective)
    assert result.certificate.bound <= result.objective


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.9, 1.1, 3.0, -1.0, 1e9])
def test_wrong_duals_prove_a_valid_bound(factor):
    wrong = {block: [factor * value for value in values] for block, values in duals_of().items()}
    result = solve(Guessed(WarmStart(wrong, (OPTIMUM.solution,))))
    assert result.termination is Termination.OPTIMAL
    assert result.objective == OPTIMUM.objective
    assert result.iterations[0].dual_bound <= OPTIMUM.objective * (1 + 1e-9)
    relaxed = solve(Guessed(WarmStart(wrong)), relaxation=True)
    assert relaxed.objective == pytest.approx(solve(CuttingStock(), relaxation=True).objective)


def test_an_infeasible_warm_start_raises_an_error():
    short = Solution(1.0, ((cutting_column((1, 0, 0, 0)), 1.0),))
    with pytest.raises(InfeasibleAnswerError, match="warm_start"):
        solve(Guessed(WarmStart(duals_of(), (short,))))


def test_duals_alone_do_not_end_a_run():
    result = solve(Guessed(WarmStart(duals_of())))
    assert result.termination is Termination.OPTIMAL
    assert result.objective == OPTIMUM.objective
    assert len(result.iterations) > 1


def test_a_limit_during_the_warm_start_ends_the_run_with_its_answer():
    class Slow(Guessed):
        def warm_start(self, budget):
            while not budget.expired:
                pass
            time.sleep(0.05)  # beyond its share, which leaves time enough to solve a problem so small
            return self.warm

    result = solve(Slow(WarmStart(answers=(OPTIMUM.solution,))), stop=TimeLimit(0.05))
    assert result.termination is Termination.TIME_LIMIT
    assert result.objective == OPTIMUM.objective
    assert result.seconds["total"] < BUSY


def test_dual_values_of_a_warm_start_that_has_spent_the_whole_limit_are_priced_in_its_grace(monkeypatch):
    class Slow(Guessed):
        def warm_start(self, budget):
            time.sleep(0.06)
            return self.warm

    monkeypatch.setattr(node_bounds, "GRACE", 1000.0)  # of a limit so short, as much as no machine needs
    result = solve(Slow(WarmStart(duals_of())), stop=TimeLimit(0.05))
    assert result.termination is Termination.TIME_LIMIT
    assert math.isfinite(result.dual_bound)
    monkeypatch.setattr(node_bounds, "GRACE", 0.0)
    assert solve(Slow(WarmStart(duals_of())), stop=TimeLimit(0.05)).dual_bound == -math.inf


def test_columns_of_solutions_found_by_oracles_are_added_at_every_node():
    """In the first round at guessed dual values and wherever a bounding's last ones are priced alike."""

    class Meeting(CuttingStock):
        def pricing(self):
            oracle = super().pricing()
            price = oracle.price
            answers = (OPTIMUM.solution,)
            oracle.price = lambda duals, context: dataclasses.replace(price(duals, context), answers=answers)
            return oracle

        def master(self):
            self.kept = restricted_master(super().master())
            return self.kept

    class Ends(Bounding):
        def bound(self, node, parts):
            return Bounded(Outcome.UNPROVED, 0.0, duals=duals_of())

    problem = Meeting()
    solve(problem, method=Method(bounding=Ends(), stabilization=NoStabilization()))
    assert (problem.kept.find([column for column, _ in OPTIMUM.solution.columns]) >= 0).all()


# --- no linear program -----------------------------------------------------------------------------------------------


class Largest(Pricing):
    """The largest of some numbers, found in one pass."""

    def __init__(self, numbers, claimed=None, found=None):
        self.numbers, self.claimed, self.found = numbers, claimed, found

    multiplicity = 1.0

    def price(self, duals, context):
        best = max(self.numbers) if self.found is None else self.found
        answer = Solution(best, ((Column(best, {}, structure=best), 1.0),))
        return PricingResult(bound=best if self.claimed is None else self.claimed, answers=(answer,))


class LargestNumber(Problem):
    def __init__(self, numbers, **claims):
        self.numbers, self.claims = numbers, claims

    def master(self):
        return LagrangianMaster(Sense.MAXIMIZE)

    def pricing(self):
        return Largest(self.numbers, **self.claims)

    def method(self):
        return Method(bounding=Nothing())

    def answer(self, solution):
        return solution.columns[0][0].structure

    def check(self, answer):
        if answer not in self.numbers:
            raise InputError(f"{answer} is none of the numbers")
        return float(answer)


class Nothing(Bounding):
    def bound(self, node, parts):
        return Bounded(Outcome.UNPROVED, parts.master.sense.hopeless, solution=Solution(0.0))


def test_a_pass_that_finds_and_proves_is_the_oracle():
    result = solve(LargestNumber([3, 9, 4]))
    assert result.termination is Termination.OPTIMAL
    assert (result.answer, result.objective, result.dual_bound, len(result.iterations)) == (9, 9.0, 9.0, 1)


def test_its_relaxation_is_solved_by_the_answer():
    result = solve(LargestNumber([3, 9, 4]), relaxation=True)
    assert result.termination is Termination.OPTIMAL
    assert (result.objective, result.dual_bound, result.root_bound) == (9.0, 9.0, 9.0)
    assert result.solution.columns[0][0].structure == 9


def test_a_bounding_that_prunes_the_root_has_solved_the_relaxation():
    class Later(Bounding):
        def bound(self, node, parts):
            (oracle,) = parts.oracles
            oracle.claimed = None
            bound = oracle.price(None, parts.context(node)).bound
            return Bounded(Outcome.PRUNED, bound, proved=True)

    problem = LargestNumber([3, 9, 4], claimed=10.0)
    result = solve(problem, relaxation=True, method=Method(bounding=Later()))
    assert result.termination is Termination.OPTIMAL
    assert (len(result.nodes), result.objective, result.dual_bound) == (1, 9.0, 9.0)


@pytest.mark.parametrize("relaxation", [False, True])
def test_an_unverified_solution_is_not_called_optimal(relaxation):
    problem = LargestNumber([3, 9, 4])
    problem.check = lambda answer: None
    result = solve(problem, relaxation=relaxation)
    assert result.termination is Termination.UNCHECKED
    assert result.dual_bound == 9.0


def test_a_relaxation_is_checked_as_well():
    with pytest.raises(InfeasibleAnswerError, match="10 is none of the numbers"):
        solve(LargestNumber([3, 9, 4], found=10), relaxation=True)


def test_multiplicities_do_not_prove_a_relaxation():
    """They bound answers; a linear program makes more of fractions."""

    class Ends(Bounding):
        def bound(self, node, parts):
            (oracle,) = parts.oracles
            assert oracle.multiplicity == 1.0
            return Bounded(Outcome.PRUNED, 9.0, duals=Duals(np.zeros(0), RowNames()), proved=True)

    result = solve(LargestNumber([3, 9, 4], claimed=10.0), relaxation=True, method=Method(bounding=Ends()))
    assert result.termination is Termination.NO_BOUND
    assert result.solution is None


def test_solutions_of_oracles_are_verified():
    with pytest.raises(InfeasibleAnswerError, match="10 is none of the numbers"):
        solve(LargestNumber([3, 9, 4], found=10))


def test_an_answer_short_of_the_bound_is_not_proved():
    result = solve(LargestNumber([3, 9, 4], found=4, claimed=9.0))
    assert result.termination is Termination.NO_BRANCHING
    assert (result.objective, result.dual_bound) == (4.0, 9.0)


def test_a_bounding_is_not_believed():
    class Boasting(Bounding):
        def bound(self, node, parts):
            return Bounded(Outcome.PRUNED, OPTIMUM.objective, duals={"demand": [0.0] * 4})

    problem = Guessed(WarmStart(answers=(OPTIMUM.solution,)))
    result = solve(problem, method=Method(bounding=Boasting(), stabilization=NoStabilization()))
    assert result.termination is not Termination.OPTIMAL
    assert result.dual_bound < OPTIMUM.objective


def test_a_wrong_claim_at_guessed_duals_is_noticed():
    class Modest(CuttingStock):
        def warm_start(self, budget):
            return WarmStart({block: [3.0 * v for v in values] for block, values in duals_of().items()})

        def pricing(self):
            oracle = super().pricing()
            price = oracle.price
            oracle.price = lambda duals, context: PricingResult(price(duals, context).columns, 0.0)
            return oracle

    with pytest.raises(OracleBeatenError):
        solve(Modest())


def test_infinite_multiplicity_without_a_total_bounds_nothing():
    class Unlimited(Largest):
        multiplicity = math.inf

    problem = LargestNumber([3, 9, 4])
    problem.pricing = lambda: Unlimited([3, 9, 4])
    result = solve(problem)
    assert result.termination is not Termination.OPTIMAL
    assert result.dual_bound == math.inf


def test_a_relaxation_that_a_guess_proves_has_its_bound():
    class Halves(CuttingStock):
        objective_step = None

        def __init__(self):
            super().__init__(demands=(2, 1, 2, 7))  # whole at the optimum

        def warm_start(self, budget):
            relaxed = solve(CuttingStock((2, 1, 2, 7)), relaxation=True)
            duals = [relaxed.certificate.duals["demand", k] for k in range(4)]
            whole = all(value == round(value) for _, value in relaxed.solution.columns)
            assert whole
            return WarmStart({"demand": duals}, (relaxed.solution,))

    for relaxation in (False, True):
        result = solve(Halves(), relaxation=relaxation)
        assert result.termination is Termination.OPTIMAL
        assert len(result.iterations) == 1
        assert result.dual_bound == pytest.approx(result.objective)

"""Problems that bound their nodes themselves: branch and bound without a linear program, through the same `solve`."""

import pytest

from colgen import (
    BranchingRule,
    Column,
    ColumnGeneration,
    Decision,
    Method,
    NodeLimit,
    Pricing,
    PricingResult,
    Problem,
    Sense,
    Solution,
    Termination,
    WarmStart,
    solve,
)
from colgen.bounding.protocol import Bounded, Bounding, Outcome
from colgen.core.errors import FormulationError, InfeasibleAnswerError, InputError, InvalidBoundError
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.tree.queues import DepthFirst


def number(bits, exaggeration=0.0):
    worth = value_of(bits) + exaggeration
    return Solution(worth, ((Column(worth, {}, structure=tuple(bits)), 1.0),))


def value_of(bits):
    return float(sum(bit * 2**place for place, bit in enumerate(reversed(bits))))


class Digit(Decision):
    """The next bit of a number."""

    def __init__(self, place, bit):
        self.place, self.bit = place, bit

    def allows(self, column):
        return len(column.structure) > self.place and column.structure[self.place] == self.bit


class NextDigit(BranchingRule):
    def branch(self, solution):
        prefix = solution.columns[0][0].structure
        return [[Digit(len(prefix), 1)], [Digit(len(prefix), 0)]]


class Largest(Pricing):
    """The largest value of a number of so many bits: free bits are ones; a number without free bits is an answer."""

    multiplicity = 1.0

    def __init__(self, problem):
        self.problem = problem
        self.calls = 0

    def price(self, duals, context):
        self.calls += 1
        bits = [decision.bit for decision in context.decisions]
        free = self.problem.bits - len(bits)
        value = value_of(bits + [1] * free)
        if free:
            return PricingResult(bound=value + self.problem.optimism)
        if value % self.problem.divisor:
            return PricingResult(bound=context.sense.hopeless)
        return PricingResult(bound=value, answers=[number(bits, self.problem.exaggeration)])


class Prefix(Bounding):
    """The bound is the oracle's; what is branched on is the bits decided so far."""

    def bound(self, node, parts):
        if parts.master.sense is not Sense.MAXIMIZE or node.depth != len(node.decisions):
            raise AssertionError("a node has a wrong bound")
        bits = tuple(decision.bit for decision in node.decisions)
        return Bounded(Outcome.SOLVED, 0.0, solution=Solution(0.0, ((Column(0.0, {}, structure=bits), 0.5),)))


class LargestMultiple(Problem):
    optimism = exaggeration = 0.0

    def __init__(self, bits, divisor, known=()):
        self.bits, self.divisor, self.known = bits, divisor, known

    def master(self):
        return LagrangianMaster(Sense.MAXIMIZE)

    def pricing(self):
        return Largest(self)

    def method(self):
        return Method(bounding=Prefix())

    def branching(self):
        return [NextDigit()]

    def warm_start(self, budget):
        return WarmStart(answers=[number([int(bit) for bit in f"{n:0{self.bits}b}"]) for n in self.known])

    def answer(self, solution):
        return int(value_of(solution.columns[0][0].structure))

    def check(self, answer):
        if answer % self.divisor or not 0 <= answer < 2**self.bits:
            raise InfeasibleAnswerError(f"{answer} is no multiple of {self.divisor} in {self.bits} bits")
        return float(answer)


@pytest.mark.parametrize(("bits", "divisor", "expected"), [(5, 7, 28), (4, 1, 15), (6, 13, 52), (3, 8, 0)])
def test_the_tree_is_driven_without_a_linear_program(bits, divisor, expected):
    result = solve(LargestMultiple(bits, divisor), method=Method(queue=DepthFirst))
    assert result.termination is Termination.OPTIMAL
    assert result.answer == expected
    assert result.dual_bound == expected
    assert result.root_bound == 2**bits - 1
    assert len(result.nodes) > bits
    assert bits < len(result.iterations) <= len(result.nodes) + 1  # the guess, and a round for each node evaluated


def test_limits_hold():
    result = solve(LargestMultiple(6, 13), stop=NodeLimit(2))
    assert result.termination is Termination.NODE_LIMIT
    assert result.dual_bound >= 52
    assert result.answer is None


def test_known_answers_become_the_incumbent():
    result = solve(LargestMultiple(6, 13, known=(26, 13)), stop=NodeLimit(1))
    assert result.answer == 26


def test_an_error_carries_the_result():
    class Failing(Prefix):
        def bound(self, node, parts):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        solve(LargestMultiple(4, 4, known=(8,)), method=Method(bounding=Failing()))
    assert caught.value.result.termination is Termination.FAULT
    assert caught.value.result.objective == 8.0


def test_a_relaxation_that_no_linear_program_solves_is_not_called_optimal():
    assert solve(LargestMultiple(4, 4), relaxation=True).termination is Termination.NO_BOUND


def test_column_generation_needs_a_linear_program():
    with pytest.raises(FormulationError, match=r"bounding\(\) that sets dual values"):
        solve(LargestMultiple(4, 4), method=Method(bounding=ColumnGeneration()))


@pytest.mark.parametrize("wrong", [Prefix, "Prefix", 3])
def test_an_invalid_bounding_raises_an_error(wrong):
    with pytest.raises(InputError, match="bounding: expected"):
        solve(LargestMultiple(4, 4), method=Method(bounding=wrong))


@pytest.mark.parametrize("outcome", [Outcome.INFEASIBLE, Outcome.PRUNED, Outcome.UNBOUNDED])
def test_results_of_a_bounding_are_verified(outcome):
    class Boasting(Bounding):
        def bound(self, node, parts):
            return Bounded(outcome, -1e9)

    result = solve(LargestMultiple(4, 4, known=(8,)), method=Method(bounding=Boasting()))
    assert not result.termination.is_proof
    assert (result.objective, result.dual_bound) == (8.0, 15.0)


def test_every_answer_is_checked():
    class Exaggerating(LargestMultiple):
        exaggeration = 1.0

    with pytest.raises(InfeasibleAnswerError, match=r"objective 13, but .* computes 12"):
        solve(Exaggerating(4, 4))
    with pytest.raises(InfeasibleAnswerError, match=r"warm_start .* 5 is no multiple"):
        solve(LargestMultiple(4, 3, known=(5,)))


def test_an_invalid_bound_is_noticed():
    class Gloomy(LargestMultiple):
        optimism = -6.0

    with pytest.raises(InvalidBoundError, match="incumbent of objective 12"):
        solve(Gloomy(4, 4, known=(12,)))
    with pytest.raises(InvalidBoundError, match="better than the proved bound"):
        solve(Gloomy(4, 4))


def test_optimality_needs_a_check():
    class Trusting(LargestMultiple):
        def check(self, answer):
            return None

    result = solve(Trusting(5, 7))
    assert result.termination is Termination.UNCHECKED
    assert result.objective == result.dual_bound == 28

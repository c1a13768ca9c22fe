"""Problems that bring their own relaxation: branch and bound without a master, through the same `solve`."""

import pytest

from colgen import Column, Decision, Iteration, Problem, Sense, Solution, Termination, solve
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.tree.search import DepthFirst, Evaluation, Relaxation


class Digit(Decision):
    """The next bit of a number."""

    def __init__(self, bit):
        self.bit = bit


class Bits(Relaxation):
    """The largest value of a number of so many bits that is allowed; a node's bound sets its free bits to one."""

    def __init__(self, run, problem):
        self.run, self.problem = run, problem

    def evaluate(self, node):
        if self.problem.fails:
            raise ZeroDivisionError
        bits = [decision.bit for decision in node.decisions]
        free = self.problem.bits - len(bits)
        bound = float(int("".join(map(str, bits + [1] * free)), 2))
        if node.number == 0:
            self.root_bound = bound
        if not free:
            if int(bound) % self.problem.divisor == 0:
                self.take(Solution(bound, ((Column(bound, {}, structure=int(bound)), 1.0),)), "a leaf")
            return Evaluation(bound if self.run.objective >= bound else self.run.sense.hopeless, "leaf")
        return Evaluation(bound, "branched", [[Digit(1)], [Digit(0)]])

    def take(self, solution, source):
        return self.run.offer(solution, None, source)


class LargestMultiple(Problem):
    sense = Sense.MAXIMIZE

    def __init__(self, bits, divisor, known=(), fails=False):
        self.bits, self.divisor, self.known, self.fails = bits, divisor, known, fails

    def relaxation(self, run):
        return Bits(run, self)

    def initial_answers(self):
        return [Solution(float(n), ((Column(float(n), {}, structure=n), 1.0),)) for n in self.known]

    def answer(self, solution):
        return solution.columns[0][0].structure

    def check(self, answer):
        if answer % self.divisor or not 0 <= answer < 2**self.bits:
            raise InfeasibleAnswerError(f"{answer} is no multiple of {self.divisor} in {self.bits} bits")
        return float(answer)


@pytest.mark.parametrize(("bits", "divisor", "expected"), [(5, 7, 28), (4, 1, 15), (6, 13, 52), (3, 8, 0)])
def test_the_tree_is_driven_without_a_master(bits, divisor, expected):
    result = solve(LargestMultiple(bits, divisor), queue=DepthFirst)
    assert result.termination is Termination.OPTIMAL
    assert result.answer == expected
    assert result.dual_bound == expected
    assert result.root_bound == 2**bits - 1
    assert result.relaxation is None
    assert len(result.nodes) > bits


def test_limits_hold():
    result = solve(LargestMultiple(6, 13), node_limit=2)
    assert result.termination is Termination.NODE_LIMIT
    assert result.dual_bound >= 52
    assert result.answer is None


def test_initial_answers_become_the_incumbent():
    result = solve(LargestMultiple(6, 13, known=(26, 13)), node_limit=1)
    assert result.answer == 26


def test_an_error_carries_the_result():
    with pytest.raises(ZeroDivisionError) as caught:
        solve(LargestMultiple(4, 3, known=(9,), fails=True))
    assert caught.value.result.termination is Termination.FAULT
    assert caught.value.result.objective == 9.0


def test_there_is_no_relaxation_to_be_solved_on_its_own():
    with pytest.raises(InputError, match="node_limit=1"):
        solve(LargestMultiple(4, 3), relaxation=True)


def test_what_is_missing_is_said():
    class Nothing(Problem):
        sense = Sense.MINIMIZE

    with pytest.raises(NotImplementedError, match="relaxation"):
        solve(Nothing())

    class NoTake(Bits):
        take = Relaxation.take

    class Knows(LargestMultiple):
        def relaxation(self, run):
            return NoTake(run, self)

    with pytest.raises(NotImplementedError, match="initial answers"):
        solve(Knows(3, 1, known=(1,)))


def test_rounds_can_be_recorded():
    class Records(Bits):
        def evaluate(self, node):
            evaluation = super().evaluate(node)
            numbers = (len(self.run.iterations), node.number, node.depth, 2)
            bounds = (self.run.objective, evaluation.bound, self.run.objective, self.run.global_bound)
            self.run.record(Iteration(*numbers, *bounds, 0, 0, 0, 0, 0, self.run.seconds, 0.0, 0.0, 0.0))
            return evaluation

    class Recording(LargestMultiple):
        def relaxation(self, run):
            return Records(run, self)

    seen = []
    result = solve(Recording(4, 5), progress=seen.append)
    assert len(result.iterations) == len(seen) > 0
    assert result.answer == 15


def test_every_answer_is_checked():
    class Claims(Bits):
        def evaluate(self, node):
            self.take(Solution(15.0, ((Column(15.0, {}, structure=14), 1.0),)), "a guess")

    class Claiming(LargestMultiple):
        def relaxation(self, run):
            return Claims(run, self)

    with pytest.raises(InfeasibleAnswerError, match=r"a guess .* 14 is no multiple of 3"):
        solve(Claiming(4, 3))
    with pytest.raises(InfeasibleAnswerError, match=r"objective 15, but .* computes 14"):
        solve(Claiming(4, 7))
    with pytest.raises(InfeasibleAnswerError, match=r"warm_start .* 5 is no multiple"):
        solve(LargestMultiple(4, 3, known=(5,)))


def test_nothing_is_called_optimal_without_a_check():
    class Trusting(LargestMultiple):
        def check(self, answer):
            return None

    result = solve(Trusting(5, 7))
    assert result.termination is Termination.UNCHECKED
    assert result.objective == result.dual_bound == 28
